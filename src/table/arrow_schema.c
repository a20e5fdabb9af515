/*
 * Arrow's schema structs from Spark types and back. Arrow columnar format, "The Arrow C data interface": format strings.
 *
 * An ArrowSchema owns its texts and children through one release function; every node is released on its own, so that a consumer
 * may move a child out of the tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "table/arrow.h"

#define VARIANT_KEY   "silt.type"
#define VARIANT_VALUE "variant"
#define MAX_DEPTH     256

/* What release frees besides the children. */
typedef struct owned {
    char format[48];
    char *name;
    char *metadata;
} owned;

static void release_schema(struct ArrowSchema *s) {
    owned *o = s->private_data;
    for (int64_t i = 0; i < s->n_children; i++) {
        struct ArrowSchema *child = s->children[i];
        if (child && child->release) child->release(child);
        free(child);
    }
    free(s->children);
    free(o->name);
    free(o->metadata);
    free(o);
    s->release = NULL;
}

static char *copy_z(str s) {
    char *z = malloc(s.len + 1);
    if (!z) return NULL;
    if (s.len) memcpy(z, s.ptr, s.len);
    z[s.len] = 0;
    return z;
}

static void format_of(const data_type *type, char out[48]) {
    static const char *const formats[] = {
        [TYPE_VOID] = "n",
        [TYPE_BOOLEAN] = "b",
        [TYPE_BYTE] = "c",
        [TYPE_SHORT] = "s",
        [TYPE_INT] = "i",
        [TYPE_LONG] = "l",
        [TYPE_FLOAT] = "f",
        [TYPE_DOUBLE] = "g",
        [TYPE_STRING] = "u",
        [TYPE_BINARY] = "z",
        [TYPE_DATE] = "tdD",
        [TYPE_TIMESTAMP] = "tsu:UTC",
        [TYPE_TIMESTAMP_NTZ] = "tsu:",
        [TYPE_INTERVAL_YM] = "tiM",
        [TYPE_INTERVAL_DT] = "tDu",
        [TYPE_INTERVAL] = "tin",
        [TYPE_VARIANT] = "u",
        [TYPE_ARRAY] = "+l",
        [TYPE_MAP] = "+m",
        [TYPE_STRUCT] = "+s",
    };
    if (type->id == TYPE_DECIMAL)
        snprintf(out, 48, "d:%d,%d", type->precision, type->scale);
    else
        snprintf(out, 48, "%s", formats[type->id]);
}

/* Key and value with their int32 lengths, native order, behind the number of pairs. */
static char *encode_metadata(const char *key, const char *value) {
    int32_t n = 1, key_len = (int32_t)strlen(key), value_len = (int32_t)strlen(value);
    char *m = malloc(12 + (size_t)key_len + (size_t)value_len);
    if (!m) return NULL;
    memcpy(m, &n, 4);
    memcpy(m + 4, &key_len, 4);
    memcpy(m + 8, key, (size_t)key_len);
    memcpy(m + 8 + key_len, &value_len, 4);
    memcpy(m + 12 + key_len, value, (size_t)value_len);
    return m;
}

static bool fill_schema(const data_type *type, str name, bool nullable, struct ArrowSchema *out);

static bool add_child(struct ArrowSchema *parent, const data_type *type, str name, bool nullable) {
    struct ArrowSchema *child = calloc(1, sizeof *child);
    if (!child || !fill_schema(type, name, nullable, child)) {
        free(child);
        return false;
    }
    parent->children[parent->n_children++] = child;
    return true;
}

static bool add_children(struct ArrowSchema *out, const data_type *type) {
    size_t n = type->id == TYPE_STRUCT ? type->n_fields : type_is_nested(type) ? 1 : 0;
    if (n == 0) return true;
    out->children = calloc(n, sizeof *out->children);
    if (!out->children) return false;
    if (type->id == TYPE_ARRAY) return add_child(out, type->element, STR("element"), type->contains_null);
    if (type->id == TYPE_MAP) {
        field pair[] = {field_make(STR("key"), type->key, false), field_make(STR("value"), type->element, type->contains_null)};
        data_type entries = {.id = TYPE_STRUCT, .fields = pair, .n_fields = 2};
        return add_child(out, &entries, STR("entries"), false);
    }
    for (size_t i = 0; i < n; i++)
        if (!add_child(out, type->fields[i].type, type->fields[i].name, type->fields[i].nullable)) return false;
    return true;
}

