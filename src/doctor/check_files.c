/* Sizes: small files, skew, and partitions by the thousand. */
#include <stdlib.h>

#include "doctor/check.h"

#define SMALL_SAVED     ((int64_t)200) /* files that compaction would take away */
#define SKEW_PARTITIONS 4
#define SKEW_BYTES      ((int64_t)1 << 30)
#define SKEW_TIMES      10
#define MANY_PARTITIONS 1000
#define THIN_BYTES      ((int64_t)32 << 20) /* of a partition on average */

static const char *or_whole(str key) { return key.len ? key.ptr : "the whole table"; }

silt_status check_small_files(doctor *d, silt_error *err) {
    const survey *s;
    const partition_survey *worst[DOCTOR_EXAMPLES] = {0};
    int64_t saved = 0, small = 0, bytes = 0, partitions = 0;
    TRY(doctor_survey(d, &s, err));
    for (size_t i = 0; i < s->n_partitions; i++) {
        const partition_survey *p = &s->partitions[i];
        int64_t n = survey_saved_files(s, p);
        if (n <= 0) continue;
        saved += n;
        small += p->small_files;
        bytes += p->small_bytes;
        partitions++;
        for (size_t k = 0; k < DOCTOR_EXAMPLES; k++) { /* the worst few, in order */
            if (worst[k] && survey_saved_files(s, worst[k]) >= survey_saved_files(s, p)) continue;
            const partition_survey *moved = worst[k];
            worst[k] = p;
            p = moved;
            if (!p) break;
        }
    }
    if (saved < SMALL_SAVED) return SILT_OK;
    str below = doctor_bytes(d, s->small_below_bytes), size = doctor_bytes(d, small ? bytes / small : 0);
    doctor_finding *f = doctor_report(
        d, DOCTOR_WARNING, small, "%lld of %lld files are smaller than %.*s (%.*s on average); compacting them leaves %lld",
        (long long)small, (long long)s->files, STR_ARG(below), STR_ARG(size), (long long)(s->files - saved));
    TRY(doctor_command(d, f, err, "OPTIMIZE %.*s", STR_ARG(d->subject->sql_name)));
    for (size_t k = 0; k < DOCTOR_EXAMPLES && worst[k]; k++)
        TRY(doctor_example(
            d, f, arena_printf(d->a, "%s: %lld small files", or_whole(worst[k]->key), (long long)worst[k]->small_files), err));
    return SILT_OK;
}

static int by_bytes(const void *x, const void *y) {
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

silt_status check_partition_skew(doctor *d, silt_error *err) {
    const survey *s;
    TRY(doctor_survey(d, &s, err));
    if (s->n_partitions < SKEW_PARTITIONS) return SILT_OK;
    int64_t *bytes = ARENA_ARRAY(d->a, s->n_partitions, int64_t);
    if (!bytes) return error_no_memory(err);
    const partition_survey *largest = &s->partitions[0];
    for (size_t i = 0; i < s->n_partitions; i++) {
        bytes[i] = s->partitions[i].bytes;
        if (bytes[i] > largest->bytes) largest = &s->partitions[i];
    }
    qsort(bytes, s->n_partitions, sizeof *bytes, by_bytes);
    int64_t median = bytes[s->n_partitions / 2];
    if (largest->bytes < SKEW_BYTES || largest->bytes / SKEW_TIMES < median) return SILT_OK;
    str big = doctor_bytes(d, largest->bytes), usual = doctor_bytes(d, median);
    int share = (int)((double)largest->bytes * 100 / (double)(s->bytes ? s->bytes : 1));
    doctor_finding *f = doctor_report(
        d, DOCTOR_WARNING, 1, "the partition %s has %.*s, %d %% of the table; half of the %zu partitions have less than %.*s",
        or_whole(largest->key), STR_ARG(big), share, s->n_partitions, STR_ARG(usual));
    return f ? doctor_example(d, f, str_of(or_whole(largest->key)), err) : error_no_memory(err);
}

/* Distinct values of one partition column. */
static silt_status distinct_values(doctor *d, const survey *s, size_t column, size_t *out, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(d->snapshot);
    int at = schema_find(m->schema, m->partition_columns[column]);
    str physical = at >= 0 ? m->schema->fields[at].physical_name : m->partition_columns[column];
    size_t n_slots = 16;
    while (n_slots < s->n_partitions * 2) n_slots *= 2;
    uint64_t *slots = ARENA_ARRAY(d->a, n_slots, uint64_t);
    if (!slots) return error_no_memory(err);
    *out = 0;
    for (size_t i = 0; i < s->n_partitions; i++) {
        str v = str_map_get(&s->partitions[i].values, physical);
        uint64_t h = v.ptr ? str_hash(v) | 1 : 2;
        size_t k = h & (n_slots - 1);
        while (slots[k] && slots[k] != h) k = (k + 1) & (n_slots - 1);
        if (!slots[k]) slots[k] = h, (*out)++;
    }
    return SILT_OK;
}

silt_status check_partition_explosion(doctor *d, silt_error *err) {
    const survey *s;
    const delta_metadata *m = delta_snapshot_metadata(d->snapshot);
    TRY(doctor_survey(d, &s, err));
    if (s->n_partitions < MANY_PARTITIONS || s->bytes / (int64_t)s->n_partitions >= THIN_BYTES) return SILT_OK;
    str each = doctor_bytes(d, s->bytes / (int64_t)s->n_partitions);
    doctor_finding *f =
        doctor_report(d, DOCTOR_WARNING, (int64_t)s->n_partitions, "%zu partitions of %.*s and %.1f files on average",
                      s->n_partitions, STR_ARG(each), (double)s->files / (double)s->n_partitions);
    if (!f) return error_no_memory(err);
    buf columns;
    buf_init(&columns, 1 << 16);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        size_t n;
        silt_status status = distinct_values(d, s, i, &n, err);
        if (status == SILT_OK)
            status = doctor_example(d, f, arena_printf(d->a, "%.*s: %zu values", STR_ARG(m->partition_columns[i]), n), err);
        if (status != SILT_OK) {
            buf_dispose(&columns);
            return status;
        }
        if (i >= 4) continue; /* clustering takes up to four */
        if (i) buf_append_z(&columns, ", ");
        identifier_write(&columns, m->partition_columns[i]);
    }
    silt_status status = doctor_command(d, f, err, "CREATE TABLE new_table CLUSTER BY (%.*s) AS SELECT * FROM %.*s",
                                        STR_ARG(buf_str(&columns)), STR_ARG(d->subject->sql_name));
    buf_dispose(&columns);
    return status;
}
