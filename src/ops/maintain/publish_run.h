/** The parts of PUBLISH. Internal to ops/maintain. */
#ifndef OPS_MAINTAIN_PUBLISH_RUN_H
#define OPS_MAINTAIN_PUBLISH_RUN_H

#include "ops/internal.h"
#include "ops/maintain/publish.h"

#define PUBLISH_MARKER "_silt_publish.json" /* in every folder with files, and in the root: what PUBLISH wrote there */
#define PUBLISH_STAGE \
    ".silt-publish-" /* beside the folder, .<name>.silt-publish-<process>-<number>: what is being made, and what left. Not in it: some readers take hidden files too */

#define PUBLISH_LEFT \
    ".silt-published-" /* beside it too, .<name>.silt-published-<ms>-<number>: what has left, for readers that opened it before, until a later run */

/** One file of the table. */
typedef struct publish_file {
    size_t index; /**< in the snapshot */
    str path;     /**< as in the log */
    str dv;       /**< the deletion vector's id, "" without */
    str folder;   /**< of its partition, "p=1/q=2", "" */
    str name;     /**< in the copy, where it is taken as it is */
    int64_t size_bytes;
    bool has_dv, is_plain; /**< may be taken as it is */
} publish_file;

/** A partition as it is to be. */
typedef struct publish_folder {
    str path;
    size_t first, n;      /**< of the sorted files */
    char fingerprint[36]; /**< of everything that its content depends on */
    bool is_changed;
    bool is_built; /* in the stage, whole, by a run that was killed */
    str *rewritten; /**< names of files that were written for it */
    size_t n_rewritten, capacity;
} publish_folder;

/** What a marker says. */
typedef struct publish_marker {
    bool exists;
    str source;      /**< the table's root */
    str fingerprint; /**< of the folder, null in a root without files */
    str layout;      /**< names of the partition columns, in the root */
    const str *files;
    size_t n_files;
} publish_marker;

typedef struct publish_run {
    const op *o;
    const publish_spec *spec;
    publish_result *out;
    const data_type *schema; /**< of the copy: names as users see them, no VOID columns */
    write_target target;
    str stage;           /**< folder in which new folders are made, another one for each run */
    bool has_left;       /**< folders of the copy have come into the stage */
    bool whole;          /**< the folder changes as one: no partitions, or others than before */
    publish_file *files; /**< by folder */
    size_t n_files, files_capacity;
    publish_folder *folders;
    size_t n_folders, folders_capacity;
    str *leaving; /**< folders of the copy without a partition in the table */
    size_t n_leaving, leaving_capacity;
} publish_run;

/* ---- publish_plan.c ---- */
/** Files, folders and fingerprints of the snapshot. */
silt_status publish_list_table(publish_run *r) MUST_CHECK;
/** Compare with the markers of the copy: which folders change, which leave. Refuses what is not PUBLISH's. */
silt_status publish_compare(publish_run *r) MUST_CHECK;

/* ---- publish_resume.c ---- */
/**
 * The stage of another run, which was killed on this machine: folders that it finished and this run wants come into our stage. What had left the copy before it died is kept for readers
 * like that of any other run, in `left`; the rest goes.
 */
silt_status publish_resume(publish_run *r, str dead, str left) MUST_CHECK;
/** Remove a folder and all in it. */
silt_status publish_remove_tree(const publish_run *r, str folder) MUST_CHECK;

/* ---- publish_build.c ---- */
/** Everything that changes, in the stage, durable. */
silt_status publish_build(publish_run *r) MUST_CHECK;

/* ---- publish_marker.c ---- */
silt_status publish_marker_read(const publish_run *r, str folder, publish_marker *out) MUST_CHECK;
/** files: names of one folder; null fingerprint: a root without files of its own. */
silt_status publish_marker_write(const publish_run *r, str folder, str fingerprint, const str *files, size_t n) MUST_CHECK;
/** Remove a file, and a folder that is empty. One that is gone is as wanted: somebody was faster, or this very request came twice. A null path: no memory. */
silt_status publish_remove_file(const publish_run *r, str path) MUST_CHECK;
silt_status publish_remove_empty(const publish_run *r, str path) MUST_CHECK;
/** Remove a folder of ours: the marker's files, the marker, the folder. What else is in it stays: FOLDER_NOT_EMPTY. */
silt_status publish_remove_folder(const publish_run *r, str folder) MUST_CHECK;
/** Is there anything in the folder that PUBLISH did not write? Names it. */
silt_status publish_check_foreign(const publish_run *r, str folder, const publish_marker *m) MUST_CHECK;

#endif
