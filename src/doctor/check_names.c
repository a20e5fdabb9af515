/*
 * Names of columns and values of partitions that other engines, file systems or tools do not take. Danger is in what silently
 * means something else: two names that differ by case only, values that Hive reads as null, folders that two values share.
 * Characters that are merely unusual are told as information.
 */
#include "doctor/check.h"

#define NAME_MAX_BYTES 255 /* of a folder's name on most file systems */
#define HIVE_NULL      "__HIVE_DEFAULT_PARTITION__"

/* ---- columns ---- */

static bool is_odd(str name) {
    for (size_t i = 0; i < name.len; i++)
        if (memchr(" ,;{}()\n\t=.`\"'/\\", name.ptr[i], 16) || (unsigned char)name.ptr[i] < 0x20) return true;
    return name.len == 0 || name.len > 128;
}

static bool is_reserved(str name) {
    static const char *const words[] = {"_change_type", "_commit_version", "_commit_timestamp", "_metadata", "_file",
                                        "_pos",         "_deleted",        "_partition"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_ascii_fold(name, str_of(words[i]))) return true;
    return false;
}

typedef struct counted {
    size_t n;
    str examples[DOCTOR_EXAMPLES];
    size_t n_examples;
} counted;

static void count_example(counted *c, str example) {
    c->n++;
    if (c->n_examples < DOCTOR_EXAMPLES && example.ptr) c->examples[c->n_examples++] = example;
}

static silt_status report(doctor *d, const counted *c, doctor_severity severity, const char *one, const char *many,
                          const char *danger, silt_error *err) {
    if (c->n == 0) return SILT_OK;
    doctor_finding *f =
        c->n == 1 ? doctor_report(d, severity, 1, "%s", one) : doctor_report(d, severity, (int64_t)c->n, "%zu %s", c->n, many);
    if (!f) return error_no_memory(err);
    f->danger = str_of(danger);
    for (size_t i = 0; i < c->n_examples; i++) TRY(doctor_example(d, f, c->examples[i], err));
    return SILT_OK;
}

typedef struct column_names {
    counted case_pairs, odd, reserved;
} column_names;

static void look_at_columns(doctor *d, const data_type *type, str prefix, column_names *out) {
    if (type->element) look_at_columns(d, type->element, prefix, out);
    if (type->key) look_at_columns(d, type->key, prefix, out);
    for (size_t i = 0; i < type->n_fields; i++) {
        str name = type->fields[i].name,
            path = prefix.len ? arena_printf(d->a, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(name)) : name;
        for (size_t k = 0; k < i; k++)
            if (str_eq_fold(type->fields[k].name, name))
                count_example(&out->case_pairs,
                              arena_printf(d->a, "%.*s and %.*s", STR_ARG(type->fields[k].name), STR_ARG(path)));
        if (is_odd(name)) count_example(&out->odd, path);
        if (!prefix.len && is_reserved(name)) count_example(&out->reserved, path);
        look_at_columns(d, type->fields[i].type, path, out);
    }
}

static silt_status check_columns(doctor *d, silt_error *err) {
    column_names n = {0};
    look_at_columns(d, delta_snapshot_metadata(d->snapshot)->schema, STR(""), &n);
    TRY(report(d, &n.case_pairs, DOCTOR_WARNING, "two columns differ by case only", "pairs of columns differ by case only",
               "Engines that compare names without case refuse the table or take the wrong one.", err));
    TRY(report(d, &n.reserved, DOCTOR_WARNING, "a column has a name that engines use for themselves",
               "columns have names that engines use for themselves",
               "The change feed, or an engine's own columns, cannot be read beside it.", err));
    return report(d, &n.odd, DOCTOR_INFO, "a column's name has characters that other engines refuse",
                  "columns have names with characters that other engines refuse",
                  "Hive, older Spark and tools that write SQL without quotes fail on them.", err);
}

/* ---- partition values ---- */

typedef struct value_names {
    counted null_text, control, long_name, trailing, case_pairs;
} value_names;

/* Bytes of the folder's name after Hive's escaping. */
static size_t folder_bytes(str column, str v) {
    size_t n = column.len + 1;
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];
        n += c < 0x20 || c == 0x7F || memchr("\"#%'*/:=?\\{[]^", c, 14) ? 3 : 1;
    }
    return n;
}

