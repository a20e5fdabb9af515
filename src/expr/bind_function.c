/* Functions in FROM whose rows come from tables that the resolver makes (table_changes): the item becomes a subquery over them. */
#include "expr/bind.h"

/* SELECT * FROM source */
static silt_status select_all(binder *b, table_source *source, query **out) {
    relation *r;
    expr **items;
    BIND_NEW(*out, ARENA_NEW(b->a, query));
    BIND_NEW(r, ARENA_NEW(b->a, relation));
    BIND_NEW(items, ARENA_ARRAY(b->a, 1, expr *));
    BIND_NEW(items[0], expr_new(b->a, EXPR_STAR, (source_span){0, 0}));
    r->kind = REL_TABLE;
    r->source = source;
    r->sample_percent = -1;
    r->sample_rows = -1;
    (*out)->from = r;
    (*out)->projections = items;
    (*out)->n_projections = 1;
    return SILT_OK;
}

silt_status bind_resolver_function(binder *b, relation *r) {
    table_resolver *resolver = b->env->resolver;
    table_source *sources[2];
    size_t n = 0;
    str name = r->function_name.len ? r->function_name : r->name.count ? r->name.parts[r->name.count - 1] : STR("");
    if (!resolver || !resolver->resolve_function) return SILT_OK;
    TRY(resolver->resolve_function(resolver, name, r->args, r->n_args, b->a, sources, &n, b->err));
    if (n == 0) return SILT_OK;
    query *all, *right;
    TRY(select_all(b, sources[0], &all));
    if (n == 2) {
        query *left = all;
        TRY(select_all(b, sources[1], &right));
        BIND_NEW(all, ARENA_NEW(b->a, query));
        *all = (query){.set = SET_UNION, .set_all = true, .left = left, .right = right};
    }
    r->kind = REL_SUBQUERY; /* name and arguments stay, for those who print it */
    r->function_name = name;
    r->subquery = all;
    return SILT_OK;
}
