/* The files of a table as OPTIMIZE looks at them: small records, and the partitions that they are in. Values are compared as values: other writers spell the same timestamp otherwise. */
#include "ops/maintain/optimize_run.h"
#include "table/stats.h"

/* Partitions by key: open addressing over numbers, doubled at 2/3 full. */
typedef struct partition_index {
    optimize_partition *items;
    size_t count, item_capacity;
    uint32_t *slots; /* number + 1; 0: empty */
    size_t n_slots;
} partition_index;

static uint64_t hash(str s) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < s.len; i++) h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    return h ^ h >> 32;
}

static void place(partition_index *p, uint32_t number) {
    size_t i = hash(p->items[number].key) & (p->n_slots - 1);
    while (p->slots[i]) i = (i + 1) & (p->n_slots - 1);
    p->slots[i] = number + 1;
}

static bool make_room(partition_index *p, arena *a) {
    if (p->n_slots && (p->count + 1) * 3 < p->n_slots * 2) return true;
    size_t n = p->n_slots ? p->n_slots * 2 : 64;
    uint32_t *slots = ARENA_ARRAY(a, n, uint32_t);
    if (!slots) return false;
    p->slots = slots;
    p->n_slots = n;
    for (size_t i = 0; i < p->count; i++) place(p, (uint32_t)i);
    return true;
}

static bool find(const partition_index *p, str key, uint32_t *out) {
    if (p->n_slots == 0) return false;
    for (size_t i = hash(key) & (p->n_slots - 1); p->slots[i]; i = (i + 1) & (p->n_slots - 1))
        if (str_eq(p->items[p->slots[i] - 1].key, key)) {
            *out = p->slots[i] - 1;
            return true;
        }
    return false;
}

static silt_status values_of(const op *o, const delta_snapshot *s, const delta_add *add, arena *scratch, value **out) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    value *values = ARENA_ARRAY(scratch, m->n_partition_columns + 1, value);
    if (!values) return error_no_memory(o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(o->err, m->partition_columns[i]);
        const field *f = &m->schema->fields[at];
        str text = STR_NULL;
        for (size_t k = 0; k < add->partition_values.count; k++)
            if (str_eq(add->partition_values.keys[k], f->physical_name)) text = add->partition_values.values[k];
        TRY(partition_value_parse(text, str_is_null(text), f->type, o->env->delta->zone_offset_seconds, scratch, &values[i], o->err));
        values[i].type = f->type;
    }
    *out = values;
    return SILT_OK;
}

/* Each value as it is written, its length in front. */
static silt_status write_key(const op *o, const value *values, size_t n, arena *scratch, str *out) {
    buf key, text;
    buf_init(&key, BUF_MAX_DEFAULT);
    buf_init(&text, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&text);
        if (!partition_value_write(&text, &values[i])) {
            buf_append_z(&key, "n:");
            continue;
        }
        buf_printf(&key, "%zu:", text.len);
        buf_append(&key, buf_str(&text));
    }
    *out = buf_ok(&key) && buf_ok(&text) ? arena_str(scratch, buf_str(&key)) : STR_NULL;
    buf_dispose(&text);
    buf_dispose(&key);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

silt_status optimize_partition_key(const op *o, const delta_snapshot *s, const delta_add *add, arena *a, str *out) {
    value *values;
    TRY(values_of(o, s, add, a, &values));
    return write_key(o, values, delta_snapshot_metadata(s)->n_partition_columns, a, out);
}

static bool keep_values(const value *values, size_t n, arena *a, const value **out) {
    value *copy = ARENA_ARRAY(a, n + 1, value);
    for (size_t i = 0; copy && i < n; i++) {
        bool is_text = values[i].type->id == TYPE_STRING || values[i].type->id == TYPE_BINARY;
        copy[i] = values[i];
        if (values[i].is_null || !is_text) continue;
        copy[i].as.bytes = arena_str(a, values[i].as.bytes);
        if (str_is_null(copy[i].as.bytes)) return false;
    }
    *out = copy;
    return copy != NULL;
}

typedef struct listing {
    optimize_run *run;
    partition_index partitions;
    arena *scratch; /* reset for each file */
} listing;

static silt_status add_partition(listing *l, str key, const value *values, uint32_t *out) {
    arena *a = l->run->o->a;
    partition_index *p = &l->partitions;
    size_t n = delta_snapshot_metadata(l->run->snapshot)->n_partition_columns;
    optimize_partition fresh = {.is_wanted = true};
    fresh.key = arena_str(a, key);
    bool ok = !str_is_null(fresh.key) && keep_values(values, n, a, &fresh.values) && make_room(p, a) &&
              ARENA_PUSH(a, p->items, p->count, p->item_capacity, fresh);
    if (!ok) return error_no_memory(l->run->o->err);
    *out = (uint32_t)(p->count - 1);
    place(p, *out);
    return SILT_OK;
}

static silt_status find_partition(listing *l, const delta_add *add, uint32_t *out) {
    const op *o = l->run->o;
    value *values;
    str key;
    TRY(values_of(o, l->run->snapshot, add, l->scratch, &values));
    TRY(write_key(o, values, delta_snapshot_metadata(l->run->snapshot)->n_partition_columns, l->scratch, &key));
    return find(&l->partitions, key, out) ? SILT_OK : add_partition(l, key, values, out);
}

static void look_at_dv(const listing *l, const delta_add *add, optimize_file *f) {
    file_stats stats;
    if (!add->dv.storage) return;
    file_stats_parse(add->stats, delta_snapshot_metadata(l->run->snapshot)->schema, l->scratch, &stats);
    f->hidden_share = stats.num_records > 0 ? (float)((double)add->dv.cardinality / (double)stats.num_records) : 2;
    f->is_hiding = stats.num_records < 0 || add->dv.cardinality > 0;
}

static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    listing *l = ctx;
    optimize_file *f = &l->run->files[l->run->n_files];
    (void)err; /* is the operation's own */
    arena_reset(l->scratch);
    *f = (optimize_file){.index = i, .bytes = add->size_bytes};
    TRY(find_partition(l, add, &f->partition));
    look_at_dv(l, add, f);
    l->run->n_files++;
    return SILT_OK;
}

silt_status optimize_list_files(optimize_run *r) {
    listing l = {.run = r, .scratch = arena_new()};
    bool with_stats = delta_protocol_has(delta_snapshot_protocol(r->snapshot), "deletionVectors");
    r->files = ARENA_ARRAY(r->o->a, delta_snapshot_n_files(r->snapshot) + 1, optimize_file);
    silt_status status = l.scratch && r->files ? delta_snapshot_each_file(r->snapshot, with_stats, take_file, &l, r->o->err) : error_no_memory(r->o->err);
    arena_free(l.scratch);
    r->partitions = l.partitions.items;
    r->n_partitions = l.partitions.count;
    return status;
}
