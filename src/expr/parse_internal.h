/** What the parser's files share among themselves. */
#ifndef EXPR_PARSE_INTERNAL_H
#define EXPR_PARSE_INTERNAL_H

#include "expr/parser.h"

/** A growing list of expressions in the parser's arena. */
typedef struct expr_list { expr **items; size_t count, capacity; } expr_list;

silt_status parse_list_add(parser *p, expr_list *list, expr *e) MUST_CHECK;
/** Comma-separated expressions, at least one. */
silt_status parse_expr_list(parser *p, expr_list *out) MUST_CHECK;
silt_status parse_primary(parser *p, expr **out) MUST_CHECK;       /* parse_primary.c */
silt_status parse_value_expr(parser *p, expr **out) MUST_CHECK;    /* valueExpression: everything below NOT, AND, OR and the predicates */
silt_status parse_call(parser *p, name_parts name, uint32_t from, expr **out) MUST_CHECK; /* at '(' */
silt_status parse_number(parser *p, bool negative, uint32_t from, expr **out) MUST_CHECK; /* parse_literal.c; at a number token */
silt_status parse_interval(parser *p, expr **out) MUST_CHECK;      /* behind INTERVAL */
/** DATE '…', TIMESTAMP '…', X'…' …: *out NULL when none stands here. */
silt_status parse_typed_literal(parser *p, expr **out) MUST_CHECK;
silt_status parse_subquery(parser *p, query **out) MUST_CHECK;     /* at '(': ( query ) */
silt_status parse_window_spec(parser *p, window_spec **out) MUST_CHECK;

/** Depth guard for recursive productions: silt_status fails with a clear error instead of overflowing the stack. */
silt_status parse_enter(parser *p) MUST_CHECK;
static inline void parse_leave(parser *p) { p->depth--; }

static inline source_span span_from(const parser *p, uint32_t from) { return (source_span){from, p->at > 0 ? p->tokens[p->at - 1].to : from}; }
/** Words that end a FROM item or projection and hence are no alias unless quoted or behind AS. */
bool parse_is_clause_word(str word);

/** Assign a fresh object or fail; `var` is evaluated twice. */
#define NEW_OR_FAIL(var, expression)                        \
    do {                                                    \
        (var) = (expression);                               \
        if (!(var)) return error_no_memory(p->err);         \
    } while (0)

#endif
