/** A set of byte strings in an arena: open addressing, doubling at 2/3 full. */
#ifndef DELTA_PATH_SET_H
#define DELTA_PATH_SET_H

#include "base/base.h"

typedef struct path_set {
    str *slots;      /**< {NULL,0}: empty */
    size_t n_slots;  /**< 0 or a power of two */
    size_t count;
} path_set;

/** *out_added false: it was there already. The string is borrowed. false on exhaustion. */
bool path_set_add(path_set *set, str key, arena *arena, bool *out_added);
bool path_set_has(const path_set *set, str key);

#endif
