/* silt demo: a real table from nothing to a checked one, each step shown with the command that does it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static const char csv[] =
    "id,day,city,temperature\n"
    "1,2026-01-30,Oslo,-7.5\n2,2026-01-30,Nice,11.0\n3,2026-01-30,Riga,-3.2\n"
    "4,2026-01-31,Oslo,-9.1\n5,2026-01-31,Nice,12.4\n6,2026-01-31,Riga,\n";

/* The folder is filled in for %s; a step's rows are printed as a table. */
static const struct { const char *say, *sql; } steps[] = {
    {"Create a partitioned Delta table.",
     "CREATE TABLE readings (id BIGINT NOT NULL, day DATE, city STRING, temperature DOUBLE) USING DELTA PARTITIONED BY (day)"},
    {"Load a CSV file into it (silt load does the same from the command line).",
     "INSERT INTO readings SELECT cast(id AS BIGINT), cast(day AS DATE), city, cast(temperature AS DOUBLE) FROM csv.`%s/readings.csv` WITH (header = true)"},
    {"Query it.", "SELECT city, count(*) AS days, round(avg(temperature), 2) AS mean FROM readings GROUP BY city ORDER BY city"},
    {"Add a day.", "INSERT INTO readings VALUES (7, DATE '2026-02-01', 'Oslo', -4.0), (8, DATE '2026-02-01', 'Nice', 13.1)"},
    {"Replace one partition, and only that.", "INSERT OVERWRITE readings PARTITION (day = '2026-01-31') SELECT 6, 'Riga', -1.5"},
    {"Which files does a query read? The others are pruned by partition and statistics.", "EXPLAIN SELECT * FROM readings WHERE day = '2026-02-01' AND temperature > 0"},
    {"Travel in time: the table as it was before.", "SELECT day, count(*) AS n FROM readings VERSION AS OF 1 GROUP BY day ORDER BY day"},
    {"And now.", "SELECT day, count(*) AS n FROM readings GROUP BY day ORDER BY day"},
};

static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    if (!f) return false;
    bool ok = fputs(text, f) >= 0;
    return fclose(f) == 0 && ok;
}

static int step(silt_session *session, const options *o, const char *say, const char *sql) {
    printf("\n-- %s\n%s;\n\n", say, sql);
    fflush(stdout);
    output *out = output_open("table", NULL, "UTC");
    int code = run_statement(session, o, out, sql);
    output_close(out, code == EXIT_DONE);
    return code;
}

/* The log's own count against the rows that are there. */
static int check(silt_session *session, const char *table) {
    silt_error err;
    silt_snapshot *snapshot;
    struct ArrowArrayStream rows;
    struct ArrowArray batch;
    int64_t counted = 0;
    const char *columns[] = {"id"};
    silt_scan_options so = {.struct_size = sizeof so, .columns = columns, .n_columns = 1};
    if (silt_snapshot_open(session, table, SILT_LATEST, NULL, &snapshot, &err) != SILT_OK) return report_error(&err);
    int64_t by_log = silt_snapshot_num_records(snapshot, &err);
    if (silt_snapshot_scan(snapshot, &so, &rows, &err) != SILT_OK) {
        silt_snapshot_close(snapshot);
        return report_error(&err);
    }
    while (rows.get_next(&rows, &batch) == 0 && batch.release) {
        counted += batch.length;
        batch.release(&batch);
    }
    silt_stream_error(&rows, &err);
    rows.release(&rows);
    printf("\n-- Check it: the log says %lld rows in %lld files, reading them gives %lld.\n", (long long)by_log, (long long)silt_snapshot_num_files(snapshot), (long long)counted);
    silt_snapshot_close(snapshot);
    if (err.status != SILT_OK) return report_error(&err);
    if (by_log == counted) return EXIT_DONE;
    fputs("silt: the counts differ\n", stderr);
    return EXIT_FAILED;
}

static void remove_folder(const char *folder) {
    char *command = text_of("rm -rf -- '%s'", folder); /* a name from mkdtemp: no quotes in it */
    if (system(command) != 0) fprintf(stderr, "silt: cannot remove %s\n", folder);
    free(command);
}

int command_demo(int argc, char **argv) {
    options o;
    if (!options_parse(argc, argv, "", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"demo"});
    bool keep = o.arguments.count > 0;
    const char *tmp = getenv("TMPDIR");
    char *folder = keep ? text_of("%s", o.arguments.items[0]) : text_of("%s/silt-demo-XXXXXX", tmp ? tmp : "/tmp");
    if (keep ? mkdir(folder, 0777) != 0 && errno != EEXIST : !mkdtemp(folder)) {
        fprintf(stderr, "silt: cannot make %s: %s\n", folder, strerror(errno));
        return EXIT_FAILED;
    }
    char *file = text_of("%s/readings.csv", folder);
    if (!write_file(file, csv)) {
        fprintf(stderr, "silt: cannot write %s: %s\n", file, strerror(errno));
        return EXIT_FAILED;
    }
    char *warehouse = text_of("%s/warehouse", folder);
    o.warehouse = warehouse;
    list_add(&o.conf_keys, "spark.sql.session.timeZone");
    list_add(&o.conf_values, "UTC");
    printf("Silt %s demo, in %s\n", silt_version(), folder);
    silt_session *session = open_session(&o);
    int code = session ? EXIT_DONE : EXIT_FAILED;
    for (size_t i = 0; code == EXIT_DONE && i < sizeof steps / sizeof *steps; i++) {
        const char *place = strstr(steps[i].sql, "%s");
        char *sql = place ? text_of("%.*s%s%s", (int)(place - steps[i].sql), steps[i].sql, folder, place + 2) : text_of("%s", steps[i].sql);
        code = step(session, &o, steps[i].say, sql);
        free(sql);
    }
    if (code == EXIT_DONE) code = step(session, &o, "Every change is in the history.", "DESCRIBE HISTORY readings");
    if (code == EXIT_DONE) code = check(session, "readings");
    silt_session_close(session);
    if (keep && code == EXIT_DONE) printf("\nThe table stays: silt sql --warehouse %s \"SELECT * FROM readings\"\n", warehouse);
    else if (code == EXIT_DONE) puts("\nDone. Give a folder to keep the table: silt demo FOLDER");
    if (!keep) remove_folder(folder);
    free(warehouse);
    free(file);
    free(folder);
    return code;
}
