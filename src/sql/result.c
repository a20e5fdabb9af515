/* Results: a query's stream, or rows that a statement made itself. */
#include "sql/run.h"

const data_type *statement_result_type(const statement_result *r) { return r->type; }
str statement_result_message(const statement_result *r) { return r->message; }
const char *statement_result_note(const statement_result *r) { return r->note ? r->note : ""; }

silt_status statement_result_next(statement_result *r, struct ArrowArray *out, silt_error *err) {
    if (r->stream) return engine_result_next(r->stream, out, err);
    out->release = NULL;
    if (!r->rows || r->rows_done) return SILT_OK;
    r->rows_done = true;
    if (arrow_builder_rows(r->rows) == 0) return SILT_OK;
    return arrow_builder_finish(r->rows, out, err);
}

void statement_result_free(statement_result *r) {
    if (!r) return;
    engine_result_free(r->stream);
    arrow_builder_free(r->rows);
    arena_free(r->a); /* and with it `r` */
}

const scan_report *statement_result_scans(const statement_result *r, size_t *out_count) {
    *out_count = 0;
    return r->stream ? engine_result_scans(r->stream, out_count) : NULL;
}

double statement_result_progress(const statement_result *r) { return r->stream ? engine_result_progress(r->stream) : -1; }

silt_status rows_begin(run *r, const char *columns_ddl, silt_error *err) {
    TRY(schema_parse_ddl(str_of(columns_ddl), r->a, &r->result->type, err));
    arrow_builder_free(r->result->rows);
    r->result->rows = arrow_builder_new(r->result->type);
    return r->result->rows ? SILT_OK : error_no_memory(err);
}

arrow_builder *rows_column(run *r, size_t i) { return arrow_child(r->result->rows, i); }

silt_status rows_add(run *r, const str *values, size_t n, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        arrow_builder *column = rows_column(r, i);
        if (!(values[i].ptr ? arrow_append_str(column, values[i]) : arrow_append_null(column))) return error_no_memory(err);
    }
    return arrow_finish_row(r->result->rows) ? SILT_OK : error_no_memory(err);
}

void run_note(run *r, const char *text) {
    const char *before = r->result->note;
    str joined = before ? arena_printf(r->a, "%s; %s", before, text) : arena_printf(r->a, "%s", text);
    if (!str_is_null(joined)) r->result->note = joined.ptr;
}

silt_status run_add_note(run *r, const ops_result *done, silt_error *err) {
    const char *before = r->result->note;
    if (!done->note[0]) return SILT_OK;
    run_note(r, done->note);
    return r->result->note != before ? SILT_OK : error_no_memory(err);
}

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

static bool glob_matches(str pattern, str text) {
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.len && (pattern.ptr[p] == '.' || lower(pattern.ptr[p]) == lower(text.ptr[t]))) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') p++;
    return p == pattern.len;
}

/* Hive's patterns, as Spark's SHOW takes them: '*' any text, '|' alternatives; '%' of LIKE is not one of them. */
bool like_pattern_matches(str pattern, str text) {
    str rest = pattern, piece;
    while (str_next(&rest, '|', &piece))
        if (glob_matches(str_trim(piece), text)) return true;
    return false;
}
