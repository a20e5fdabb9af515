/**
 * A Parquet file without rows, which a scan of one file is given as its second: DuckDB reads a single file whose schema it is told with one thread, because it has not
 * looked at its row groups, but any list of several files with all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ident.h"
#include "engine/internal.h"

static silt_status make_file(engine *e, str path, silt_error *err) {
    if (mkdir(e->temp_directory, 0700) != 0 && errno != EEXIST)
        return error_from_errno(err, errno, "mkdir", str_of(e->temp_directory));
    engine_connection *c;
    TRY(engine_connect(e, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "COPY (SELECT true AS \"silt:none\" WHERE false) TO ");
    engine_write_literal(&sql, path);
    buf_append_z(&sql, " (FORMAT parquet)");
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_execute(c, text, err) : error_no_memory(err);
    buf_dispose(&sql);
    engine_disconnect(c);
    return status;
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
        if (asprintf(&made, "%s/silt-%s.parquet", e->temp_directory, uuid) < 0) return error_no_memory(err);
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