static bool fill_schema(const data_type *type, str name, bool nullable, struct ArrowSchema *out) {
    owned *o = calloc(1, sizeof *o);
    if (!o) return false;
    *out = (struct ArrowSchema){.private_data = o, .release = release_schema, .flags = nullable ? ARROW_FLAG_NULLABLE : 0};
    format_of(type, o->format);
    o->name = copy_z(name);
    out->format = o->format;
    out->name = o->name;
    bool ok = o->name != NULL;
    if (type->id == TYPE_VARIANT) {
        out->metadata = o->metadata = encode_metadata(VARIANT_KEY, VARIANT_VALUE);
        ok = ok && o->metadata;
    }
    if (ok && add_children(out, type)) return true;
    release_schema(out);
    return false;
}

silt_status arrow_schema_from_type(const data_type *struct_type, struct ArrowSchema *out, silt_error *err) {
    return fill_schema(struct_type, STR(""), false, out) ? SILT_OK : error_no_memory(err);
}

/* ---- the reverse ---- */

static silt_status refuse(const char *format, str name, silt_error *err) {
    silt_status s = err_DELTA_UNSUPPORTED_DATA_TYPES(err, str_of(format ? format : "(none)"));
    error_detail(err, "Arrow format \"%s\" of column %.*s", format ? format : "", STR_ARG(name));
    return s;
}

static bool has_metadata(const char *metadata, const char *key, const char *value) {
    int32_t n, len;
    if (!metadata) return false;
    memcpy(&n, metadata, 4);
    for (const char *p = metadata + 4; n > 0; n--) { /* lengths are the producer's word: the interface gives no total size */
        memcpy(&len, p, 4);
        if (len < 0) return false;
        bool same = (size_t)len == strlen(key) && memcmp(p + 4, key, (size_t)len) == 0;
        p += 4 + len;
        memcpy(&len, p, 4);
        if (len < 0) return false;
        if (same && (size_t)len == strlen(value) && memcmp(p + 4, value, (size_t)len) == 0) return true;
        p += 4 + len;
    }
    return false;
}

static const data_type *timestamp_of(const char *format) {
    if (strncmp(format, "ts", 2) != 0 || !format[2] || !strchr("smun", format[2]) || format[3] != ':') return NULL;
    return format[4] ? &type_timestamp : &type_timestamp_ntz;
}

static const data_type *plain_of(const char *format) {
    static const struct {
        const char *format;
        const data_type *type;
    } plain[] = {
        {"n", &type_void},          {"b", &type_boolean},       {"c", &type_byte},          {"C", &type_short},
        {"s", &type_short},         {"S", &type_int},           {"i", &type_int},           {"I", &type_long},
        {"l", &type_long},          {"e", &type_float},         {"f", &type_float},         {"g", &type_double},
        {"u", &type_string},        {"U", &type_string},        {"vu", &type_string},       {"z", &type_binary},
        {"Z", &type_binary},        {"vz", &type_binary},       {"tdD", &type_date},        {"tdm", &type_date},
        {"tiM", &type_interval_ym}, {"tiD", &type_interval_dt}, {"tin", &type_interval},    {"tDs", &type_interval_dt},
        {"tDm", &type_interval_dt}, {"tDu", &type_interval_dt}, {"tDn", &type_interval_dt},
    };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (strcmp(format, plain[i].format) == 0) return plain[i].type;
    return strncmp(format, "w:", 2) == 0 ? &type_binary : timestamp_of(format);
}

static silt_status to_type(const struct ArrowSchema *s, arena *a, int depth, const data_type **out, silt_error *err);

