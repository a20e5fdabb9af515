/*
 * delta.compatibility.symlinkFormatManifest.enabled: after a commit the manifests of the partitions that it touched are written anew. Two writers may be at this at once, and the
 * one that is late would leave the older list: so the newest version is what is written, and afterwards it is looked whether there is a newer one still.
 */
#include "base/uri.h"
#include "delta/commit_read.h"
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/maintain/manifest_write.h"

#define MAX_ROUNDS 10 /* of a table that changes all the time: the others' hooks go on from there */

typedef struct touched {
    path_set partitions;
    bool all; /* it cannot be told */
} touched;

static bool add_partition(const delta_metadata *m, const str_map *values, touched *out, arena *a) {
    bool added;
    str partition = manifest_partition(m, values, a);
    return !str_is_null(partition) && path_set_add(&out->partitions, partition, a, &added);
}

static silt_status note_commit(const op *o, const delta_snapshot *s, int64_t version, touched *out) {
    delta_commit c;
    const delta_metadata *m = delta_snapshot_metadata(s);
    bool ok = true;
    TRY(delta_commit_read(delta_snapshot_env(s), delta_snapshot_root(s), version, o->a, &c, o->err));
    out->all |= c.metadata != NULL;
    for (size_t i = 0; ok && !out->all && i < c.n_adds; i++) ok = add_partition(m, &c.adds[i].partition_values, out, o->a);
    for (size_t i = 0; ok && !out->all && i < c.n_removes; i++) {
        out->all |= !c.removes[i].extended_file_metadata;
        ok = add_partition(m, &c.removes[i].partition_values, out, o->a);
    }
    return ok ? SILT_OK : error_no_memory(o->err);
}

static bool has_manifests(const op *o, str root) {
    str folder;
    store_entry entry;
    return manifest_folder(o, root, &folder) == SILT_OK && store_stat(o->env->delta->store, folder, o->a, &entry, NULL) == SILT_OK;
}

/* The partitions that the commits from `first` on touched, in the newest version. */
static silt_status write_touched(const op *o, const delta_snapshot *s, int64_t first) {
    touched t = {.all = !has_manifests(o, delta_snapshot_root(s))};
    for (int64_t v = first; !t.all && v <= delta_snapshot_version(s); v++) TRY(note_commit(o, s, v, &t));
    return manifest_write(o, s, t.all ? NULL : &t.partitions);
}

static silt_status follow(const op *o, delta_snapshot **s, int64_t first) {
    for (int round = 0; round < MAX_ROUNDS; round++) {
        int64_t version = delta_snapshot_version(*s);
        delta_snapshot *newer;
        if (!delta_config_bool(&delta_snapshot_metadata(*s)->configuration, "delta.compatibility.symlinkFormatManifest.enabled")) return SILT_OK;
        TRY(manifest_check(o, *s));
        TRY(write_touched(o, *s, first));
        TRY(delta_snapshot_update(o->env->delta, *s, &newer, o->err));
        delta_snapshot_release(*s);
        *s = newer;
        if (delta_snapshot_version(newer) == version) return SILT_OK;
        first = version + 1;
    }
    return SILT_OK;
}

silt_status symlink_manifest_hook(const op *o, const committed *c) {
    delta_snapshot *s;
    const str_map *configuration = &c->target->metadata->configuration;
    if (!delta_config_bool(configuration, "delta.compatibility.symlinkFormatManifest.enabled")) return SILT_OK;
    TRY(delta_snapshot_load(o->env->delta, c->target->root, DELTA_LATEST, &s, o->err));
    silt_status status = follow(o, &s, c->version);
    delta_snapshot_release(s);
    return status;
}
