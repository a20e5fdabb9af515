/* silt load: files into a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

static bool parse_mode(const char *text, silt_save_mode *out) {
    static const struct { const char *name; silt_save_mode mode; } table[] = {
        {"append", SILT_APPEND}, {"overwrite", SILT_OVERWRITE}, {"error", SILT_ERROR_IF_EXISTS}, {"errorifexists", SILT_ERROR_IF_EXISTS}, {"ignore", SILT_IGNORE}};
    for (size_t i = 0; text && i < sizeof table / sizeof *table; i++) {
        if (strcasecmp(text, table[i].name) == 0) {
            *out = table[i].mode;
            return true;
        }
    }
    *out = SILT_APPEND;
    return text == NULL;
}

static bool has_key(const string_list *keys, const char *name) {
    for (size_t i = 0; i < keys->count; i++)
        if (strcasecmp(keys->items[i], name) == 0) return true;
    return false;
}

/* What someone who loads a file takes for granted: a CSV has a header and its types are found out, unless a schema is given. */
static void csv_defaults(options *o) {
    if (!has_key(&o->reader_keys, "header")) {
        list_add(&o->reader_keys, "header");
        list_add(&o->reader_values, "true");
    }
    if (!o->schema && !has_key(&o->reader_keys, "inferSchema")) {
        list_add(&o->reader_keys, "inferSchema");
        list_add(&o->reader_values, "true");
    }
}

/* A file has no CAST: its columns are read as the table has them. The message tells which: "… fields 'id': INT and BIGINT". */
static void hint_schema(silt_error *err) {
    const char *name = strchr(err->message, '\''), *type = name ? strstr(name, "': ") : NULL, *end = type ? strstr(type, " and ") : NULL;
    if (strcmp(err->condition, "DELTA_FAILED_TO_MERGE_FIELDS") != 0 || !end) return;
    (void)snprintf(err->hint, sizeof err->hint, "Have the files read with the table's types: --schema \"%.*s %.*s, …\" (all columns of the files).", (int)(type - name - 1), name + 1, (int)(end - type - 3), type + 3);
}

/* Of Parquet files also, when asked: were they taken as they are, or why not. */
static void report_load(const options *o, const silt_write_result *done) {
    if (o->quiet) return;
    if (done->version < 0) {
        puts("nothing was written");
        return;
    }
    printf("%" PRId64 " row%s in %" PRId64 " file%s, version %" PRId64 "\n", done->num_rows, done->num_rows == 1 ? "" : "s", done->num_files, done->num_files == 1 ? "" : "s", done->version);
    if (o->verbose && done->num_files_taken) puts(done->num_files_taken == 1 ? "the file was taken as it is" : "the files were taken as they are");
    if (o->verbose && done->why_rewritten[0]) printf("the rows were written anew: %s\n", done->why_rewritten);
}

int command_load(int argc, char **argv) {
    options o;
    silt_write_options w = {.struct_size = sizeof w};
    if (!options_parse(argc, argv, "l", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"load"});
    if (o.arguments.count == 0 || !o.into) return usage_error("'silt load' takes FILES and --into TABLE");
    if (!parse_mode(o.mode, &w.mode)) return usage_error("--mode takes append, overwrite, error or ignore, not '%s'", o.mode);
    if (o.replace_where && (!o.mode || strcmp(o.mode, "overwrite") != 0)) return usage_error("--replace-where goes with --mode overwrite");
    if ((o.txn_app == NULL) != (o.txn_version == NULL)) return usage_error("--txn-app and --txn-version go together");
    if (o.txn_version) {
        char *end;
        w.txn_version = strtoll(o.txn_version, &end, 10);
        if (*end || !*o.txn_version) return usage_error("--txn-version takes a whole number, not '%s'", o.txn_version);
    }
    csv_defaults(&o);
    w.partition_by = o.partition_by.items;
    w.n_partition_by = o.partition_by.count;
    w.merge_schema = o.merge_schema;
    w.overwrite_schema = o.overwrite_schema;
    w.replace_where = o.replace_where;
    w.txn_app_id = o.txn_app;
    w.user_metadata = o.user_metadata;
    w.property_keys = o.property_keys.items;
    w.property_values = o.property_values.items;
    w.n_properties = o.property_keys.count;
    silt_load_options l = {.struct_size = sizeof l, .format = o.input_format, .option_keys = o.reader_keys.items, .option_values = o.reader_values.items, .n_options = o.reader_keys.count, .schema = o.schema};
    silt_session *session = open_session(&o);
    if (!session) return EXIT_FAILED;
    silt_error err;
    silt_write_result done = {.struct_size = sizeof done};
    int code = EXIT_DONE;
    if (silt_load(session, o.into, o.arguments.items, o.arguments.count, &l, &w, &done, &err) != SILT_OK) {
        hint_schema(&err);
        code = report_error(&err);
    }
    else report_load(&o, &done);
    silt_session_close(session);
    return code;
}
