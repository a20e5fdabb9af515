/** The command line: what its files share. Public headers only. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "silt/silt.h"

/** What commands end with. The last two: they ran, and found something (doctor, maintain, schema --expect). */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_WARNING = 3, EXIT_DANGER = 4 };

typedef struct string_list { const char **items; size_t count, capacity; } string_list;
void list_add(string_list *l, const char *item); /* exits on exhaustion, as a program may */
typedef struct text_buf { char *ptr; size_t len, capacity; } text_buf;
/** printf into fresh memory. */
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Options that every command takes, parsed out of argv by options_parse. */
typedef struct options {
    const char *command;
    string_list conf_keys, conf_values;
    string_list param_names, param_values;
    const char *format; /* NULL: table on a terminal and in a pipe alike */
    const char *output; /* -o FILE */
    int64_t version;
    const char *timestamp;
    bool no_progress, quiet, help;
    /* of single commands */
    string_list files;  /* -f */
    string_list reader_keys, reader_values, property_keys, property_values, partition_by;
    const char *into, *mode, *input_format, *schema, *txn_app, *txn_version, *user_metadata, *warehouse;
    bool merge_schema, overwrite_schema, verbose;
    const char *replace_where;
    int64_t limit;
    /* maintenance */
    const char *where, *retain, *partitioned_by, *html, *report, *expect, *longest_job, *policy_table;
    string_list zorder, checks, readers, filters;
    bool full, lite, dry_run, no_statistics, verify, deep, replace, fix;
    int64_t diff_from, diff_to; /* -1: not given */
    const char *from, *to; /* a version or a time */
    string_list arguments; /* what is no option */
} options;

/** false after a usage error, which it printed. `allowed`: letters of the groups that the command takes, see options.c. */
bool options_parse(int argc, char **argv, const char *allowed, options *out);
/** Opens a session with the options' settings; prints the error. */
silt_session *open_session(const options *o);
/** Takes a progress line off the terminal. */
void clear_progress(void);
/** Prints "[CONDITION] message", detail and hint to stderr; returns EXIT_FAILED. */
int report_error(const silt_error *err);
/** The same for a command whose arguments name tables: says so where a name that is not found is that of a folder. */
int report_table_error(const options *o, const silt_error *err);
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** delta.`path` for a path or URI, the name itself for a catalog name. */
char *table_sql(const char *table);
/* ---- parts of statements (sql_text.c) ---- */
/** A script's first statement, which silt_script_next found to end at `end`, without the ';' that ends it: where it breaks off there, the error says so. */
char *script_statement(const char *script, size_t end);
void sql_quoted(text_buf *sql, const char *name, size_t n, char quote);
void sql_literal(text_buf *sql, const char *text);
/** A dotted name with every part in backticks; false when it is none. */
bool sql_name(text_buf *sql, const char *name);
/** A table by name, or format.`path` for a path or URI; false after a usage error, which it printed. */
bool sql_table(text_buf *sql, const char *table, const char *format);
bool is_path(const char *table);
/** "168", "168h", "7d" as RETAIN … HOURS; false when it is none of these. */
bool sql_retain(text_buf *sql, const char *text);
/** The whole of a file ("-" = stdin), NUL-terminated; NULL after an error, which it printed. */
char *read_text(const char *path);

/* ---- output ---- */
typedef struct output output;
/** Format by name: table, csv, json, jsonl, markdown. file NULL = stdout; otherwise the file appears whole at output_close(commit). NULL after an error, which it printed. */
output *output_open(const char *format, const char *file, const char *time_zone);
/** Print all rows of a stream and release it. A stream without columns prints nothing. */
int output_stream(output *o, struct ArrowArrayStream *stream);
/** EXIT_DONE, or EXIT_FAILED when writing failed. */
int output_close(output *o, bool commit);
/** The name as a constant of the program, NULL for an unknown format. */
const char *output_format_name(const char *format);
/** Run one statement and print it. */
int run_statement(silt_session *session, const options *o, output *out, const char *sql);

/* ---- values of Arrow arrays as text (value.c) ---- */
void text_add(text_buf *b, const char *bytes, size_t len);
void text_add_z(text_buf *b, const char *z);
void text_printf(text_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** JSON by the rules of `silt help formats`. */
void value_write_json(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row);
/** As Spark's CAST(x AS STRING) shows it; false for NULL (nothing appended). Timestamps in the process's zone. */
bool value_write_text(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row);

/* ---- one per command ---- */
int command_sql(int argc, char **argv);
int command_shell(int argc, char **argv);
int command_load(int argc, char **argv);
int command_show(int argc, char **argv);
int command_history(int argc, char **argv);
int command_files(int argc, char **argv);
int command_changes(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_maintain(int argc, char **argv);
int command_checkpoint(int argc, char **argv);
int command_cache(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_help(int argc, char **argv);
/** A command that only makes a statement (verbs.c), NULL where `name` is none. */
typedef struct verb verb;
const verb *verb_find(const char *name);
int verb_run(const verb *v, int argc, char **argv);
size_t verb_count(void);
const char *verb_name(size_t i);
const char *verb_summary(size_t i);
/** The text of `silt help VERB`. */
const char *verb_help(const verb *v);

/** Ctrl-C stops the session's running statement. */
void interrupt_attach(silt_session *session);
bool interrupt_seen(void); /* since the last call */

#endif
