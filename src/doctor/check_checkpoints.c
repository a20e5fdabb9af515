/* Checkpoints: whether the newest one can be read, the hint to it, and how far the log has gone on since. */
#include "base/json.h"
#include "base/uri.h"
#include "delta/checkpoint_read.h"
#include "delta/properties.h"
#include "delta/transaction.h"
#include "doctor/check.h"

#define STALE_COMMITS ((int64_t)100)       /* commits that are replayed without trouble, whatever the interval */
#define STALE_BYTES   ((int64_t)256 << 20) /* and bytes of them */
#define HINT_MAX      ((int64_t)64 << 20)

/* ---- corrupt ---- */

static str name_of(str path) { return path_name(path); }

static silt_status report_damage(doctor *d, str path, const char *what, silt_error *err) {
    bool blocks = !d->snapshot;
    doctor_finding *f = doctor_report(d, DOCTOR_DANGER, 1, "the checkpoint %.*s %s", STR_ARG(name_of(path)), what);
    if (!f) return error_no_memory(err);
    if (!blocks)
        f->danger = STR("Engines that trust the checkpoint fail to open the table; Silt reads round it and replays the commits.");
    d->explained |= blocks;
    return SILT_OK;
}

/* A sidecar that a checkpoint in JSON names must be there. */
static silt_status check_sidecar(doctor *d, const log_file *checkpoint, const json_node *sidecar, silt_error *err) {
    store_entry e;
    str path = json_get_str(sidecar, "path", STR_NULL), dir = log_path_sidecars(d->subject->root, d->a);
    if (!path.ptr) return SILT_OK;
    str decoded = uri_decode(path, d->a), whole = decoded.ptr && dir.ptr ? path_join(d->a, dir, decoded) : STR_NULL;
    if (!whole.ptr) return error_no_memory(err);
    if (str_find_char(path, '/') != SIZE_MAX) return SILT_OK; /* an absolute URI: the load tells */
    if (store_stat(d->subject->env->store, whole, d->a, &e, NULL) != SILT_NOT_FOUND) return SILT_OK;
    return report_damage(d, checkpoint->path, arena_cstr(d->a, arena_printf(d->a, "lacks its sidecar %.*s", STR_ARG(path))), err);
}

static silt_status check_json(doctor *d, const log_file *f, silt_error *err) {
    buf text;
    const json_node *node;
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = store_read(d->subject->env->store, f->path, 0, -1, &text, err);
    str rest = buf_str(&text), line;
    while (status == SILT_OK && str_next(&rest, '\n', &line)) {
        if (str_find(line, STR("\"sidecar\"")) == SIZE_MAX) continue;
        if (json_parse(line, d->a, &node, NULL) != SILT_OK)
            status = report_damage(d, f->path, "has a line that is no JSON", err);
        else if (json_get(node, "sidecar"))
            status = check_sidecar(d, f, json_get(node, "sidecar"), err);
    }
    buf_dispose(&text);
    return status;
}

static silt_status check_file(doctor *d, const log_file *f, silt_error *err) {
    const data_type *schema;
    silt_error why = {0};
    if (f->size_bytes == 0) return report_damage(d, f->path, "is empty", err);
    if (f->name.kind == LOG_CHECKPOINT_V2_JSON) return check_json(d, f, err);
    if (!d->subject->env->parquet) return SILT_OK;
    silt_status status = checkpoint_schema(d->subject->env, f->path, d->a, &schema, &why);
    if (status == SILT_OK) return SILT_OK;
    if (status == SILT_NO_MEMORY || status == SILT_CANCELLED) return status;
    return report_damage(d, f->path, "is no readable Parquet file", err);
}

/* Parts of a checkpoint that never became whole: a writer died in between. */
static silt_status check_parts(doctor *d, int64_t newest, silt_error *err) {
    for (size_t i = 0; i < d->log.count; i++) {
        const log_file_name *n = &d->log.files[i].name;
        int64_t there = 0;
        if (n->kind != LOG_CHECKPOINT_PART || n->version <= newest) continue;
        for (size_t k = 0; k < d->log.count; k++) {
            const log_file_name *o = &d->log.files[k].name;
            there += o->kind == LOG_CHECKPOINT_PART && o->version == n->version && o->parts == n->parts;
        }
        doctor_finding *f =
            doctor_report(d, DOCTOR_WARNING, n->parts - there, "the checkpoint of version %lld has only %lld of its %d parts",
                          (long long)n->version, (long long)there, (int)n->parts);
        if (!f) return error_no_memory(err);
        f->danger = STR("Readers pass it over and replay the commits from an older one.");
        f->remedy = STR("Write a checkpoint again.");
        TRY(doctor_command(d, f, err, "silt checkpoint %.*s", STR_ARG(doctor_shell_name(d))));
        if (d->open_error.status == SILT_CORRUPT) d->explained = !d->snapshot;
        return SILT_OK;
    }
    return SILT_OK;
}

