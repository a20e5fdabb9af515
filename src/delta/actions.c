#include "delta/actions.h"

str str_map_get(const str_map *map, str key) {
    for (size_t i = map->count; i-- > 0;) /* of doubled keys the last one counts, as in JSON */
        if (str_eq(map->keys[i], key)) return map->values[i];
    return STR_NULL;
}
