/** The groups of the registry, one file each (functions_<group>.c). */
#ifndef EXPR_FUNCTIONS_TABLES_H
#define EXPR_FUNCTIONS_TABLES_H

#include "expr/bind.h"
#include "expr/print.h"

extern const function_group functions_math, functions_string, functions_regex, functions_datetime, functions_conditional,
    functions_collection, functions_lambda, functions_json, functions_aggregate, functions_window, functions_generator,
    functions_misc;

/* Shapes of rows. */
#define SCALAR(name_, aliases_, signature_, sql_, doc_) \
    { .name = name_, .aliases = aliases_, .signature = signature_, .sql = sql_, .doc = doc_ }
#define SCALAR_F(name_, aliases_, signature_, flags_, sql_, doc_) \
    { .name = name_, .aliases = aliases_, .signature = signature_, .flags = flags_, .sql = sql_, .doc = doc_ }
#define CUSTOM(name_, aliases_, signature_, flags_, bind_, print_, doc_) \
    { .name = name_, .aliases = aliases_, .signature = signature_, .flags = flags_, .bind = bind_, .print = print_, .doc = doc_ }
#define MACRO(name_, aliases_, signature_, text_, doc_) \
    { .name = name_, .aliases = aliases_, .signature = signature_, .flags = FN_MACRO, .sql = text_, .doc = doc_ }
#define GROUP_OF(variable, title_, rows_) const function_group variable = {title_, rows_, ARRAY_LEN(rows_)}

#endif
