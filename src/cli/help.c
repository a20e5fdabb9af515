/* silt help: one text per command. */
#include <string.h>

#include "cli/cli.h"

static const struct { const char *name, *summary, *text; } topics[] = {
    {"sql", "run SQL statements",
     "silt sql \"STATEMENT; …\" | -f FILE … | < FILE\n"
     "\n"
     "  -f, --file FILE     run the statements of a file ('-' is standard input)\n"
     "  --format FORMAT     table (default), csv, json, jsonl, markdown, parquet (needs -o)\n"
     "  -o, --output FILE   write the rows to FILE, which appears whole or not at all\n"
     "  --param NAME=VALUE  value of :NAME in the statements\n"
     "\n"
     "A script stops at the first statement that fails.\n"
     "\n"
     "  silt sql \"SELECT day, count(*) FROM delta.`/data/events` GROUP BY day\"\n"
     "  silt sql -f nightly.sql --param day=2026-01-31 --warehouse /data/wh\n"},
    {"shell", "interactive SQL (also: silt without a command)",
     "silt shell [--format FORMAT]\n\nStatements end with ';'. .help lists the shell's own commands.\n"},
    {"load", "bring CSV, JSON or Parquet files into a table",
     "silt load FILES… --into TABLE\n"
     "\n"
     "  --mode MODE             append (default), overwrite, error (if the table exists), ignore (if it exists)\n"
     "  --input-format FORMAT   csv, json (one object a line) or parquet; default: by the file's name\n"
     "  --option KEY=VALUE      reader option by Spark's name: header, sep, quote, escape, nullValue, dateFormat …\n"
     "                          (CSV: header=true and inferSchema=true unless given)\n"
     "  --schema DDL            the files' columns, \"id BIGINT, day DATE\"; default: found out\n"
     "  --partition-by A,B      partition columns of a new table\n"
     "  --property KEY=VALUE    table property of a new table\n"
     "  --merge-schema          add columns that the table lacks\n"
     "  --overwrite-schema      with overwrite: replace the table's columns\n"
     "  --replace-where PREDICATE   with overwrite: replace only the rows that satisfy it\n"
     "  --txn-app ID --txn-version N   skip the load if this application has committed that version before\n"
     "  --user-metadata TEXT    kept in the commit\n"
     "  --rewrite               write the rows of Parquet files anew, also where the files could be taken as they are\n"
     "  --verbose               say which of the two was done, and why\n"
     "\n"
     "TABLE is a catalog name, a path or a URI. Rows become visible all at once, as one version, or not at all.\n"
     "\n"
     "  silt load january.csv --into /data/events --partition-by day\n"},
    {"show", "what a table is: version, rows, files, protocol, properties", "silt show TABLE [--version N | --timestamp T] [--format json]\n"},
    {"history", "the versions of a table", "silt history TABLE [--limit N] [--format FORMAT] [-o FILE]\n"},
    {"files", "the data files of a version", "silt files TABLE [--version N | --timestamp T] [--format FORMAT] [-o FILE]\n"},
    {"changes", "which rows changed between versions (change data feed)",
     "silt changes TABLE --from N|TIME [--to N|TIME] [--limit N] [--format FORMAT] [-o FILE]\n"
     "\n"
     "  --from N|TIME   first version, or the first one at or after a time\n"
     "  --to N|TIME     last version (default: the newest), or the last one at or before a time\n"
     "  --limit N       at most so many rows\n"
     "\n"
     "Each row has _change_type (insert, delete, update_preimage, update_postimage), _commit_version and _commit_timestamp; rows come in the order of versions.\n"
     "The table needs delta.enableChangeDataFeed=true since the first of them.\n"
     "\n"
     "  silt changes /data/events --from 12 --format jsonl\n"},
    {"schema", "the columns of a version, what changed between two, a gate",
     "silt schema TABLE [--version N | --timestamp T] [--format json|table|…]\n"
     "silt schema TABLE --diff V1 V2 [--format FORMAT] [-o FILE]\n"
     "silt schema TABLE --expect FILE [--version N | --timestamp T]\n"
     "\n"
     "  --format json    Delta's schema JSON\n"
     "  --diff V1 V2     columns added (+), dropped (-) and changed (~) between two versions (also V1..V2), and which of it breaks readers\n"
     "  --expect FILE    a gate for loads: status 0 if the table has the columns of FILE (Delta's schema JSON, or DDL: \"id BIGINT NOT NULL, day DATE\"), 3 and the\n"
     "                   differences if not; the order of columns and their comments do not matter\n"
     "\n"
     "  silt schema /data/events --format json > events.schema.json\n"
     "  silt schema /data/events --expect events.schema.json && silt load today.csv --into /data/events\n"},
    {"doctor", "find what makes a table slow, large or unsafe",
     "silt doctor TABLE|DATABASE|PATH [--check NAME,…] [--readers ENGINE,…] [--filters COLUMN,…] [--longest-job T] [--fix] [--format json|jsonl|csv]\n"
     "\n"
     "  --check NAME,…       only these checks (docs/doctor.md describes each)\n"
     "  --readers ENGINE,…   who reads the table: trino-455, spark-3.5, delta-2.4, deltalake, duckdb, polars, hive, manifest (symlink manifest), parquet (lists the folder)\n"
     "  --filters COLUMN,…   columns that queries filter by: they should have statistics\n"
     "  --longest-job T      how long the longest reader or writer runs, '36 hours' (default: a day)\n"
     "  --fix                mend what is harmless to mend: write a checkpoint\n"
     "\n"
     "Each finding comes with its danger, its remedy and the command that mends it. Status: 0 healthy (or information only), 1 it could not be examined, 2 wrong usage,\n"
     "3 warnings, 4 danger: data or readers are at risk. DOCTOR TABLE t is the same as a statement.\n"
     "\n"
     "  silt doctor /data/events --readers trino-455,duckdb\n"},
    {"inspect", "draw a table's files, partitions and history as a page",
     "silt inspect TABLE --html FILE [--version N | --timestamp T]\n"
     "\n"
     "FILE is one page without links to anything else: file sizes, partitions, commits over time, growth, the doctor's findings, columns and protocol.\n"
     "\n"
     "  silt inspect /data/events --html events.html\n"},
    {"maintain", "keep many tables healthy by a policy",
     "silt maintain POLICY.toml [--dry-run] [--table NAME] [--report FILE] [--format json]\n"
     "\n"
     "  --dry-run       print the plan and what it would rewrite and delete; change nothing\n"
     "  --table NAME    only this table of the policy\n"
     "  --report FILE   a JSON report for schedulers\n"
     "\n"
     "  [defaults]                       # rules of every table that does not say otherwise\n"
     "  vacuum = true\n"
     "  [[table]]\n"
     "  name = \"/data/events\"            # or a catalog name\n"
     "  optimize = true                  # compact; with where = \"…\" or recent = { column = \"day\", days = 7 }, zorder = [\"a\", \"b\"], full = true\n"
     "  purge = true                     # rewrite files that hide deleted rows\n"
     "  checkpoint = true\n"
     "  vacuum = true                    # with retain = \"7d\"\n"
     "  doctor = true                    # with readers = [\"trino-455\"], filters = [\"user_id\"], longest_job = \"36 hours\", fail_on = \"danger\" | \"warning\" | \"never\"\n"
     "\n"
     "A table that fails does not stop the others. Status: 0 done, 1 something failed, 2 the policy is wrong (nothing was done), 3 or 4 the doctor found what fail_on names.\n"
     "docs/maintain.md has a systemd timer and a cron line.\n"},
    {"checkpoint", "write a checkpoint of the newest version now", "silt checkpoint TABLE\n"},
    {"cache", "what is kept here of files in remote stores",
     "silt cache [show | clear] [--format json]\n"
     "\n"
     "What queries read of remote files is kept in a folder of this machine, shared by all processes of one user: column by column, as it was needed.\n"
     "show tells its folder, size, entries and how often they were of use; clear removes all that no running query uses.\n"
     "\n"
     "  --conf silt.cache.dir=DIR        where (default $XDG_CACHE_HOME/silt/data, else ~/.cache/silt/data)\n"
     "  --conf silt.cache.maxSize=SIZE   how much is kept (10gb, 512mb; default a tenth of the free disk, at most 10gb); the longest unused goes first\n"},
    {"demo", "watch a table being made, loaded, queried and checked", "silt demo [FOLDER]\n\nWorks in a temporary folder unless one is given, which then must be empty or absent and is kept.\n"},
    {"formats", "how values are written",
     "JSON (json, jsonl): integers and doubles as numbers (NaN, Infinity, -Infinity as strings), decimals as strings with their scale, dates \"2026-01-31\", timestamps\n"
     "\"2026-01-31T10:00:00.000000Z\" in UTC, timestamp_ntz without the Z, binary as base64, maps as arrays of [key, value], structs as objects, variants as their JSON.\n"
     "table, csv, markdown: as Spark's CAST(x AS STRING), timestamps in the session's time zone. In csv NULL is empty and the empty string is \"\".\n"
     "On a terminal too narrow for the rows, table shows each row as a block, a line per column.\n"},
    {"protocol", "table features, and who else can use the table",
     "A Delta table's protocol tells every engine what it must know to read and to write it. Some statements raise it: CREATE TABLE and ALTER TABLE with properties\n"
     "such as delta.enableDeletionVectors, delta.columnMapping.mode or delta.enableRowTracking, ADD CONSTRAINT, CLUSTER BY, and columns of new types (TIMESTAMP_NTZ, VARIANT).\n"
     "Such a statement says what the protocol is now and which engines can no longer read or write the table.\n"
     "\n"
     "  --no-protocol-upgrade             or the configuration silt.protocol.noUpgrade=true: the statement fails instead\n"
     "                                    (PROTOCOL_UPGRADE_NOT_ALLOWED) and nothing is committed; a new table must be plain\n"
     "  ALTER TABLE t DROP FEATURE f      takes a feature out again, where Delta allows it\n"
     "  silt show TABLE                   shows versions and features\n"},
    {"exit", "exit status", "0 done, 1 failed (the condition and message on standard error; nothing half-committed), 2 wrong usage.\n"
     "doctor, maintain and schema --expect: 3 findings (warnings, or columns that differ), 4 dangers.\n"},
};

