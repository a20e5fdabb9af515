/* commitInfo's operationParameters and operationMetrics, spelled as Spark 4.1 with Delta 4.3 spells them: tools read them by these names. */
#include "ops/internal.h"

void ops_json_object_begin(json_object *j) {
    buf_init(&j->text, BUF_MAX_DEFAULT);
    j->first = true;
    buf_append_char(&j->text, '{');
}

void ops_json_object_str(json_object *j, const char *key, str text) {
    json_write_key(&j->text, &j->first, key);
    if (str_is_null(text))
        buf_append_z(&j->text, "null");
    else
        json_write_str(&j->text, text);
}

void ops_json_object_true(json_object *j, const char *key) {
    json_write_key(&j->text, &j->first, key);
    buf_append_z(&j->text, "true");
}

void ops_json_object_bool(json_object *j, const char *key, bool v) {
    json_write_key(&j->text, &j->first, key);
    buf_append_z(&j->text, v ? "true" : "false");
}

void ops_json_object_number(json_object *j, const char *key, int64_t v) {
    json_write_key(&j->text, &j->first, key);
    json_write_i64(&j->text, v);
}

void ops_json_object_count(json_object *j, const char *key, int64_t v) {
    json_write_key(&j->text, &j->first, key);
    buf_printf(&j->text, "\"%lld\"", (long long)v);
}

void ops_json_object_names(json_object *j, const char *key, const str *names, size_t n) {
    buf list;
    buf_init(&list, BUF_MAX_DEFAULT);
    buf_append_char(&list, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(&list, ',');
        json_write_str(&list, names[i]);
    }
    buf_append_char(&list, ']');
    if (!buf_ok(&list)) j->text.failed = true;
    ops_json_object_str(j, key, buf_str(&list));
    buf_dispose(&list);
}

str ops_json_object_end(json_object *j, arena *a) {
    buf_append_char(&j->text, '}');
    return buf_take(&j->text, a);
}

str ops_write_parameters(const op *o, const write_words *w) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "mode", str_of(w->mode));
    ops_json_object_names(&j, "partitionBy", w->partition_by, w->n_partition_by);
    if (!str_is_null(w->predicate)) ops_json_object_str(&j, "predicate", w->predicate);
    if (!str_is_null(w->replace_on)) ops_json_object_str(&j, "replaceOnCond", w->replace_on);
    if (!str_is_null(w->replace_using)) ops_json_object_str(&j, "replaceUsingCols", w->replace_using);
    if (w->dynamic_overwrite) ops_json_object_true(&j, "isDynamicPartitionOverwrite");
    if (w->overwrite_schema) ops_json_object_true(&j, "canOverwriteSchema");
    if (w->merge_schema) ops_json_object_true(&j, "canMergeSchema");
    return ops_json_object_end(&j, o->a);
}

str ops_write_metrics(const op *o, const write_result *written, const removal *removed, bool by_predicate) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numFiles", (int64_t)written->n_files);
    if (removed) {
        ops_json_object_count(&j, "numRemovedFiles", removed->files);
        ops_json_object_count(&j, "numRemovedBytes", removed->bytes);
    }
    if (by_predicate) {
        ops_json_object_count(&j, "numCopiedRows", 0);
        ops_json_object_count(&j, "numAddedChangeFiles", 0);
        if (removed && removed->rows_known) ops_json_object_count(&j, "numDeletedRows", removed->rows);
    }
    ops_json_object_count(&j, "numOutputRows", written->rows);
    ops_json_object_count(&j, "numOutputBytes", written->bytes);
    return ops_json_object_end(&j, o->a);
}
