/**
 * A Parquet file without rows, which a scan of one file is given as its second: DuckDB reads a single file whose schema it is told with one thread, because it has not
 * looked at its row groups, but any list of several files with all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ident.h"
#include "engine/internal.h"

/* One optional BOOLEAN and no row groups; the names are there to be told apart, nobody reads them. A COPY would take two milliseconds. */
static const char footer[] = "\x15\x02"                                  /* version 1 */
                             "\x19\x2c"                                  /* schema: two elements */
                             "\x48\x06schema\x15\x02\x00"               /* root, one child */
                             "\x15\x00\x25\x02\x18\x09silt:none\x00"    /* BOOLEAN, OPTIONAL */
                             "\x16\x00\x19\x0c\x00";                    /* no rows, no row groups */

static bool write_file(FILE *file) {
    const uint32_t n = sizeof footer - 1;
    const unsigned char length[4] = {(unsigned char)n, (unsigned char)(n >> 8), 0, 0};
    return fwrite("PAR1", 1, 4, file) == 4 && fwrite(footer, 1, n, file) == n && fwrite(length, 1, 4, file) == 4 && fwrite("PAR1", 1, 4, file) == 4;
}

static silt_status make_file(engine *e, str path, silt_error *err) {
    TRY(engine_keep_temp(e, err));
    FILE *file = fopen(path.ptr, "wxe");
    if (!file) return error_from_errno(err, errno, "open", path);
    bool written = write_file(file);
    int failure = errno;
    if (fclose(file) == 0 && written) return SILT_OK;
    return error_from_errno(err, written ? errno : failure, "write", path);
}

/* Two threads may make one each; the second is removed again. */
static bool keep_path(engine *e, char *made) {
    pthread_mutex_lock(&e->mutex);
    bool kept = e->empty_file == NULL;
    if (kept) e->empty_file = made;
    pthread_mutex_unlock(&e->mutex);
    return kept;
}

silt_status engine_empty_file(engine *e, str *out, silt_error *err) {
    pthread_mutex_lock(&e->mutex);
    char *known = e->empty_file;
    pthread_mutex_unlock(&e->mutex);
    if (!known) {
        char uuid[37], *made = NULL;
        uuid_generate(uuid);
        if (asprintf(&made, "%s/silt-%s.parquet", e->temp.path, uuid) < 0) return error_no_memory(err);
        silt_status status = make_file(e, str_of(made), err);
        if (status != SILT_OK || !keep_path(e, made)) {
            unlink(made);
            free(made);
            TRY(status);
        }
    }
    *out = str_of(e->empty_file);
    return SILT_OK;
}

void engine_remove_empty_file(engine *e) {
    if (e->empty_file) unlink(e->empty_file);
    free(e->empty_file);
}
