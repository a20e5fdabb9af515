/* A set of byte strings by linear probing. Nothing is ever removed, so a probe ends at the first empty slot. */
#include "delta/path_set.h"

#define FIRST_SLOTS 64

static size_t find_slot(const path_set *set, str key) {
    size_t mask = set->n_slots - 1, i = (size_t)str_hash(key) & mask;
    while (!str_is_null(set->slots[i]) && !str_eq(set->slots[i], key)) i = (i + 1) & mask;
    return i;
}

static bool grow(path_set *set, arena *mem) {
    path_set larger = {NULL, set->n_slots ? set->n_slots * 2 : FIRST_SLOTS, set->count};
    larger.slots = ARENA_ARRAY(mem, larger.n_slots, str);
    if (!larger.slots) return false;
    for (size_t i = 0; i < set->n_slots; i++)
        if (!str_is_null(set->slots[i])) larger.slots[find_slot(&larger, set->slots[i])] = set->slots[i];
    *set = larger;
    return true;
}

bool path_set_add(path_set *set, str key, arena *mem, bool *out_added) {
    if (str_is_null(key)) key = STR("");
    if (set->count * 3 >= set->n_slots * 2 && !grow(set, mem)) return false;
    size_t i = find_slot(set, key);
    *out_added = str_is_null(set->slots[i]);
    if (!*out_added) return true;
    set->slots[i] = key;
    set->count++;
    return true;
}

bool path_set_has(const path_set *set, str key) {
    if (set->n_slots == 0) return false;
    if (str_is_null(key)) key = STR("");
    return !str_is_null(set->slots[find_slot(set, key)]);
}
