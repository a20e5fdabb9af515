/**
 * A private folder (0700) for temporary files, which goes with its owner, or is cleared away by a later process where the owner was killed.
 *
 * The owner holds a lock (flock) on the folder as long as it lives; the kernel ends it with the process, whoever else shares the folder around it:
 * containers, other users, other namespaces of process numbers. Whoever makes a folder looks for those of its own user beside it that nobody holds.
 * Where a file system has no such locks nothing is cleared away.
 * Not for several threads at once: the caller holds a lock of its own.
 */
#ifndef BASE_TEMP_FOLDER_H
#define BASE_TEMP_FOLDER_H

#include "base/base.h"

#define TEMP_FOLDER_PATH_MAX 4096

typedef struct temp_folder {
    char path[TEMP_FOLDER_PATH_MAX]; /**< with its NUL; empty: not open. {0} is how it begins */
    int lock;                        /**< open on the folder, where path is not empty */
    uint64_t next_file;
} temp_folder;

/**
 * Make it, in the folder `base`, which is made where it is missing (not its parents); null or empty: in $TMPDIR, else /tmp. Where it is open, it is
 * looked whether it is still there (cleaners of /tmp take what looks old) and made once more under the same name.
 * @return NOT_FOUND, DENIED, NO_SPACE, IO
 */
silt_status temp_folder_open(temp_folder *t, str base, silt_error *err) MUST_CHECK;
/** Remove it with all that is in it. Best effort; nothing where it is not open. */
void temp_folder_close(temp_folder *t);

/** temp_folder_open, and a fresh name in it, in `arena`, that ends as `path` does, which tells engines what it is. Nothing is made under that name. */
silt_status temp_folder_name(temp_folder *t, str base, str path, arena *arena, str *out, silt_error *err) MUST_CHECK;
/** Remove a file by a name that temp_folder_name gave; any other is left alone. Best effort. */
void temp_folder_remove(const temp_folder *t, str name);

#endif
