/*
 * Verbs that only make a statement: optimize, vacuum, restore, … One row each: the options it takes, the statement it makes, and
 * what to say about the rows that come back. --format (or -o) prints the rows themselves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rows.h"

struct verb {
    const char *name, *summary, *groups; /* groups of options.c */
    size_t min_arguments, max_arguments;
    const char *arguments;                          /* for the usage error */
    bool (*build)(const options *o, text_buf *sql); /* false after a usage error */
    void (*tell)(const result_rows *r, const options *o, const char *message);
    const char *help;
};

/* ---- what is said ---- */

static void say_bytes(int64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 4) v /= 1024, u++;
    printf(u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* The library's own words where it has some. */
static void tell_message(const result_rows *r, const options *o, const char *message) {
    (void)r;
    if (*message)
        puts(message);
    else
        printf("%s: done\n", o->arguments.items[0]);
}

static void tell_generate(const result_rows *r, const options *o, const char *message) {
    (void)r, (void)message;
    printf("the manifest of %s is written (_symlink_format_manifest)\n", o->arguments.items[0]);
}

/* With --verify a row for each partition: rows before and after, which are equal, or the statement had failed. */
static void tell_convert(const result_rows *r, const options *o, const char *message) {
    enum { SHOWN = 20 };
    for (int64_t i = 0; i < r->count && i < SHOWN; i++) {
        char *partition = rows_text(r, i, "partition");
        printf("%s: %" PRId64 " rows before, %" PRId64 " after\n", partition && *partition ? partition : "the whole table", rows_i64(r, i, "rows_before", 0), rows_i64(r, i, "rows_after", 0));
        free(partition);
    }
    if (r->count > SHOWN) printf("… and %" PRId64 " more partitions (--format csv lists them all)\n", r->count - SHOWN);
    tell_message(r, o, message);
    if (r->count > 0) printf("%" PRId64 " partition%s compared: every count is the same\n", r->count, plural(r->count));
}

static void tell_optimize(const result_rows *r, const options *o, const char *message) {
    int64_t added = rows_i64(r, 0, "metrics.numFilesAdded", 0), removed = rows_i64(r, 0, "metrics.numFilesRemoved", 0);
    bool purge = strcmp(o->command, "purge") == 0;
    (void)message;
    if (added == 0 && removed == 0) {
        puts(purge ? "nothing to do: no file hides deleted rows" : "nothing to do: the files are as they should be");
        return;
    }
    printf("%s %" PRId64 " file%s (", purge ? "rewrote" : o->zorder.count ? "ordered" : "compacted", removed, plural(removed));
    say_bytes(rows_i64(r, 0, "metrics.filesRemoved.totalSize", 0));
    printf(") into %" PRId64 " (", added);
    say_bytes(rows_i64(r, 0, "metrics.filesAdded.totalSize", 0));
    puts(")");
}

static void tell_vacuum(const result_rows *r, const options *o, const char *message) {
    enum { SHOWN = 20 };
    for (int64_t i = 0; o->dry_run && i < r->count && i < SHOWN; i++) {
        char *path = rows_text(r, i, "path");
        printf("%s\n", path ? path : "");
        free(path);
    }
    if (o->dry_run && r->count > SHOWN) printf("… and %" PRId64 " more (--format csv lists them all)\n", r->count - SHOWN);
    if (*message)
        puts(message);
    else if (o->dry_run)
        printf("%" PRId64 " file%s would be deleted; nothing was\n", r->count, plural(r->count));
    else
        puts("vacuumed");
}

static void tell_restore(const result_rows *r, const options *o, const char *message) {
    int64_t restored = rows_i64(r, 0, "num_restored_files", 0), removed = rows_i64(r, 0, "num_removed_files", 0),
            files = rows_i64(r, 0, "num_of_files_after_restore", 0);
    (void)o, (void)message;
    printf("restored: %" PRId64 " file%s brought back (", restored, plural(restored));
    say_bytes(rows_i64(r, 0, "restored_files_size", 0));
    printf("), %" PRId64 " taken out (", removed);
    say_bytes(rows_i64(r, 0, "removed_files_size", 0));
    printf("); the table now has %" PRId64 " file%s (", files, plural(files));
    say_bytes(rows_i64(r, 0, "table_size_after_restore", 0));
    puts(")");
}

static void tell_clone(const result_rows *r, const options *o, const char *message) {
    int64_t files = rows_i64(r, 0, "source_num_of_files", 0), copied = rows_i64(r, 0, "num_copied_files", 0);
    (void)message;
    printf("cloned %s to %s: %" PRId64 " file%s (", o->arguments.items[0], o->arguments.items[1], files, plural(files));
    say_bytes(rows_i64(r, 0, "source_table_size", 0));
    if (o->deep) {
        printf("), %" PRId64 " of them copied (", copied);
        say_bytes(rows_i64(r, 0, "copied_files_size", 0));
        puts(")");
    } else {
        puts(") shared with it; nothing was copied");
    }
}

static void tell_repair(const result_rows *r, const options *o, const char *message) {
    int64_t paths = r->count;
    for (int64_t i = 0; i < r->count; i++) {
        char *path = rows_text(r, i, "dataFilePath");
        if (!path) path = rows_text(r, i, "path");
        if (path) puts(path);
        free(path);
    }
    if (*message && paths == 0)
        puts(message);
    else if (o->dry_run)
        printf("%" PRId64 " file%s of the log missing; nothing was changed\n", paths, paths == 1 ? " is" : "s are");
    else
        printf("%" PRId64 " missing file%s taken out of the log\n", paths, plural(paths));
}

/* ---- the statements ---- */

/* A predicate as it was typed; the line end closes a comment. */
static void add_where(text_buf *sql, const options *o) {
    if (!o->where) return;
    text_add_z(sql, " WHERE ");
    text_add_z(sql, o->where);
    text_add_z(sql, "\n");
}

static bool add_columns(text_buf *sql, const string_list *l) {
    for (size_t i = 0; i < l->count; i++) {
        const char *name = l->items[i] + strspn(l->items[i], " ");
        if (i) text_add_z(sql, ", ");
        if (sql_name(sql, name)) continue;
        usage_error("'%s' is no column name", name);
        return false;
    }
    return true;
}

static bool build_optimize(const options *o, text_buf *sql) {
    text_add_z(sql, "OPTIMIZE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    if (o->full) text_add_z(sql, " FULL");
    add_where(sql, o);
    if (o->zorder.count == 0) return true;
    text_add_z(sql, " ZORDER BY (");
    if (!add_columns(sql, &o->zorder)) return false;
    text_add_z(sql, ")");
    return true;
}

static bool build_purge(const options *o, text_buf *sql) {
    text_add_z(sql, "REORG TABLE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    add_where(sql, o);
    text_add_z(sql, " APPLY (PURGE)");
    return true;
}

static bool build_vacuum(const options *o, text_buf *sql) {
    if (o->full && o->lite) {
        usage_error("give --full or --lite, not both");
        return false;
    }
    text_add_z(sql, "VACUUM ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    if (o->full || o->lite) text_add_z(sql, o->full ? " FULL" : " LITE");
    if (o->retain && !sql_retain(sql, o->retain)) {
        usage_error("--retain takes hours or days, as 168h or 7d, not '%s'", o->retain);
        return false;
    }
    if (o->dry_run) text_add_z(sql, " DRY RUN");
    return true;
}

static void add_travel(text_buf *sql, const options *o) {
    if (o->version >= 0) text_printf(sql, " VERSION AS OF %" PRId64, o->version);
    if (!o->timestamp) return;
    text_add_z(sql, " TIMESTAMP AS OF ");
    sql_literal(sql, o->timestamp);
}

static bool build_restore(const options *o, text_buf *sql) {
    if (o->version < 0 && !o->timestamp) {
        usage_error("'silt restore' needs --version N or --timestamp T");
        return false;
    }
    text_add_z(sql, "RESTORE TABLE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    text_add_z(sql, " TO");
    add_travel(sql, o);
    return true;
}

static bool build_convert(const options *o, text_buf *sql) {
    text_add_z(sql, "CONVERT TO DELTA ");
    if (!sql_table(sql, o->arguments.items[0], "parquet")) return false;
    if (o->no_statistics) text_add_z(sql, " NO STATISTICS");
    if (!o->partitioned_by) return true;
    text_add_z(sql, " PARTITIONED BY (");
    text_add_z(sql, o->partitioned_by);
    text_add_z(sql, "\n)");
    return true;
}

static bool build_clone(const options *o, text_buf *sql) {
    text_add_z(sql, o->replace ? "CREATE OR REPLACE TABLE " : "CREATE TABLE ");
    if (!sql_table(sql, o->arguments.items[1], "delta")) return false;
    text_add_z(sql, o->deep ? " DEEP CLONE " : " SHALLOW CLONE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    add_travel(sql, o);
    return true;
}

static bool build_repair(const options *o, text_buf *sql) {
    text_add_z(sql, "FSCK REPAIR TABLE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    if (o->dry_run) text_add_z(sql, " DRY RUN");
    return true;
}

static bool build_generate(const options *o, text_buf *sql) {
    text_add_z(sql, "GENERATE symlink_format_manifest FOR TABLE ");
    return sql_table(sql, o->arguments.items[0], "delta");
}

static bool build_publish(const options *o, text_buf *sql) {
    text_add_z(sql, "PUBLISH TABLE ");
    if (!sql_table(sql, o->arguments.items[0], "delta")) return false;
    char *folder =
        strstr(o->arguments.items[1], "://") || o->arguments.items[1][0] == '/' ? text_of("%s", o->arguments.items[1]) : NULL;
    if (!folder) { /* relative to where the command runs */
        char *here = getcwd(NULL, 0);
        folder = text_of("%s/%s", here ? here : ".", o->arguments.items[1]);
        free(here);
    }
    text_add_z(sql, " TO ");
    sql_literal(sql, folder);
    free(folder);
    if (o->full) text_add_z(sql, " FULL");
    return true;
}

/* ---- the table ---- */

static const verb verbs[] = {
    {"optimize", "compact small files, order or cluster rows", "owzf", 1, 1, "one TABLE", build_optimize, tell_optimize,
     "silt optimize TABLE [--where PREDICATE] [--zorder A,B] [--full]\n"
     "\n"
     "  --where PREDICATE   only partitions for which it is true: \"day >= '2026-01-01'\"\n"
     "  --zorder A,B        order the rows along a Z-curve of these columns, so that queries that filter by any of them skip "
     "files\n"
     "  --full              a clustered table: cluster all files anew\n"
     "\n"
     "Small files become few large ones (delta.targetFileSize, 1 GB unless set). Rows stay as they are; writers that append "
     "meanwhile are not disturbed.\n"
     "The old files stay on the disk for time travel until 'silt vacuum'.\n"
     "\n"
     "  silt optimize /data/events --where \"day >= '2026-01-01'\" --zorder user_id\n"},
    {"vacuum", "delete files that no kept version needs", "ovyf", 1, 1, "one TABLE", build_vacuum, tell_vacuum,
     "silt vacuum TABLE [--retain 168h|7d] [--dry-run] [--full | --lite]\n"
     "\n"
     "  --retain T   keep what versions of the last T hours or days need (default: the table's "
     "delta.deletedFileRetentionDuration, 7 days)\n"
     "  --dry-run    list what would be deleted\n"
     "  --lite       go by the log alone; files that are in no version stay\n"
     "  --full       list the folder (the default)\n"
     "\n"
     "Versions older than that can no longer be read afterwards. A time shorter than the table's is refused unless\n"
     "--conf spark.databricks.delta.retentionDurationCheck.enabled=false is given: readers and writers that still work with an "
     "older version would fail.\n"
     "\n"
     "  silt vacuum /data/events --dry-run\n"},
    {"restore", "go back to an older version", "ot", 1, 1, "one TABLE", build_restore, tell_restore,
     "silt restore TABLE --version N | --timestamp T\n"
     "\n"
     "Makes a new version with the content of the old one: nothing is lost, and a restore can be undone by another. It fails, "
     "and changes nothing, if files of that\n"
     "version are gone.\n"
     "\n"
     "  silt restore /data/events --version 41\n"},
    {"convert", "make a Delta table of a folder of Parquet files", "ok", 1, 1, "one folder or table", build_convert, tell_convert,
     "silt convert PATH [--partitioned-by 'DAY DATE, …'] [--no-statistics] [--verify]\n"
     "\n"
     "  --partitioned-by COLUMNS   names and types of the partition folders (day=2026-01-31/…)\n"
     "  --no-statistics            do not read the files' footers for statistics (queries then skip no files)\n"
     "  --verify                   count the rows before and after, by partition, and compare\n"
     "\n"
     "The files stay where they are and are not rewritten; a log is put beside them, in one commit.\n"
     "\n"
     "  silt convert /data/days --partitioned-by 'day DATE' --verify\n"},
    {"clone", "copy a table, or share its files", "ote", 2, 2, "SOURCE and TARGET", build_clone, tell_clone,
     "silt clone SOURCE TARGET [--deep] [--version N | --timestamp T] [--replace]\n"
     "\n"
     "  --deep      copy the files (run again: only what is new); else the clone shares them, and needs them to stay\n"
     "  --replace   TARGET may be there\n"
     "\n"
     "  silt clone /data/events /backup/events --deep\n"},
    {"repair", "take files that are gone out of the log", "oy", 1, 1, "one TABLE", build_repair, tell_repair,
     "silt repair TABLE [--dry-run]\n"
     "\n"
     "For a table whose files were deleted by hand: queries work again, the rows of those files are given up (FSCK REPAIR "
     "TABLE).\n"
     "\n"
     "  silt repair /data/events --dry-run\n"},
    {"purge", "rewrite files that hide deleted rows", "ow", 1, 1, "one TABLE", build_purge, tell_optimize,
     "silt purge TABLE [--where PREDICATE]\n"
     "\n"
     "Files with deletion vectors are written without the deleted rows (REORG TABLE … APPLY (PURGE)); 'silt vacuum' then frees "
     "the old ones.\n"
     "\n"
     "  silt purge /data/events\n"},
    {"generate", "write the manifest for Hive, Presto and Athena", "o", 1, 1, "one TABLE", build_generate, tell_generate,
     "silt generate TABLE\n"
     "\n"
     "Writes _symlink_format_manifest, which engines that cannot read Delta go by. "
     "delta.compatibility.symlinkFormatManifest.enabled keeps it current.\n"
     "\n"
     "  silt generate /data/events\n"},
    {"publish", "a plain Parquet copy for other engines", "of", 2, 2, "TABLE and a folder", build_publish, tell_message,
     "silt publish TABLE DIR [--full]\n"
     "\n"
     "  --full   write the whole copy anew\n"
     "\n"
     "DIR gets the rows as plain Parquet files; partitions that changed since the last time are swapped, each at once. What was there before stays beside it, hidden,\n"
     "for readers that are at it, and is removed by the first run ten minutes later (--conf silt.publish.keepSeconds).\n"
     "\n"
     "  silt publish /data/events /export/events\n"},
};

size_t verb_count(void) { return sizeof verbs / sizeof *verbs; }
const char *verb_name(size_t i) { return verbs[i].name; }
const char *verb_summary(size_t i) { return verbs[i].summary; }
const char *verb_help(const verb *v) { return v->help; }

const verb *verb_find(const char *name) {
    for (size_t i = 0; i < verb_count(); i++)
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    return NULL;
}

/* ---- running one ---- */

static int run_and_tell(silt_session *session, const verb *v, const options *o, const char *sql) {
    struct ArrowArrayStream stream;
    result_rows rows;
    silt_error err;
    if (silt_query(session, sql, NULL, &stream, &err) != SILT_OK) return report_table_error(o, &err);
    char *message = text_of("%s", silt_stream_message(&stream)), *note = text_of("%s", silt_stream_note(&stream));
    int code = rows_read(&stream, &rows);
    if (code == EXIT_DONE && !o->quiet) {
        clear_progress();
        v->tell(&rows, o, message);
        if (*note) fprintf(stderr, "note: %s\n", note);
    }
    rows_free(&rows);
    free(message);
    free(note);
    return code;
}

static int run_and_print(silt_session *session, const options *o, const char *sql) {
    output *out =
        output_open(o->format ? o->format : "table", o->output, silt_session_get(session, "spark.sql.session.timeZone"));
    if (!out) return EXIT_FAILED;
    int code = run_statement(session, o, out, sql), closed = output_close(out, code == EXIT_DONE);
    return code ? code : closed;
}

int verb_run(const verb *v, int argc, char **argv) {
    options o;
    text_buf sql = {0};
    if (!options_parse(argc, argv, v->groups, &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", argv[0]});
    if (o.arguments.count < v->min_arguments || o.arguments.count > v->max_arguments)
        return usage_error("'silt %s' takes %s", v->name, v->arguments);
    if (o.format && strcmp(o.format, "parquet") == 0) return usage_error("'silt %s' has no Parquet output", v->name);
    if (o.verify) {
        list_add(&o.conf_keys, "silt.convert.verify");
        list_add(&o.conf_values, "true");
    }
    bool built = v->build(&o, &sql);
    silt_session *session = built ? open_session(&o) : NULL;
    int code = built ? EXIT_FAILED : EXIT_USAGE;
    if (session) code = o.format || o.output ? run_and_print(session, &o, sql.ptr) : run_and_tell(session, v, &o, sql.ptr);
    silt_session_close(session);
    free(sql.ptr);
    return code;
}
