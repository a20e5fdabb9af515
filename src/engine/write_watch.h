/** Looking at a file while COPY writes it: its size, and an early start of what fsync would do at the end. */
#ifndef ENGINE_WRITE_WATCH_H
#define ENGINE_WRITE_WATCH_H

#include <stdint.h>

typedef struct write_watch {
    const char *path; /* borrowed; NULL: nothing to look at */
    int file;         /* -1 until it is there */
    int64_t looked_at_rows;
} write_watch;

#define WRITE_WATCH_NONE \
    { .path = NULL, .file = -1, .looked_at_rows = 0 }

/** Another file, or none (NULL). */
void write_watch_set(write_watch *w, const char *local_path);
/**
 * To be called as rows pass; looks every 30,000 rows. The kernel is told to begin writing: without that all of the file waits for the fsync at the end, which then
 * takes as long as a third of the whole write.
 * @return bytes on disk so far, 0 when it was not looked at
 */
int64_t write_watch_rows(write_watch *w, int64_t rows);

#endif
