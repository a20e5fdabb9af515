/** What `silt inspect` gathers about a table, and its page. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "cli/rows.h"

#define SIZE_BINS 12 /* up to 64 KiB, 256 KiB, 1 MiB, … each four times the one before; the last is open */

typedef struct inspect_partition {
    char *label;
    int64_t files, bytes, rows;
} inspect_partition;

typedef struct inspect_state {               /* the table as of one version */
    int64_t version, ms, files, bytes, rows; /* rows -1: unknown */
} inspect_state;

typedef struct inspection {
    const char *table;
    int64_t version, ms, files, bytes, rows;
    char *described; /* silt_snapshot_describe_json */
    int64_t bin_files[SIZE_BINS], bin_bytes[SIZE_BINS];
    inspect_partition *partitions;
    size_t n_partitions, capacity;
    uint32_t *slots;
    size_t n_slots; /* over partitions, by label */
    bool is_partitioned;
    int64_t vector_files, deleted_rows;
    result_rows history, findings, columns;
    bool history_cut; /* older versions are there */
    inspect_state *states;
    size_t n_states; /* ascending */
} inspection;

/** EXIT_DONE, or what the command ends with after an error, which it printed. To be freed in every case. */
int inspect_gather(silt_session *session, const options *o, inspection *out);
void inspect_free(inspection *i);

/* ---- inspect_page.c ---- */
void inspect_page(const inspection *i, text_buf *out);
/** "64 KiB – 256 KiB" */
char *size_bin_label(int bin);

#endif
