/* Two folders change places by renameat2(RENAME_EXCHANGE): there is no moment at which one of the names is missing, as there is between two renames. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/uri.h"
#include "store/local/local.h"

silt_status local_swap_dirs(store *s, str a, str b, silt_error *err) {
    local_store *l = (local_store *)s;
    local_path one, other;
    TRY(local_path_set(&one, a, err));
    TRY(local_path_set(&other, b, err));
    if (renameat2(AT_FDCWD, one.z, AT_FDCWD, other.z, RENAME_EXCHANGE) != 0) {
        bool unknown = errno == EINVAL || errno == ENOSYS || errno == EXDEV;
        return unknown ? err_UNSUPPORTED_FEATURE(err, "exchanging folders on this file system (renameat2 with RENAME_EXCHANGE)")
                       : error_from_errno(err, errno, "renameat2", a);
    }
    TRY(local_folders_sync(l, path_parent(a), err));
    return local_folders_sync(l, path_parent(b), err);
}
