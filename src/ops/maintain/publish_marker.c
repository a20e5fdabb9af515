/* Markers: a small JSON file beside the files it names, so that it changes places with them. */
#include "base/uri.h"
#include "ops/maintain/publish_run.h"

static str marker_path(const publish_run *r, str folder) { return path_join(r->o->a, folder, STR(PUBLISH_MARKER)); }

static silt_status take_files(const op *o, const json_node *list, publish_marker *out) {
    size_t n = list && list->type == JSON_ARRAY ? list->count : 0;
    str *files = ARENA_ARRAY(o->a, n + 1, str);
    if (!files) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        str name = list->values[i].type == JSON_STRING ? list->values[i].text : STR("");
        bool is_name = name.len > 0 && str_find_char(name, '/') == SIZE_MAX && !str_eqz(name, "..") && !str_eqz(name, ".");
        if (is_name) files[out->n_files++] = name;
    }
    out->files = files;
    return SILT_OK;
}

silt_status publish_marker_read(const publish_run *r, str folder, publish_marker *out) {
    const op *o = r->o;
    const json_node *root;
    buf bytes;
    silt_error failure = {0};
    str path = marker_path(r, folder);
    *out = (publish_marker){.fingerprint = STR_NULL, .source = STR_NULL, .layout = STR_NULL};
    if (str_is_null(path)) return error_no_memory(o->err);
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = store_read(r->spec->store, path, 0, -1, &bytes, &failure);
    str text = status == SILT_OK && buf_ok(&bytes) ? arena_str(o->a, buf_str(&bytes)) : STR_NULL;
    buf_dispose(&bytes);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failure;
        return status;
    }
    if (str_is_null(text)) return error_no_memory(o->err);
    if (json_parse(text, o->a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return err_PUBLISH_FOLDER_NOT_OWN(o->err, store_path_named(r->spec->store, path, o->a), "its marker is damaged; remove the folder");
    out->exists = true;
    out->source = json_get_str(root, "source", STR(""));
    out->fingerprint = json_get_str(root, "fingerprint", STR_NULL);
    out->layout = json_get_str(root, "partitionColumns", STR(""));
    return take_files(o, json_get(root, "files"), out);
}

static str layout_text(const publish_run *r) {
    buf b;
    const delta_metadata *m = delta_snapshot_metadata(r->spec->snapshot);
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        if (i) buf_append_char(&b, '/');
        buf_append(&b, hive_escape(m->partition_columns[i], r->o->a));
    }
    return buf_take(&b, r->o->a);
}

static void write_marker(const publish_run *r, str fingerprint, const str *files, size_t n, str layout, buf *out) {
    bool first = true;
    buf_append_char(out, '{');
    json_write_key(out, &first, "source");
    json_write_str(out, delta_snapshot_root(r->spec->snapshot));
    json_write_key(out, &first, "version");
    json_write_i64(out, delta_snapshot_version(r->spec->snapshot));
    json_write_key(out, &first, "partitionColumns");
    json_write_str(out, layout);
    if (!str_is_null(fingerprint)) {
        json_write_key(out, &first, "fingerprint");
        json_write_str(out, fingerprint);
    }
    json_write_key(out, &first, "files");
    buf_append_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(out, ',');
        json_write_str(out, files[i]);
    }
    buf_append_z(out, "]}\n");
}

silt_status publish_marker_write(const publish_run *r, str folder, str fingerprint, const str *files, size_t n) {
    const op *o = r->o;
    buf bytes;
    str path = marker_path(r, folder), layout = layout_text(r);
    if (str_is_null(path) || str_is_null(layout)) return error_no_memory(o->err);
    buf_init(&bytes, BUF_MAX_DEFAULT);
    write_marker(r, fingerprint, files, n, layout, &bytes);
    silt_status status = buf_ok(&bytes) ? store_put(r->spec->store, path, buf_str(&bytes), STORE_PUT_REPLACE, o->err) : error_no_memory(o->err);
    buf_dispose(&bytes);
    return status;
}

static bool is_marked(const publish_marker *m, str name) {
    for (size_t i = 0; i < m->n_files; i++)
        if (str_eq(m->files[i], name)) return true;
    return str_eqz(name, PUBLISH_MARKER);
}

silt_status publish_check_foreign(const publish_run *r, str folder, const publish_marker *m) {
    const op *o = r->o;
    store_list_result list = {0};
    TRY(store_list(r->spec->store, folder, STR_NULL, false, o->a, &list, o->err));
    for (size_t i = 0; i < list.count; i++) {
        str name = path_name(list.items[i].path);
        if (is_marked(m, name)) continue;
        str why = arena_printf(o->a, "it holds %.*s, which PUBLISH did not write", STR_ARG(list.items[i].path));
        return str_is_null(why) ? error_no_memory(o->err) : err_PUBLISH_FOLDER_NOT_OWN(o->err, store_path_named(r->spec->store, r->spec->folder, o->a), why.ptr);
    }
    return SILT_OK;
}

static silt_status gone(const publish_run *r, silt_status status, const silt_error *failure) {
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (r->o->err) *r->o->err = *failure;
    return status;
}

silt_status publish_remove_file(const publish_run *r, str path) {
    silt_error failure = {0};
    return gone(r, str_is_null(path) ? error_no_memory(&failure) : store_remove(r->spec->store, path, &failure), &failure);
}

silt_status publish_remove_empty(const publish_run *r, str path) {
    silt_error failure = {0};
    return gone(r, str_is_null(path) ? error_no_memory(&failure) : store_remove_dir(r->spec->store, path, &failure), &failure);
}

silt_status publish_remove_folder(const publish_run *r, str folder) {
    const op *o = r->o;
    publish_marker m;
    TRY(publish_marker_read(r, folder, &m));
    for (size_t i = 0; i < m.n_files; i++) TRY(publish_remove_file(r, path_join(o->a, folder, m.files[i])));
    TRY(publish_remove_file(r, marker_path(r, folder)));
    return publish_remove_empty(r, folder);
}
