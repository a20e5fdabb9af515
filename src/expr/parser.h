/** The recursive-descent parser over tokens: shared by expressions, queries and the statements of sql/. */
#ifndef EXPR_PARSER_H
#define EXPR_PARSER_H

#include "expr/expr.h"
#include "expr/lexer.h"

typedef struct parser {
    str text;
    const token *tokens;
    size_t at;
    int depth;         /**< nesting, bounded (PARSER_MAX_DEPTH) */
    arena *a;
    silt_error *err;
} parser;

#define PARSER_MAX_DEPTH 1000

silt_status parser_init(parser *p, str text, arena *a, silt_error *err) MUST_CHECK;
const token *parser_peek(const parser *p, size_t ahead);
bool parser_at_keyword(const parser *p, const char *keyword);       /**< unquoted name equal without case */
bool parser_at_keywords(const parser *p, const char *first, const char *second);
bool parser_accept_keyword(parser *p, const char *keyword);
bool parser_accept_keywords(parser *p, const char *first, const char *second); /**< both or none */
bool parser_at_op(const parser *p, const char *op);
bool parser_accept_op(parser *p, const char *op);
silt_status parser_expect_keyword(parser *p, const char *keyword) MUST_CHECK;
silt_status parser_expect_op(parser *p, const char *op) MUST_CHECK;
silt_status parser_fail(parser *p, const char *expected) MUST_CHECK; /**< error at the current token */
silt_status parser_expect_end(parser *p) MUST_CHECK;                 /**< nothing but an optional ';' is left */

silt_status parser_identifier(parser *p, str *out) MUST_CHECK;       /**< a name, quoted or a non-reserved keyword */
silt_status parser_name(parser *p, name_parts *out) MUST_CHECK;      /**< dotted */
silt_status parser_string(parser *p, str *out) MUST_CHECK;           /**< adjacent literals joined */
silt_status parser_integer(parser *p, int64_t *out) MUST_CHECK;
silt_status parser_expr(parser *p, expr **out) MUST_CHECK;
silt_status parser_named_expr(parser *p, expr **out) MUST_CHECK;     /**< projection item with optional alias */
silt_status parser_query(parser *p, query **out) MUST_CHECK;         /**< [WITH …] select … */
silt_status parser_ctes(parser *p, cte_def **out, size_t *out_count, bool *out_recursive) MUST_CHECK; /**< what follows WITH, up to the statement */
silt_status parser_relation(parser *p, relation **out) MUST_CHECK;   /**< one FROM item with joins */
silt_status parser_table_ref(parser *p, relation **out) MUST_CHECK;  /**< name [time travel] [alias] only */
silt_status parser_travel(parser *p, travel_spec *out) MUST_CHECK;    /**< [FOR] VERSION | TIMESTAMP AS OF x; nothing is taken where none follows */
silt_status parser_type(parser *p, const data_type **out) MUST_CHECK;
silt_status parser_column_def(parser *p, field *out) MUST_CHECK;     /**< name type [NOT NULL] [DEFAULT e] [COMMENT s] [GENERATED …] in field metadata */
silt_status parser_sort_keys(parser *p, sort_key **out, size_t *out_count) MUST_CHECK;
silt_status parser_properties(parser *p, const str **keys, const str **values, size_t *count) MUST_CHECK; /**< (k = v, …), keys dotted or strings */
bool parser_at_query(const parser *p);                               /**< SELECT, WITH, VALUES, FROM, TABLE, MAP?, '(' that opens a query */

#endif
