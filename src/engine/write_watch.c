/** See write_watch.h. */
#include "engine/write_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_BETWEEN 30000

void write_watch_set(write_watch *w, const char *local_path) {
    if (w->file >= 0) close(w->file);
    *w = (write_watch){.path = local_path, .file = -1};
}

int64_t write_watch_rows(write_watch *w, int64_t rows) {
    struct stat sb;
    if (!w->path || rows - w->looked_at_rows < ROWS_BETWEEN) return 0;
    w->looked_at_rows = rows;
    if (w->file < 0) w->file = open(w->path, O_RDONLY | O_CLOEXEC);
    if (w->file < 0 || fstat(w->file, &sb) != 0) return 0;
    (void)sync_file_range(w->file, 0, 0, SYNC_FILE_RANGE_WRITE);
    return (int64_t)sb.st_size;
}