int command_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        for (size_t t = 0; t < sizeof topics / sizeof *topics; t++) {
            if (strcmp(argv[i], topics[t].name) == 0) {
                fputs(topics[t].text, stdout);
                return EXIT_DONE;
            }
        }
        const verb *v = verb_find(argv[i]);
        if (v) {
            fputs(verb_help(v), stdout);
            return EXIT_DONE;
        }
        return usage_error("no help for '%s'", argv[i]);
    }
    printf("Silt %s: Delta Lake tables without a JVM.\n\nusage: silt [COMMAND] [OPTIONS]\n\n", silt_version());
    for (size_t t = 0; t < sizeof topics / sizeof *topics; t++) {
        printf("  %-11s %s\n", topics[t].name, topics[t].summary);
        for (size_t v = 0; strcmp(topics[t].name, "maintain") == 0 && v < verb_count(); v++) printf("  %-11s %s\n", verb_name(v), verb_summary(v));
    }
    fputs("\n"
          "Options of every command:\n"
          "  --conf KEY=VALUE         configuration by Spark's names, e.g. spark.sql.session.timeZone=UTC\n"
          "  --properties-file FILE   the same from a spark-defaults.conf\n"
          "  --warehouse DIR          where managed tables and the local catalog live (default ./spark-warehouse); may be a\n"
          "                           location in a store: then the names are kept in silt.catalog.dir (./spark-warehouse)\n"
          "  --no-protocol-upgrade    fail rather than raise a table's protocol (silt help protocol)\n"
          "  --no-progress, -q        no progress line; say less\n"
          "\n"
          "'silt help COMMAND' tells more. TABLE is a catalog name (db.t), a path, or a URI.\n",
          stdout);
    return EXIT_DONE;
}
