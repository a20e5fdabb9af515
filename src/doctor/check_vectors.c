/* Deletion vectors that have grown past their worth: a tenth of the rows of the files that have them. */
#include "delta/stats_fetch.h"
#include "doctor/check.h"

#define MANY_FILES    10
#define MANY_ROWS     1000 /* hidden; fewer cost nothing */
#define DELETED_SHARE 10   /* per cent of the rows of the files with vectors */
#define DELETED_OF    4    /* and such files are at least a quarter of all … */
#define MANY_DELETED  100  /* … or so many */

silt_status check_deletion_vectors(doctor *d, silt_error *err) {
    const survey *s;
    int64_t rows = 0, deleted = 0, records;
    TRY(doctor_survey(d, &s, err));
    if (s->dv_files < MANY_FILES || s->dv_rows < MANY_ROWS || (s->dv_files < MANY_DELETED && s->dv_files * DELETED_OF < s->files))
        return SILT_OK;
    arena *scratch = arena_new();
    silt_status status = scratch ? SILT_OK : error_no_memory(err);
    for (size_t i = 0; status == SILT_OK && i < s->n_dv_sample; i++) {
        delta_add add;
        arena_reset(scratch);
        status = delta_snapshot_file(d->snapshot, s->dv_sample[i], true, scratch, &add, err);
        if (status != SILT_OK || !stats_num_records(add.stats, scratch, &records)) continue;
        rows += records;
        deleted += add.dv.cardinality;
    }
    arena_free(scratch);
    TRY(status);
    if (rows == 0 || deleted * 100 < rows * DELETED_SHARE) return SILT_OK;
    doctor_finding *f =
        doctor_report(d, DOCTOR_WARNING, s->dv_files,
                      "%lld of %lld files have deletion vectors, which hide %lld rows: %lld %% of the rows in these files",
                      (long long)s->dv_files, (long long)s->files, (long long)s->dv_rows, (long long)(deleted * 100 / rows));
    return doctor_command(d, f, err, "REORG TABLE %.*s APPLY (PURGE)", STR_ARG(d->subject->sql_name));
}
