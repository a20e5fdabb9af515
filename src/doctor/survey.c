/*
 * The pass over the files. A partition is found by a hash of its values; a run of files of one partition (as writers leave them)
 * costs one comparison of pointers each.
 */
#include "doctor/survey.h"

#include "base/buf.h"
#include "delta/properties.h"
#include "table/type.h"

#define NO_PARTITION UINT32_MAX

typedef struct surveying {
    survey *s;
    const delta_metadata *metadata;
    arena *a;
    const str *last_values; /* of the file before: the log shares the maps of one partition */
    uint32_t last;
} surveying;

static uint64_t hash_values(const str_map *m) {
    uint64_t h = 14695981039346656037U;
    for (size_t i = 0; i < m->count; i++)
        h = (h ^ str_hash(m->keys[i]) ^ (m->values[i].ptr ? str_hash(m->values[i]) : 1)) * 1099511628211U;
    return h;
}

static bool same_values(const str_map *a, const str_map *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(a->keys[i], b->keys[i]) || !str_eq(a->values[i], b->values[i]) ||
            str_is_null(a->values[i]) != str_is_null(b->values[i]))
            return false;
    return true;
}

/* "day=2026-01-31/city=NULL" in the order of the table's partition columns, by their logical names. */
static str partition_key(const surveying *w, const str_map *values) {
    buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < w->metadata->n_partition_columns; i++) {
        int at = schema_find(w->metadata->schema, w->metadata->partition_columns[i]);
        str physical = at >= 0 ? w->metadata->schema->fields[at].physical_name : w->metadata->partition_columns[i];
        str v = str_map_get(values, physical);
        buf_printf(&b, "%s%.*s=%.*s", i ? "/" : "", STR_ARG(w->metadata->partition_columns[i]), STR_ARG(v.ptr ? v : STR("NULL")));
    }
    return buf_take(&b, w->a);
}

static bool grow_slots(surveying *w) {
    survey *s = w->s;
    size_t n = s->n_slots ? s->n_slots * 2 : 256;
    uint32_t *slots = arena_alloc(w->a, n * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xFF, n * sizeof *slots);
    for (uint32_t i = 0; i < s->n_partitions; i++) {
        size_t at = hash_values(&s->partitions[i].values) & (n - 1);
        while (slots[at] != NO_PARTITION) at = (at + 1) & (n - 1);
        slots[at] = i;
    }
    s->slots = slots;
    s->n_slots = n;
    return true;
}

static silt_status find_partition(surveying *w, const str_map *values, uint32_t *out, silt_error *err) {
    survey *s = w->s;
    if (s->n_partitions > 0 && values->values == w->last_values) {
        *out = w->last;
        return SILT_OK;
    }
    if ((s->n_partitions + 1) * 3 >= s->n_slots * 2 && !grow_slots(w)) return error_no_memory(err);
    size_t at = hash_values(values) & (s->n_slots - 1);
    while (s->slots[at] != NO_PARTITION && !same_values(&s->partitions[s->slots[at]].values, values))
        at = (at + 1) & (s->n_slots - 1);
    if (s->slots[at] == NO_PARTITION) {
        partition_survey p = {.key = partition_key(w, values), .values = *values};
        s->slots[at] = (uint32_t)s->n_partitions;
        if (!p.key.ptr || !ARENA_PUSH(w->a, s->partitions, s->n_partitions, s->capacity, p)) return error_no_memory(err);
    }
    w->last_values = values->values;
    *out = w->last = s->slots[at];
    return SILT_OK;
}

static bool is_elsewhere(str path) { return path.len > 0 && (path.ptr[0] == '/' || str_find(path, STR(":/")) != SIZE_MAX); }

static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    surveying *w = ctx;
    survey *s = w->s;
    uint32_t at;
    TRY(find_partition(w, &add->partition_values, &at, err));
    partition_survey *p = &s->partitions[at];
    int64_t size = add->size_bytes > 0 ? add->size_bytes : 0;
    p->files++;
    p->bytes += size;
    s->files++;
    s->bytes += size;
    if (size > p->largest_bytes) p->largest_bytes = size;
    if (size < s->small_below_bytes) p->small_files++, p->small_bytes += size;
    if (add->dv.storage) {
        s->dv_files++;
        s->dv_rows += add->dv.cardinality;
        if (s->n_dv_sample < SURVEY_SAMPLE) s->dv_sample[s->n_dv_sample++] = i;
    }
    if (!is_elsewhere(add->path)) return SILT_OK;
    if (s->files_outside++ == 0 && !(s->outside_example = arena_str(w->a, add->path)).ptr) return error_no_memory(err);
    return SILT_OK;
}

int64_t survey_saved_files(const survey *s, const partition_survey *p) {
    int64_t left = (p->small_bytes + s->target_bytes - 1) / s->target_bytes;
    return p->small_files > left ? p->small_files - (left > 0 ? left : 1) : 0;
}

silt_status survey_take(const delta_snapshot *snapshot, arena *a, survey **out, silt_error *err) {
    surveying w = {.s = ARENA_NEW(a, survey), .metadata = delta_snapshot_metadata(snapshot), .a = a};
    if (!w.s) return error_no_memory(err);
    int64_t target = delta_config_i64(&w.metadata->configuration, "delta.targetFileSize");
    w.s->target_bytes = target > 0 ? target : SURVEY_TARGET_BYTES;
    w.s->small_below_bytes = w.s->target_bytes / 8;
    TRY(delta_snapshot_each_file(snapshot, false, take_file, &w, err));
    *out = w.s;
    return SILT_OK;
}
