/** The engine's own table sources: Arrow streams and files that only DuckDB reads. They are printed as they are; there is no log, so nothing to prune or to answer. */
#include "engine/sources.h"

silt_status own_source_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    (void)t;
    (void)where;
    (void)a;
    (void)out;
    return err_INTERNAL_ERROR(err, "a source without data files was scanned");
}

bool own_source_row_count(const table_source *t, int64_t *out) {
    (void)t;
    (void)out;
    return false;
}

bool own_source_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max) {
    (void)t;
    (void)column;
    (void)a;
    (void)out_min;
    (void)out_max;
    return false;
}

bool engine_source_is_own(const table_source *source) { return source->ops->scan == own_source_scan; }

silt_status engine_source_print(engine *e, const table_source *source, buf *out, silt_error *err) {
    (void)e;
    const own_source *s = (const own_source *)source;
    return s->print(s, out, err);
}

const silt_error *engine_source_failure(const table_source *source) {
    const own_source *s = (const own_source *)source;
    return engine_source_is_own(source) && s->failure ? s->failure(s) : NULL;
}
