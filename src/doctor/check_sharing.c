/* Who else has this folder: tables of other formats, tables inside of one another, shallow clones. */
#include "base/uri.h"
#include "delta/commit_read.h"
#include "doctor/check.h"

#define CLONES_MAX 1000 /* other tables whose first commit is read */

/* ---- the catalog's other tables ---- */

typedef silt_status (*neighbour_fn)(doctor *d, const catalog_table *t, store *where, str root, void *ctx, silt_error *err);

static bool is_itself(const doctor *d, const catalog_table *t) {
    return d->subject->name.ptr && str_eq(t->database, d->subject->database) && str_eq(t->name, d->subject->name);
}

static silt_status each_of_database(doctor *d, str database, neighbour_fn fn, void *ctx, silt_error *err) {
    catalog_table *tables;
    size_t n;
    TRY(d->subject->catalog->ops->list_tables(d->subject->catalog, database, d->a, &tables, &n, err));
    for (size_t i = 0; i < n; i++) {
        store *where;
        str root;
        TRY(cancel_check(d->subject->env->cancel, err));
        if (tables[i].is_view || is_itself(d, &tables[i]) || tables[i].location.len == 0) continue;
        if (store_registry_find(d->subject->env->stores, tables[i].location, d->a, &where, &root, NULL) != SILT_OK)
            continue; /* in a store that this build does not know */
        while (root.len > 1 && root.ptr[root.len - 1] == '/') root.len--;
        TRY(fn(d, &tables[i], where, root, ctx, err));
    }
    return SILT_OK;
}

static silt_status each_neighbour(doctor *d, neighbour_fn fn, void *ctx, silt_error *err) {
    catalog_database *databases;
    size_t n;
    if (!d->subject->catalog || !d->subject->env->stores) return SILT_OK;
    TRY(d->subject->catalog->ops->list_databases(d->subject->catalog, d->a, &databases, &n, err));
    for (size_t i = 0; i < n; i++) TRY(each_of_database(d, databases[i].name, fn, ctx, err));
    return SILT_OK;
}

static bool is_inside(str path, str folder) {
    return path.len > folder.len + 1 && str_starts_with(path, folder) && path.ptr[folder.len] == '/';
}

static str table_name(doctor *d, const catalog_table *t) {
    return arena_printf(d->a, "%.*s.%.*s", STR_ARG(t->database), STR_ARG(t->name));
}

/* ---- other formats ---- */

static silt_status foreign_neighbour(doctor *d, const catalog_table *t, store *where, str root, void *ctx, silt_error *err) {
    (void)ctx;
    if (where != d->subject->env->store || str_eq_ascii_fold(t->provider, STR("delta"))) return SILT_OK;
    bool same = str_eq(root, d->subject->root), inside = is_inside(root, d->subject->root),
         around = is_inside(d->subject->root, root);
    if (!same && !inside && !around) return SILT_OK;
    str name = table_name(d, t);
    doctor_finding *f = doctor_report(d, DOCTOR_DANGER, 1, "the table %.*s reads %s as %.*s", STR_ARG(name),
                                      same     ? "this folder"
                                      : inside ? "a part of this folder"
                                               : "a folder around this one",
                                      STR_ARG(t->provider));
    return doctor_command(d, f, err, "DROP TABLE %.*s", STR_ARG(name));
}

/* Iceberg metadata that is not Delta's own (UniForm writes it on purpose). */
static silt_status check_iceberg(doctor *d, silt_error *err) {
    store_list_result found = {0};
    str dir = arena_printf(d->a, "%.*s/metadata", STR_ARG(d->subject->root)), example = STR_NULL;
    int64_t n = 0;
    if (!dir.ptr) return error_no_memory(err);
    str formats = d->snapshot ? delta_snapshot_property(d->snapshot, "delta.universalFormat.enabledFormats") : STR_NULL;
    if (str_find(formats.ptr ? formats : STR(""), STR("iceberg")) != SIZE_MAX) return SILT_OK;
    silt_status status = store_list(d->subject->env->store, dir, STR_NULL, false, d->a, &found, err);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    TRY(status);
    for (size_t i = 0; i < found.count; i++)
        if (str_ends_with(found.items[i].path, STR(".metadata.json"))) example = path_name(found.items[i].path), n++;
    if (n == 0) return SILT_OK;
    doctor_finding *f = doctor_report(d, DOCTOR_WARNING, n, "the folder holds an Iceberg table's metadata too (%lld version%s)",
                                      (long long)n, n == 1 ? "" : "s");
    if (!f) return error_no_memory(err);
    f->danger = STR("Iceberg's readers see the state of its metadata, not Delta's; its expiry deletes files that Delta needs, "
                    "and VACUUM files that Iceberg needs.");
    f->remedy = STR("Decide for one of the two: drop the Iceberg table from its catalog, or give it a folder of its own.");
    return doctor_example(d, f, example, err);
}

silt_status check_foreign_table(doctor *d, silt_error *err) {
    TRY(each_neighbour(d, foreign_neighbour, NULL, err));
    return check_iceberg(d, err);
}

/* ---- files that others use ---- */

typedef struct sharing {
    size_t clones_read;
} sharing;

