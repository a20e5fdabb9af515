/**
 * Paths of actions as the table's folder has them: percent-decoded, relative to the root, whichever way the log spells them. What lies outside of the root is
 * another table's (clones) and has none.
 */
#ifndef DELTA_TABLE_PATH_H
#define DELTA_TABLE_PATH_H

#include "delta/delta.h"

typedef struct table_paths {
    const delta_env *env;
    str root;                                /**< without a slash at its end */
    arena *arena;                            /**< of what follows */
    str real_root;                           /**< without links; null until it was asked for */
    char last_folder[1024], last_real[1024]; /**< of the last absolute path outside of the root as it is spelt: files of one folder come together */
    size_t last_folder_len, last_real_len;   /**< 0: none */
} table_paths;

/** Borrows env, root and arena. One thread. */
void table_paths_init(table_paths *p, const delta_env *env, str root, arena *a);
/** add.path, remove.path or cdc.path → relative, in `a`; {NULL,0} where it lies outside. Absolute paths that reach the root through links are followed. */
silt_status table_path_relative(table_paths *p, str action_path, arena *a, str *out, silt_error *err) MUST_CHECK;
/** The file of a deletion vector; {NULL,0} for inline ones, none, and files outside. */
silt_status table_path_of_dv(table_paths *p, const delta_dv *dv, arena *a, str *out, silt_error *err) MUST_CHECK;
/** Relative and needs no decoding: it is its own relative path. */
bool table_path_is_plain(str action_path);

#endif
