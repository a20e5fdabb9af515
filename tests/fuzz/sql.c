/* The SQL parser over any bytes: statements, expressions, types and the script splitter must end in a tree or an error. */
#include "sql/statement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    str text = {(const char *)data, size};
    silt_error err;
    statement st;
    expr *e;
    query *q;
    const data_type *type;
    size_t end;
    bool blank, whole;
    if (!a) return 0;
    (void)!statement_parse(text, a, &st, &err);
    (void)!expr_parse(text, a, &e, &err);
    (void)!query_parse(text, a, &q, &err);
    (void)!type_parse(text, a, &type, &err);
    (void)!schema_parse_ddl(text, a, &type, &err);
    (void)!lexer_first_statement(text, a, &end, &blank, &whole, &err);
    arena_free(a);
    return 0;
}
