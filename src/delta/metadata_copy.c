/* Deep copies: a transaction outlives the arenas of its callers and of the winners that it reads. */
#include "delta/metadata_copy.h"

#include "delta/action_json.h"

static const str *copy_list(const str *items, size_t n, arena *mem) {
    str *out = ARENA_ARRAY(mem, n + 1, str);
    for (size_t i = 0; out && i < n; i++) {
        out[i] = arena_str(mem, items[i]);
        if (str_is_null(out[i])) return NULL;
    }
    return out;
}

/* Keeps {NULL,0} as it is: absent and empty differ. */
static bool copy_opt(str *s, arena *mem) {
    if (str_is_null(*s)) return true;
    *s = arena_str(mem, *s);
    return !str_is_null(*s);
}

bool str_map_copy(const str_map *map, arena *mem, str_map *out) {
    str *values = ARENA_ARRAY(mem, map->count + 1, str);
    const str *keys = copy_list(map->keys, map->count, mem);
    if (!values || !keys) return false;
    for (size_t i = 0; i < map->count; i++) {
        values[i] = map->values[i];
        if (!copy_opt(&values[i], mem)) return false;
    }
    *out = (str_map){keys, values, map->count};
    return true;
}

bool str_map_with(const str_map *map, str key, str val, arena *mem, str_map *out) {
    str *keys = ARENA_ARRAY(mem, map->count + 1, str), *values = ARENA_ARRAY(mem, map->count + 1, str);
    if (!keys || !values) return false;
    size_t at = map->count;
    for (size_t i = 0; i < map->count; i++) {
        keys[i] = map->keys[i];
        values[i] = map->values[i];
        if (str_eq(keys[i], key)) at = i;
    }
    keys[at] = key;
    values[at] = val;
    *out = (str_map){keys, values, at == map->count ? map->count + 1 : map->count};
    return true;
}

const delta_protocol *delta_protocol_copy(const delta_protocol *p, arena *mem) {
    delta_protocol *copy = ARENA_NEW(mem, delta_protocol);
    if (!copy) return NULL;
    *copy = *p;
    copy->reader_features = copy_list(p->reader_features, p->n_reader_features, mem);
    copy->writer_features = copy_list(p->writer_features, p->n_writer_features, mem);
    return copy->reader_features && copy->writer_features ? copy : NULL;
}

static silt_status copy_metadata(const delta_metadata *m, arena *mem, delta_metadata *copy, silt_error *err) {
    *copy = *m;
    if (str_is_null(copy->schema_json) && m->schema) {
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        schema_write_json(&b, m->schema);
        copy->schema_json = buf_take(&b, mem);
        if (str_is_null(copy->schema_json)) return error_no_memory(err);
    } else if (!copy_opt(&copy->schema_json, mem)) {
        return error_no_memory(err);
    }
    copy->partition_columns = copy_list(m->partition_columns, m->n_partition_columns, mem);
    bool ok = copy->partition_columns && copy_opt(&copy->id, mem) && copy_opt(&copy->name, mem) && copy_opt(&copy->description, mem) &&
              copy_opt(&copy->format_provider, mem) && str_map_copy(&m->format_options, mem, &copy->format_options) &&
              str_map_copy(&m->configuration, mem, &copy->configuration);
    if (!ok) return error_no_memory(err);
    return action_bind_schema(copy, mem, err);
}

silt_status delta_metadata_copy(const delta_metadata *m, arena *mem, delta_metadata **out, silt_error *err) {
    *out = ARENA_NEW(mem, delta_metadata);
    return *out ? copy_metadata(m, mem, *out, err) : error_no_memory(err);
}
