/* Which files a load may take as they are; the rules are told in take_files.h. */
#include "delta/properties.h"
#include "ops/take_files.h"
#include "table/parquet_schema.h"

#define FILES_ALWAYS    ((int64_t)4)          /* so few are not too many, however small */
#define GROUPS_ALWAYS   4
#define GROUP_ROWS_MIN  ((int64_t)8192)       /* a group of fewer rows and fewer bytes is tiny */
#define GROUP_BYTES_MIN ((int64_t)4 << 20)
#define GROUP_BYTES_MAX ((int64_t)512 << 20)

#define KNOWN_ENCODINGS                                                                                                                          \
    (UINT32_C(1) << PARQUET_ENCODED_PLAIN | UINT32_C(1) << PARQUET_ENCODED_OLD_DICTIONARY | UINT32_C(1) << PARQUET_ENCODED_RLE |                 \
     UINT32_C(1) << PARQUET_ENCODED_DICTIONARY)

static silt_status because(const take_rules *r, str *out_why, str why) {
    *out_why = why;
    return str_is_null(why) ? error_no_memory(r->o->err) : SILT_OK;
}

/* ---- the table ---- */

/* Anything else changes what rows may be written, or how columns are found. */
static bool has_only_comment(const field *f, arena *a) {
    const json_node *root;
    if (f->metadata.len == 0 || str_eqz(f->metadata, "{}")) return true;
    if (json_parse(f->metadata, a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return false;
    for (size_t i = 0; i < root->count; i++)
        if (!str_eqz(root->keys[i], "comment")) return false;
    return true;
}

static bool is_plain(const data_type *t, arena *a) {
    if (t->element && !is_plain(t->element, a)) return false;
    if (t->key && !is_plain(t->key, a)) return false;
    for (size_t i = 0; i < t->n_fields; i++)
        if (!has_only_comment(&t->fields[i], a) || !is_plain(t->fields[i].type, a)) return false;
    return true;
}

static bool has_constraints(const str_map *configuration) {
    for (size_t i = 0; i < configuration->count; i++)
        if (str_starts_with(configuration->keys[i], STR("delta.constraints."))) return true;
    return false;
}

static const char *about_table(const take_rules *r, const table_source *source) {
    const str_map *c = &r->table->metadata.configuration;
    if (ops_setting_bool(r->o, "silt.load.rewrite", false)) return "silt.load.rewrite asks for it";
    if (r->table->metadata.n_partition_columns) return "the table is partitioned";
    if (source->n_partition_columns) return "the names of the files' folders are columns";
    if (ops_write_target_is_mapped(r->table)) return "the table maps its columns' names";
    if (delta_config_iceberg_compat(c) > 0) return "the table's files are Iceberg's too";
    if (has_constraints(c)) return "the table has CHECK constraints";
    return r->spec->random_prefix ? "the table's files have random prefixes" : NULL;
}

/* ---- how many, how large ---- */

static const char *about_sizes(const take_rules *r, const table_scan *files) {
    int64_t target = r->spec->target_file_bytes, total = 0;
    if (target <= 0) return NULL;
    for (size_t i = 0; i < files->n_files; i++) {
        if (files->files[i].size_bytes / 2 > target) return "a file is more than twice as large as the table's files are to be";
        total += files->files[i].size_bytes;
    }
    int64_t most = 2 * (total / target + 1);
    return (int64_t)files->n_files > (most > FILES_ALWAYS ? most : FILES_ALWAYS) ? "they are many small files" : NULL;
}

silt_status take_rules_table(const take_rules *r, const table_source *source, const table_scan *files, str *out_why) {
    const data_type *schema = r->table->schema;
    const char *why = about_table(r, source);
    if (!why && files->n_files == 0) why = "there are no files";
    if (!why) why = about_sizes(r, files);
    *out_why = str_of(why);
    for (size_t i = 0; !why && i < schema->n_fields; i++)
        if (!has_only_comment(&schema->fields[i], r->o->a) || !is_plain(schema->fields[i].type, r->o->a))
            return because(r, out_why, arena_printf(r->o->a, "the table has rules of its own for the column %.*s", STR_ARG(schema->fields[i].name)));
    return SILT_OK;
}

/* ---- columns ---- */

static bool is_integer(const parquet_element *e, parquet_physical physical, int bits) {
    if (e->physical != physical) return false;
    return e->meaning == PARQUET_INTEGER ? e->is_signed && e->bits == bits : e->meaning == PARQUET_PLAIN && bits >= 32;
}

static bool is_bytes(const parquet_element *e, parquet_meaning meaning) { return e->physical == PARQUET_BYTES && e->meaning == meaning; }

/* As narrow as its digits allow: what Spark writes, and the one form of each width that all readers take. */
static bool is_decimal(const parquet_element *e, const data_type *t) {
    static const int8_t bytes_for[39] = {[19] = 9, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};
    if (e->meaning != PARQUET_DECIMAL || e->precision != t->precision || e->scale != t->scale) return false;
    if (t->precision <= 9) return e->physical == PARQUET_INT32;
    if (t->precision <= 18) return e->physical == PARQUET_INT64;
    return e->physical == PARQUET_FIXED && t->precision <= 38 && e->length >= bytes_for[t->precision] && e->length <= 16;
}

static bool is_time(const parquet_element *e, bool is_utc) {
    return e->physical == PARQUET_INT64 && e->meaning == PARQUET_TIMESTAMP && e->unit == PARQUET_MICROS && e->is_utc == is_utc;
}

static bool leaf_fits(const parquet_element *e, const data_type *t) {
    switch (t->id) {
        case TYPE_BOOLEAN: return e->physical == PARQUET_BOOLEAN && e->meaning == PARQUET_PLAIN;
        case TYPE_BYTE: return is_integer(e, PARQUET_INT32, 8);
        case TYPE_SHORT: return is_integer(e, PARQUET_INT32, 16);
        case TYPE_INT: return is_integer(e, PARQUET_INT32, 32);
        case TYPE_LONG: return is_integer(e, PARQUET_INT64, 64);
        case TYPE_FLOAT: return e->physical == PARQUET_FLOAT && e->meaning == PARQUET_PLAIN;
        case TYPE_DOUBLE: return e->physical == PARQUET_DOUBLE && e->meaning == PARQUET_PLAIN;
        case TYPE_DECIMAL: return is_decimal(e, t);
        case TYPE_STRING: return t->length == 0 && is_bytes(e, PARQUET_STRING);
        case TYPE_BINARY: return is_bytes(e, PARQUET_PLAIN);
        case TYPE_DATE: return e->physical == PARQUET_INT32 && e->meaning == PARQUET_DATE;
        case TYPE_TIMESTAMP: return is_time(e, true);
        case TYPE_TIMESTAMP_NTZ: return is_time(e, false);
        default: return false;
    }
}

static bool fits(const parquet_footer *f, size_t at, const data_type *t);

static bool is_group(const parquet_element *e, parquet_meaning meaning, int32_t n_children) { return e->physical == PARQUET_GROUP && e->meaning == meaning && e->n_children == n_children; }

static bool struct_fits(const parquet_footer *f, size_t at, const data_type *t) {
    if (t->n_fields == 0 || t->n_fields > INT32_MAX || !is_group(&f->elements[at], PARQUET_PLAIN, (int32_t)t->n_fields)) return false;
    size_t child = at + 1;
    for (size_t i = 0; i < t->n_fields; i++, child = f->elements[child].next)
        if (!t->fields[i].nullable || !str_eq(f->elements[child].name, t->fields[i].name) || !fits(f, child, t->fields[i].type)) return false;
    return true;
}

/* The repeated group between a list or map and what it holds. */
static const parquet_element *middle(const parquet_footer *f, size_t at, parquet_meaning meaning, const char *name, int32_t n_children) {
    const parquet_element *e = &f->elements[at], *m = e + 1;
    if (!is_group(e, meaning, 1) || m->physical != PARQUET_GROUP || m->repetition != PARQUET_REPEATED || m->n_children != n_children || !str_eqz(m->name, name)) return NULL;
    return m->meaning == PARQUET_PLAIN || m->meaning == PARQUET_MAP_KEY_VALUE ? m : NULL;
}

static bool list_fits(const parquet_footer *f, size_t at, const data_type *t) {
    return t->contains_null && middle(f, at, PARQUET_LIST, "list", 1) && str_eqz(f->elements[at + 2].name, "element") && fits(f, at + 2, t->element);
}

static bool map_fits(const parquet_footer *f, size_t at, const data_type *t) {
    if (!t->contains_null || !middle(f, at, PARQUET_MAP, "key_value", 2)) return false;
    const parquet_element *key = &f->elements[at + 2];
    if (!str_eqz(key->name, "key") || key->repetition != PARQUET_REQUIRED || !str_eqz(f->elements[key->next].name, "value")) return false;
    return fits(f, at + 2, t->key) && fits(f, key->next, t->element);
}

static bool fits(const parquet_footer *f, size_t at, const data_type *t) {
    const parquet_element *e = &f->elements[at];
    if (e->repetition == PARQUET_REPEATED) return false;
    switch (t->id) {
        case TYPE_STRUCT: return struct_fits(f, at, t);
        case TYPE_ARRAY: return list_fits(f, at, t);
        case TYPE_MAP: return map_fits(f, at, t);
        default: return e->physical != PARQUET_GROUP && leaf_fits(e, t);
    }
}

static bool has_no_null(const parquet_footer *f, const parquet_element *e) {
    if (e->repetition == PARQUET_REQUIRED) return true;
    if (e->physical == PARQUET_GROUP) return false;
    for (size_t g = 0; g < f->n_row_groups; g++)
        if (f->chunks[g * f->n_leaves + e->leaf].nulls != 0) return false;
    return true;
}

static const field *find_exactly(const data_type *schema, str name) {
    int at = schema_find(schema, name);
    return at >= 0 && str_eq(schema->fields[at].name, name) ? &schema->fields[at] : NULL;
}

static silt_status column_rules(const take_rules *r, const parquet_footer *f, size_t at, const data_type *inferred, bool *seen, str *out_why) {
    arena *a = r->o->a;
    const parquet_element *e = &f->elements[at];
    const field *column = find_exactly(r->table->schema, e->name), *own = find_exactly(inferred, e->name);
    if (!column || !find_exactly(r->source, e->name)) return because(r, out_why, arena_printf(a, "the file's column %.*s is none of the load's and the table's", STR_ARG(e->name)));
    bool *is_seen = &seen[column - r->table->schema->fields];
    if (*is_seen) return because(r, out_why, arena_printf(a, "the file has two columns %.*s", STR_ARG(e->name)));
    *is_seen = true;
    if (!fits(f, at, column->type) || !own || !type_equal(own->type, column->type))
        return because(r, out_why, arena_printf(a, "the column %.*s is stored otherwise than a %.*s is", STR_ARG(e->name), STR_ARG(type_sql(column->type, a))));
    if (!column->nullable && !has_no_null(f, e)) return because(r, out_why, arena_printf(a, "the footer does not tell that the column %.*s has no nulls", STR_ARG(e->name)));
    return SILT_OK;
}

static silt_status columns_rules(const take_rules *r, const parquet_footer *f, str *out_why) {
    const data_type *schema = r->table->schema, *inferred;
    const parquet_rules as_spark = {.int96_as_timestamp = true, .infer_ntz = true};
    bool *seen = ARENA_ARRAY(r->o->a, schema->n_fields + 1, bool);
    if (!seen) return error_no_memory(r->o->err);
    silt_status status = parquet_schema_type(f, &as_spark, r->o->a, &inferred, NULL);
    if (status == SILT_NO_MEMORY) return error_no_memory(r->o->err);
    if (status != SILT_OK) return because(r, out_why, STR("a column is of a type that no table has"));
    for (size_t at = 1; at < f->n_elements && str_is_null(*out_why); at = f->elements[at].next) TRY(column_rules(r, f, at, inferred, seen, out_why));
    for (size_t i = 0; i < schema->n_fields && str_is_null(*out_why); i++)
        if (!seen[i] && !schema->fields[i].nullable) return because(r, out_why, arena_printf(r->o->a, "the file lacks the column %.*s", STR_ARG(schema->fields[i].name)));
    return SILT_OK;
}

/* ---- row groups ---- */

/* Marks the leaves that are below a repeated group: of those the footer counts elements. */
static void mark_levels(const parquet_footer *f, parquet_pages_rules *rules) {
    for (size_t at = 1; at < f->n_elements; at++) {
        const parquet_element *e = &f->elements[at];
        size_t end = e->next < f->n_elements ? f->elements[e->next].leaf : f->n_leaves;
        for (size_t leaf = e->leaf; leaf < end; leaf++) {
            rules[leaf].encodings = KNOWN_ENCODINGS;
            rules[leaf].has_definitions |= e->repetition != PARQUET_REQUIRED;
            rules[leaf].has_repetitions |= e->repetition == PARQUET_REPEATED;
        }
    }
}

const parquet_pages_rules *take_rules_pages(const take_rules *r, const parquet_footer *f) {
    parquet_pages_rules *rules = ARENA_ARRAY(r->o->a, f->n_leaves + 1, parquet_pages_rules);
    if (rules) mark_levels(f, rules);
    return rules;
}

static bool is_known_codec(int32_t codec) { return codec == PARQUET_UNCOMPRESSED || codec == PARQUET_SNAPPY || codec == PARQUET_GZIP || codec == PARQUET_ZSTD; }

static int32_t codec_named(str name) {
    if (str_eqz(name, "uncompressed")) return PARQUET_UNCOMPRESSED;
    if (str_eqz(name, "gzip")) return PARQUET_GZIP;
    return str_eqz(name, "zstd") ? PARQUET_ZSTD : -1;
}

static const char *about_chunk(const take_rules *r, const parquet_chunk *c) {
    bool is_default = str_is_null(r->spec->compression) || str_eqz(r->spec->compression, "snappy");
    if (c->is_encrypted) return "it is encrypted";
    if (c->values < 0 || c->offset <= 0 || c->length <= 0) return "its footer does not tell where its columns are";
    if (!is_known_codec(c->codec)) return "it is compressed in a way that not all readers know";
    if (!is_default && c->codec != codec_named(r->spec->compression)) return "it is not compressed as is asked for";
    /* Levels that are not there are said to be bit-packed: the pages tell how it is. */
    return c->encodings & ~(KNOWN_ENCODINGS | UINT32_C(1) << PARQUET_ENCODED_BIT_PACKED) ? "it is encoded in a way that not all readers know" : NULL;
}

/* A bound that leaves NaN out: Spark passes over the row group when it looks for NaN, or for what is greater than all else. parquet-mr and DuckDB write none where there is a NaN. */
static bool may_hide_nan(const parquet_footer *f, const parquet_chunk *c, parquet_physical physical) {
    bool is_bounded = !str_is_null(c->min) || !str_is_null(c->max) || !str_is_null(c->old_min) || !str_is_null(c->old_max);
    bool is_float = physical == PARQUET_FLOAT || physical == PARQUET_DOUBLE;
    return is_float && is_bounded && !str_starts_with(f->created_by, STR("parquet-mr version ")) && !str_starts_with(f->created_by, STR("DuckDB version "));
}

static const char *about_bounds(const parquet_footer *f) {
    for (size_t at = 1; at < f->n_elements; at++)
        for (size_t g = 0; g < f->n_row_groups && f->elements[at].physical != PARQUET_GROUP; g++)
            if (may_hide_nan(f, &f->chunks[g * f->n_leaves + f->elements[at].leaf], f->elements[at].physical)) return "its bounds of numbers may have left out a NaN";
    return NULL;
}

static const char *about_groups(const take_rules *r, const parquet_footer *f, const parquet_pages_rules *levels) {
    int64_t total = 0;
    for (size_t leaf = 0; leaf < f->n_leaves; leaf++) {
        int64_t rows = 0;
        for (size_t g = 0; g < f->n_row_groups; g++) {
            const parquet_chunk *c = &f->chunks[g * f->n_leaves + leaf];
            const char *why = about_chunk(r, c);
            if (why) return why;
            if (c->length > GROUP_BYTES_MAX || c->values > INT64_MAX - rows || total > INT64_MAX - c->length) return "it has a huge row group";
            rows += c->values;
            total += c->length;
        }
        if (!levels[leaf].has_repetitions && rows != f->n_rows) return "its columns have not as many values as it has rows";
    }
    int64_t n = (int64_t)f->n_row_groups;
    return n > GROUPS_ALWAYS && f->n_rows / n < GROUP_ROWS_MIN && total / n < GROUP_BYTES_MIN ? "its row groups are tiny" : NULL;
}

static const char *about_group_sizes(const parquet_footer *f) {
    for (size_t g = 0; g < f->n_row_groups; g++) {
        int64_t bytes = 0;
        for (size_t leaf = 0; leaf < f->n_leaves; leaf++) bytes += f->chunks[g * f->n_leaves + leaf].length; /* each was looked at: no overflow */
        if (bytes > GROUP_BYTES_MAX) return "it has a huge row group";
    }
    return NULL;
}

/* ---- the file ---- */

/* Those whose files have been read by all three readers for years. */
static bool is_known_writer(str created_by) {
    static const char *const known[] = {"parquet-mr version ", "parquet-cpp-arrow version ", "parquet-rs version ", "delta-rs version ", "DuckDB version "};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_starts_with(created_by, str_of(known[i]))) return true;
    return false;
}

silt_status take_rules_file(const take_rules *r, const parquet_footer *f, str *out_why) {
    const parquet_pages_rules *levels = take_rules_pages(r, f);
    if (!levels) return error_no_memory(r->o->err);
    const char *why = NULL;
    if (f->n_rows <= 0 || f->n_leaves == 0 || f->n_row_groups == 0) why = "a file has no rows";
    else if (r->spec->max_records_per_file > 0 && f->n_rows > r->spec->max_records_per_file) why = "a file has more rows than are to be in one";
    else if (!is_known_writer(f->created_by)) why = "it is not known who wrote it";
    else if (f->is_rebased) why = "its dates may be of the old calendar";
    else why = about_groups(r, f, levels);
    if (!why) why = about_group_sizes(f);
    if (!why) why = about_bounds(f);
    *out_why = str_of(why);
    return why ? SILT_OK : columns_rules(r, f, out_why);
}