static silt_status children_to_struct(const struct ArrowSchema *s, arena *a, int depth, const data_type **out, silt_error *err) {
    size_t n = (size_t)s->n_children;
    field *fields = ARENA_ARRAY(a, n, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct ArrowSchema *child = s->children[i];
        const data_type *type;
        str name = arena_str(a, str_of(child->name ? child->name : ""));
        if (str_is_null(name)) return error_no_memory(err);
        TRY(to_type(child, a, depth + 1, &type, err));
        fields[i] = field_make(name, type, (child->flags & ARROW_FLAG_NULLABLE) != 0);
    }
    *out = type_struct(a, fields, n);
    return *out ? SILT_OK : error_no_memory(err);
}

static bool is_list(const char *format) {
    return strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0 || strcmp(format, "+vl") == 0 || strcmp(format, "+vL") == 0 ||
           strncmp(format, "+w:", 3) == 0;
}

static silt_status map_to_type(const struct ArrowSchema *s, arena *a, int depth, const data_type **out, silt_error *err) {
    const struct ArrowSchema *entries = s->children[0];
    const data_type *pair;
    if (!entries->format || strcmp(entries->format, "+s") != 0 || entries->n_children != 2)
        return refuse(s->format, str_of(s->name), err);
    TRY(to_type(entries, a, depth + 1, &pair, err));
    *out = type_map(a, pair->fields[0].type, pair->fields[1].type, pair->fields[1].nullable);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status decimal_to_type(const struct ArrowSchema *s, arena *a, const data_type **out, silt_error *err) {
    int precision, scale;
    if (sscanf(s->format, "d:%d,%d", &precision, &scale) != 2 || precision < 1 || precision > 38 || scale < 0 ||
        scale > precision)
        return refuse(s->format, str_of(s->name), err);
    *out = type_decimal(a, precision, scale);
    return *out ? SILT_OK : error_no_memory(err);
}

static bool children_are_sound(const struct ArrowSchema *s) {
    if (s->n_children < 0 || (s->n_children > 0 && !s->children)) return false;
    for (int64_t i = 0; i < s->n_children; i++)
        if (!s->children[i]) return false;
    return true;
}

static silt_status to_type(const struct ArrowSchema *s, arena *a, int depth, const data_type **out, silt_error *err) {
    str name = str_of(s->name ? s->name : "");
    const char *format = s->format;
    if (!format || depth > MAX_DEPTH || !children_are_sound(s)) return refuse(format, name, err);
    if (s->dictionary) return to_type(s->dictionary, a, depth + 1, out, err);
    if (strcmp(format, "+s") == 0) return children_to_struct(s, a, depth, out, err);
    if (strcmp(format, "+m") == 0 && s->n_children == 1) return map_to_type(s, a, depth, out, err);
    if (strcmp(format, "+r") == 0 && s->n_children == 2) return to_type(s->children[1], a, depth + 1, out, err);
    if (is_list(format) && s->n_children == 1) {
        const data_type *element;
        TRY(to_type(s->children[0], a, depth + 1, &element, err));
        *out = type_array(a, element, (s->children[0]->flags & ARROW_FLAG_NULLABLE) != 0);
        return *out ? SILT_OK : error_no_memory(err);
    }
    if (strncmp(format, "d:", 2) == 0) return decimal_to_type(s, a, out, err);
    if (strcmp(format, "L") == 0) {
        *out = type_decimal(a, 20, 0);
        return *out ? SILT_OK : error_no_memory(err);
    }
    *out = plain_of(format);
    if (!*out) return refuse(format, name, err);
    if (*out == &type_string && has_metadata(s->metadata, VARIANT_KEY, VARIANT_VALUE)) *out = &type_variant;
    return SILT_OK;
}

silt_status arrow_schema_to_type(const struct ArrowSchema *schema, arena *a, const data_type **out_struct, silt_error *err) {
    if (!schema->format || strcmp(schema->format, "+s") != 0) return refuse(schema->format, STR("(the whole)"), err);
    return to_type(schema, a, 0, out_struct, err);
}