static silt_status report_hint(doctor *d, const char *what, silt_error *err) {
    doctor_finding *f = doctor_report(d, DOCTOR_WARNING, 1, "_last_checkpoint %s", what);
    if (!f) return error_no_memory(err);
    f->danger = STR("Engines list the whole log to find the newest checkpoint, and some refuse the table.");
    f->remedy = STR("Write a checkpoint, which writes the hint anew.");
    return doctor_command(d, f, err, "silt checkpoint %.*s", STR_ARG(doctor_shell_name(d)));
}

static silt_status check_hint(doctor *d, int64_t newest, silt_error *err) {
    buf text;
    const json_node *hint = NULL;
    const log_file *parts;
    size_t n;
    str path = log_path_last_checkpoint(d->subject->root, d->a);
    if (!path.ptr) return error_no_memory(err);
    buf_init(&text, (size_t)HINT_MAX);
    silt_status status = store_read(d->subject->env->store, path, 0, HINT_MAX - 1, &text, NULL);
    bool readable = status == SILT_OK && json_parse(buf_str(&text), d->a, &hint, NULL) == SILT_OK;
    buf_dispose(&text);
    if (status == SILT_NOT_FOUND) return SILT_OK; /* it is only a hint */
    int64_t version = readable ? json_get_i64(hint, "version", -1) : -1;
    if (version < 0) return report_hint(d, "is not what it should be: a JSON object with a version", err);
    bool there = segment_checkpoint(&d->log, version, d->a, &parts, &n) && parts[0].name.version == version;
    if (there || version < newest) return SILT_OK; /* an older one costs little */
    return report_hint(
        d,
        arena_cstr(d->a, arena_printf(d->a, "points to version %lld, of which there is no whole checkpoint", (long long)version)),
        err);
}

silt_status check_checkpoint_corrupt(doctor *d, silt_error *err) {
    const log_file *parts;
    size_t n = 0;
    bool any = segment_checkpoint(&d->log, INT64_MAX, d->a, &parts, &n);
    size_t before = d->n_findings;
    for (size_t i = 0; any && i < n; i++) TRY(check_file(d, &parts[i], err));
    if (any && d->n_findings == before && !d->snapshot && strstr(d->open_error.condition, "CHECKPOINT"))
        TRY(report_damage(d, parts[0].path, d->open_error.detail[0] ? d->open_error.detail : "cannot be read", err));
    TRY(check_parts(d, any ? parts[0].name.version : -1, err));
    return check_hint(d, any ? parts[0].name.version : -1, err);
}

/* ---- stale ---- */

silt_status check_checkpoint_stale(doctor *d, silt_error *err) {
    const log_file *parts;
    size_t n;
    int64_t version = delta_snapshot_version(d->snapshot), behind = 0, bytes = 0;
    int64_t checkpoint = segment_checkpoint(&d->log, version, d->a, &parts, &n) ? parts[0].name.version : -1;
    int64_t interval = delta_config_i64(doctor_configuration(d), "delta.checkpointInterval");
    int64_t limit = interval > 0 && interval < INT64_MAX / 3 && interval * 3 > STALE_COMMITS ? interval * 3 : STALE_COMMITS;
    for (size_t i = 0; i < d->log.count; i++) {
        const log_file *f = &d->log.files[i];
        if (f->name.kind == LOG_COMMIT && f->name.version > checkpoint && f->name.version <= version)
            behind++, bytes += f->size_bytes;
    }
    if (behind < limit && (bytes < STALE_BYTES || behind < 2)) return SILT_OK;
    str size = doctor_bytes(d, bytes);
    doctor_finding *f =
        checkpoint < 0
            ? doctor_report(d, DOCTOR_WARNING, behind, "there is no checkpoint, and %lld commits (%.*s) are replayed each time",
                            (long long)behind, STR_ARG(size))
            : doctor_report(d, DOCTOR_WARNING, behind,
                            "the newest checkpoint is of version %lld; %lld commits (%.*s) behind it are replayed each time",
                            (long long)checkpoint, (long long)behind, STR_ARG(size));
    return doctor_command(d, f, err, "silt checkpoint %.*s", STR_ARG(doctor_shell_name(d)));
}

silt_status fix_checkpoint(doctor *d, silt_error *err) { return delta_checkpoint_write(d->snapshot, err); }