static bool has_control(str s) {
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7F) return true;
    return false;
}

static void look_at_value(doctor *d, str column, str v, value_names *out) {
    if (!v.ptr) return;
    str shown = arena_printf(d->a, "%.*s=%.*s", STR_ARG(column), STR_ARG(str_slice(v, 0, v.len < 80 ? v.len : 80)));
    if (str_eqz(v, HIVE_NULL)) count_example(&out->null_text, shown);
    if (has_control(v)) count_example(&out->control, shown);
    if (folder_bytes(column, v) > NAME_MAX_BYTES) count_example(&out->long_name, shown);
    if (v.len && (v.ptr[v.len - 1] == ' ' || v.ptr[v.len - 1] == '.' || v.ptr[0] == ' ')) count_example(&out->trailing, shown);
}

/* Values of one column that are one folder where names have no case: an open table of the lower-cased texts. */
static silt_status look_at_case(doctor *d, const survey *s, str column, str physical, value_names *out, silt_error *err) {
    size_t n_slots = 64;
    while (n_slots < s->n_partitions * 2) n_slots *= 2;
    struct {
        str lower, value;
    } *slots = arena_calloc(d->a, n_slots, sizeof *slots);
    if (!slots) return error_no_memory(err);
    for (size_t i = 0; i < s->n_partitions; i++) {
        str v = str_map_get(&s->partitions[i].values, physical), lower = v.ptr ? arena_str_lower(d->a, v) : STR_NULL;
        if (!v.ptr) continue;
        if (!lower.ptr) return error_no_memory(err);
        size_t at = str_hash(lower) & (n_slots - 1);
        while (slots[at].lower.ptr && !str_eq(slots[at].lower, lower)) at = (at + 1) & (n_slots - 1);
        if (!slots[at].lower.ptr)
            slots[at].lower = lower, slots[at].value = v;
        else if (!str_eq(slots[at].value, v))
            count_example(&out->case_pairs,
                          arena_printf(d->a, "%.*s=%.*s and %.*s", STR_ARG(column), STR_ARG(slots[at].value), STR_ARG(v)));
    }
    return SILT_OK;
}

static silt_status check_values(doctor *d, silt_error *err) {
    const survey *s;
    const delta_metadata *m = delta_snapshot_metadata(d->snapshot);
    value_names n = {0};
    TRY(doctor_survey(d, &s, err));
    for (size_t c = 0; c < m->n_partition_columns; c++) {
        int at = schema_find(m->schema, m->partition_columns[c]);
        if (at < 0) continue;
        const field *f = &m->schema->fields[at];
        if (f->type->id != TYPE_STRING && f->type->id != TYPE_BINARY) continue;
        for (size_t i = 0; i < s->n_partitions; i++)
            look_at_value(d, f->name, str_map_get(&s->partitions[i].values, f->physical_name), &n);
        TRY(look_at_case(d, s, f->name, f->physical_name, &n, err));
    }
    TRY(report(d, &n.null_text, DOCTOR_WARNING, "a partition's value is the text that Hive writes for null",
               "partitions have the text that Hive writes for null as their value",
               "Readers that go by the folders take it for null.", err));
    TRY(report(d, &n.case_pairs, DOCTOR_WARNING, "two partition values differ by case only",
               "partition values differ from another by case only",
               "On file systems and in engines without case they are one partition.", err));
    TRY(report(d, &n.control, DOCTOR_INFO, "a partition value has control characters", "partition values have control characters",
               "Listings, logs and tools that work by lines break on them.", err));
    TRY(report(d, &n.long_name, DOCTOR_WARNING, "a partition value is too long for a folder's name",
               "partition values are too long for a folder's name",
               "Copies and other engines that make a folder of it fail (255 bytes).", err));
    return report(d, &n.trailing, DOCTOR_INFO, "a partition value begins or ends with a space or ends with a dot",
                  "partition values begin or end with a space or end with a dot",
                  "Windows and some object store tools cut them off.", err);
}

silt_status check_names(doctor *d, silt_error *err) {
    TRY(check_columns(d, err));
    return check_values(d, err);
}