static silt_status report_shared(doctor *d, const catalog_table *t, const char *how, bool deleted_by_drop, silt_error *err) {
    str name = table_name(d, t);
    doctor_finding *f =
        doctor_report(d, deleted_by_drop ? DOCTOR_DANGER : DOCTOR_WARNING, 1,
                      deleted_by_drop ? "the table %.*s %s, which DROP of this managed table deletes" : "the table %.*s %s",
                      STR_ARG(name), how);
    if (f && !deleted_by_drop)
        f->danger = STR("VACUUM of this table deletes what its own versions do not need, and with it files of the other one.");
    return f ? SILT_OK : error_no_memory(err);
}

/* Is it a shallow clone of this table? Its first commit tells from where. */
static silt_status is_clone_of(doctor *d, store *where, str root, bool *out, silt_error *err) {
    delta_env env = *d->subject->env;
    str info;
    const json_node *node = NULL;
    store *source_store;
    str source_root;
    *out = false;
    env.store = where;
    silt_status status = delta_commit_info_read(&env, root, 0, d->a, &info, NULL);
    if (status == SILT_NO_MEMORY) return error_no_memory(err);
    if (status != SILT_OK || !info.ptr || json_parse(info, d->a, &node, NULL) != SILT_OK ||
        !str_eqz(json_get_str(node, "operation", STR_NULL), "CLONE"))
        return SILT_OK;
    const json_node *metrics = json_get(node, "operationMetrics");
    str source = json_get_str(json_get(node, "operationParameters"), "source", STR_NULL);
    bool copied = !str_eqz(json_get_str(metrics, "numCopiedFiles", STR("0")), "0"),
         empty = str_eqz(json_get_str(metrics, "sourceNumOfFiles", STR_NULL), "0");
    if (copied || empty) return SILT_OK; /* a deep clone has files of its own */
    if (d->subject->name.ptr) {
        str name = arena_printf(d->a, "%.*s.%.*s", STR_ARG(d->subject->database), STR_ARG(d->subject->name));
        if (str_eq_fold(source, name) || str_ends_with(source, arena_printf(d->a, ".%.*s", STR_ARG(name)))) {
            *out = true;
            return SILT_OK;
        }
    }
    if (str_starts_with(source, STR("delta.`")) && source.len > 8) source = str_slice(source, 7, source.len - 1);
    if (store_registry_find(d->subject->env->stores, source, d->a, &source_store, &source_root, NULL) != SILT_OK) return SILT_OK;
    while (source_root.len > 1 && source_root.ptr[source_root.len - 1] == '/') source_root.len--;
    *out = source_store == d->subject->env->store && str_eq(source_root, d->subject->root);
    return SILT_OK;
}

static silt_status sharing_neighbour(doctor *d, const catalog_table *t, store *where, str root, void *ctx, silt_error *err) {
    sharing *s = ctx;
    bool clone = false, delta = str_eq_ascii_fold(t->provider, STR("delta"));
    if (where == d->subject->env->store && (str_eq(root, d->subject->root) || is_inside(root, d->subject->root))) {
        bool same = str_eq(root, d->subject->root);
        if (d->subject->is_managed)
            return report_shared(d, t, same ? "has the same folder" : "lies inside of this folder", true, err);
        if (same && t->is_managed && delta) {
            str name = table_name(d, t);
            doctor_finding *f =
                doctor_report(d, DOCTOR_DANGER, 1,
                              "the managed table %.*s has the same folder: its DROP deletes this table's files", STR_ARG(name));
            return f ? SILT_OK : error_no_memory(err);
        }
        return same || !delta ? SILT_OK : report_shared(d, t, "lies inside of this folder", false, err);
    }
    if (!delta || s->clones_read++ >= CLONES_MAX) return SILT_OK;
    TRY(is_clone_of(d, where, root, &clone, err));
    return clone ? report_shared(d, t, "is a shallow clone: it reads this table's files", d->subject->is_managed, err) : SILT_OK;
}

/* A table that was named by its path may be one of the catalog: then it is that one. */
static silt_status identify(doctor *d, const catalog_table *t, store *where, str root, void *ctx, silt_error *err) {
    doctor_subject *named = ctx;
    (void)err;
    if (named->name.ptr || where != d->subject->env->store || !str_eq(root, d->subject->root) ||
        !str_eq_ascii_fold(t->provider, STR("delta")))
        return SILT_OK;
    named->database = t->database;
    named->name = t->name;
    named->is_managed = t->is_managed;
    return SILT_OK;
}

silt_status check_shared_files(doctor *d, silt_error *err) {
    sharing s = {0};
    doctor_subject *named = ARENA_NEW(d->a, doctor_subject);
    if (!named) return error_no_memory(err);
    *named = *d->subject;
    if (!named->name.ptr) TRY(each_neighbour(d, identify, named, err));
    d->subject = named;
    return each_neighbour(d, sharing_neighbour, &s, err);
}

silt_status check_files_outside(doctor *d, silt_error *err) {
    const survey *s;
    TRY(doctor_survey(d, &s, err));
    if (s->files_outside == 0) return SILT_OK;
    doctor_finding *f =
        doctor_report(d, DOCTOR_INFO, s->files_outside, "%lld of %lld files lie in another folder: the table is a shallow clone",
                      (long long)s->files_outside, (long long)s->files);
    TRY(doctor_example(d, f, s->outside_example, err));
    return doctor_command(d, f, err, "CREATE TABLE new_table DEEP CLONE %.*s", STR_ARG(d->subject->sql_name));
}
