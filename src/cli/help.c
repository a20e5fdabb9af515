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
    {"schema", "the columns of a version", "silt schema TABLE [--version N | --timestamp T] [--format json|table|…]\n\n--format json prints Delta's schema JSON.\n"},
    {"checkpoint", "write a checkpoint of the newest version now", "silt checkpoint TABLE\n"},
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
    {"exit", "exit status", "0 done, 1 failed (the condition and message on standard error; nothing half-committed), 2 wrong usage.\n"},
};

int command_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        for (size_t t = 0; t < sizeof topics / sizeof *topics; t++) {
            if (strcmp(argv[i], topics[t].name) == 0) {
                fputs(topics[t].text, stdout);
                return EXIT_DONE;
            }
        }
        return usage_error("no help for '%s'", argv[i]);
    }
    printf("Silt %s: Delta Lake tables without a JVM.\n\nusage: silt [COMMAND] [OPTIONS]\n\n", silt_version());
    for (size_t t = 0; t < sizeof topics / sizeof *topics; t++) printf("  %-11s %s\n", topics[t].name, topics[t].summary);
    fputs("\n"
          "Options of every command:\n"
          "  --conf KEY=VALUE         configuration by Spark's names, e.g. spark.sql.session.timeZone=UTC\n"
          "  --properties-file FILE   the same from a spark-defaults.conf\n"
          "  --warehouse DIR          where managed tables and the local catalog live (default ./spark-warehouse)\n"
          "  --no-protocol-upgrade    fail rather than raise a table's protocol (silt help protocol)\n"
          "  --no-progress, -q        no progress line; say less\n"
          "\n"
          "'silt help COMMAND' tells more. TABLE is a catalog name (db.t), a path, or a URI.\n",
          stdout);
    return EXIT_DONE;
}
