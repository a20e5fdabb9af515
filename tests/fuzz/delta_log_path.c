/* Names of log files and paths of actions: any bytes. A name that is taken is written back by its parts; a canonical path does
 * not change any more. */
#include <stdio.h>
#include <stdlib.h>

#include "delta/file_batch.h"
#include "delta/log_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static void check_name(str name) {
    log_file_name n = log_path_parse(name);
    char text[128];
    if (n.kind == LOG_OTHER) return;
    must(n.version >= 0 && n.end_version >= n.version);
    switch (n.kind) {
        case LOG_COMMIT: snprintf(text, sizeof text, "%020lld.json", (long long)n.version); break;
        case LOG_CHECKSUM: snprintf(text, sizeof text, "%020lld.crc", (long long)n.version); break;
        case LOG_CHECKPOINT: snprintf(text, sizeof text, "%020lld.checkpoint.parquet", (long long)n.version); break;
        case LOG_COMPACTED:
            snprintf(text, sizeof text, "%020lld.%020lld.compacted.json", (long long)n.version, (long long)n.end_version);
            break;
        case LOG_CHECKPOINT_PART:
            snprintf(text, sizeof text, "%020lld.checkpoint.%010d.%010d.parquet", (long long)n.version, (int)n.part,
                     (int)n.parts);
            break;
        default: must(name.len == 20 + 12 + 36 + 5 || name.len == 20 + 12 + 36 + 8); return;
    }
    must(str_eqz(name, text));
}

static void check_path(str path) {
    char *once = malloc(path.len + 1);
    must(once != NULL);
    size_t n = path_canonical(path, once);
    must(n <= path.len);
    if (path_is_plain(path)) must(n == path.len && memcmp(once, path.ptr, n) == 0);
    if (!memchr(once, '%', n)) { /* decoding once may leave escapes; without them it is a fixed point */
        must(file_key(path, NULL) == file_key((str){once, n}, NULL) || (n >= 5 && memcmp(once, "file:", 5) == 0));
    }
    free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    check_name(text);
    if (size) check_path(text);
    return 0;
}
