/* The report's two forms. The JSON is built as the work goes on; docs/maintain.md describes its members. */
#include "cli/maintain_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct maintain_report {
    bool dry_run, quiet, as_json;
    text_buf json;
    text_buf findings; /* of the table */
    size_t n_tables, n_steps, n_failed, n_failed_tables;
    struct timespec began, step_began;
    char *table, *step;
    bool has_statement; /* the step's, printed on its line */
};

static double seconds_since(const struct timespec *t) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

static bool is_shown(const maintain_report *r) { return !r->quiet && !r->as_json; }

static void json_text(text_buf *b, const char *s) {
    text_add_z(b, "\"");
    for (; s && *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(b, "\\%c", c);
        else if (c == '\n')
            text_add_z(b, "\\n");
        else if (c < 0x20)
            text_printf(b, "\\u%04x", c);
        else
            text_add(b, s, 1);
    }
    text_add_z(b, "\"");
}

static void member_text(text_buf *b, const char *key, const char *v) {
    text_printf(b, ",\"%s\":", key);
    if (v)
        json_text(b, v);
    else
        text_add_z(b, "null");
}

static void add_now(text_buf *b, const char *key) {
    time_t t = time(NULL);
    struct tm tm;
    char text[40] = "";
    if (gmtime_r(&t, &tm)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    text_printf(b, "\"%s\":\"%s\"", key, text);
}

maintain_report *report_open(bool dry_run, bool quiet, bool as_json) {
    maintain_report *r = calloc(1, sizeof *r);
    if (!r) exit(EXIT_FAILED);
    r->dry_run = dry_run;
    r->quiet = quiet;
    r->as_json = as_json;
    clock_gettime(CLOCK_MONOTONIC, &r->began);
    text_add_z(&r->json, "{");
    add_now(&r->json, "started");
    text_printf(&r->json, ",\"dryRun\":%s,\"tables\":[", dry_run ? "true" : "false");
    return r;
}

void report_table_begin(maintain_report *r, const char *name) {
    text_add_z(&r->json, r->n_tables++ ? ",\n{\"table\":" : "\n{\"table\":");
    json_text(&r->json, name);
    text_add_z(&r->json, ",\"steps\":[");
    r->n_steps = 0;
    r->findings.len = 0;
    free(r->table);
    r->table = text_of("%s", name);
    if (is_shown(r)) printf("%s%s\n", r->n_tables > 1 ? "\n" : "", name);
}

void report_step_begin(maintain_report *r, const char *step, const char *statement) {
    if (r->n_steps++) text_add_z(&r->json, ",");
    text_add_z(&r->json, "\n  {\"step\":");
    json_text(&r->json, step);
    member_text(&r->json, "statement", statement);
    clock_gettime(CLOCK_MONOTONIC, &r->step_began);
    free(r->step);
    r->step = text_of("%s", step);
    r->has_statement = statement != NULL;
    if (!is_shown(r)) return;
    printf("  %-11s", step);
    for (const char *p = statement && r->dry_run ? statement : ""; *p; p++) putchar((unsigned char)*p < 0x20 ? ' ' : *p);
    fflush(stdout);
}

static void end_step(maintain_report *r, const char *status) {
    text_printf(&r->json, ",\"status\":\"%s\",\"seconds\":%.3f}", status, seconds_since(&r->step_began));
}

static const char *bytes_text(int64_t bytes, char out[32]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 4) v /= 1024, u++;
    snprintf(out, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
    return out;
}

void report_step_planned(maintain_report *r, int64_t files, int64_t bytes, bool at_most) {
    char size[32];
    if (files >= 0)
        text_printf(&r->json, ",\"cost\":{\"files\":%" PRId64 ",\"bytes\":%" PRId64 ",\"atMost\":%s}", files, bytes,
                    at_most ? "true" : "false");
    end_step(r, "planned");
    if (!is_shown(r)) return;
    puts("");
    if (files >= 0)
        printf("             rewrites %s%" PRId64 " file%s (%s)\n", at_most || strcmp(r->step, "optimize") == 0 ? "at most " : "",
               files, files == 1 ? "" : "s", bytes_text(bytes, size));
}

/* One line of what happened, by the columns that came back. */
static void tell_rows(const char *step, const result_rows *rows, bool dry_run, double seconds) {
    char before[32], after[32];
    int64_t removed = rows_i64(rows, 0, "metrics.numFilesRemoved", -1), added = rows_i64(rows, 0, "metrics.numFilesAdded", 0);
    if (removed == 0 && added == 0)
        printf("nothing to do");
    else if (removed >= 0)
        printf("%" PRId64 " files (%s) into %" PRId64 " (%s)", removed,
               bytes_text(rows_i64(rows, 0, "metrics.filesRemoved.totalSize", 0), before), added,
               bytes_text(rows_i64(rows, 0, "metrics.filesAdded.totalSize", 0), after));
    else if (strcmp(step, "vacuum") == 0 && dry_run)
        printf("\n             would delete %" PRId64 " files", rows->count);
    else if (strcmp(step, "doctor") == 0)
        printf(rows->count ? "%" PRId64 " finding%s" : "healthy", rows->count, rows->count == 1 ? "" : "s");
    else
        printf("done");
    if (!dry_run) printf("  (%.1f s)", seconds);
    puts("");
}

void report_step_done(maintain_report *r, const result_rows *rows) {
    bool is_result = rows && strcmp(r->step, "doctor") != 0;
    if (is_result && strcmp(r->step, "vacuum") == 0) text_printf(&r->json, ",\"files\":%" PRId64, r->dry_run ? rows->count : 0);
    if (is_result && strcmp(r->step, "vacuum") != 0 && rows->count > 0) {
        char *result = rows_json(rows, 0, "");
        text_add_z(&r->json, ",\"result\":");
        text_add_z(&r->json, result);
        free(result);
    }
    end_step(r, "done");
    if (!is_shown(r)) return;
    result_rows none = {0};
    if (r->dry_run && strcmp(r->step, "doctor") == 0) printf("\n             ");
    tell_rows(r->step, rows ? rows : &none, r->dry_run, seconds_since(&r->step_began));
}

void report_step_failed(maintain_report *r, const char *condition, const char *message, const char *hint) {
    r->n_failed++;
    text_add_z(&r->json, ",\"error\":{\"condition\":");
    json_text(&r->json, condition);
    member_text(&r->json, "message", message);
    member_text(&r->json, "hint", hint);
    text_add_z(&r->json, "}");
    end_step(r, "failed");
    if (is_shown(r))
        printf("%sfailed: [%s] %s\n", r->dry_run && r->has_statement ? "\n             " : "", condition, message);
    else
        fprintf(stderr, "%s: %s failed: [%s] %s\n", r->table, r->step, condition, message);
    if (hint && *hint) fprintf(is_shown(r) ? stdout : stderr, "             hint: %s\n", hint);
}

void report_findings(maintain_report *r, const result_rows *rows) {
    for (int64_t i = 0; i < rows->count; i++) {
        char *row = rows_json(rows, i, ""), *severity = rows_text(rows, i, "severity"), *check = rows_text(rows, i, "check"),
             *finding = rows_text(rows, i, "finding");
        if (i) text_add_z(&r->findings, ",");
        text_add_z(&r->findings, "\n  ");
        text_add_z(&r->findings, row);
        if (is_shown(r)) printf("    %-8s %s: %s\n", severity, check, finding);
        free(row);
        free(severity);
        free(check);
        free(finding);
    }
}

void report_table_end(maintain_report *r, bool good) {
    text_add_z(&r->json, "],\n \"findings\":[");
    if (r->findings.len) text_add(&r->json, r->findings.ptr, r->findings.len);
    text_printf(&r->json, "],\"ok\":%s}", good ? "true" : "false");
    r->n_failed_tables += !good;
}

static bool write_file(const char *path, const text_buf *b) {
    char *partial = text_of("%s.%ld.partial", path, (long)getpid());
    FILE *f = fopen(partial, "w");
    bool good = f && fwrite(b->ptr, 1, b->len, f) == b->len;
    good = f && fflush(f) == 0 && fsync(fileno(f)) == 0 && good;
    good = (!f || fclose(f) == 0) && good;
    if (good) good = rename(partial, path) == 0;
    if (!good) {
        fprintf(stderr, "silt: cannot write %s: %s\n", path, strerror(errno));
        unlink(partial);
    }
    free(partial);
    return good;
}

bool report_close(maintain_report *r, const char *file, int exit_status) {
    text_add_z(&r->json, "\n],");
    add_now(&r->json, "finished");
    text_printf(&r->json, ",\"seconds\":%.3f,\"failedSteps\":%zu,\"exitStatus\":%d}\n", seconds_since(&r->began), r->n_failed,
                exit_status);
    if (r->as_json)
        fwrite(r->json.ptr, 1, r->json.len, stdout);
    else if (is_shown(r)) {
        printf("\n%zu table%s", r->n_tables, r->n_tables == 1 ? "" : "s");
        if (r->n_failed_tables) printf(", %zu failed", r->n_failed_tables);
        printf(r->dry_run ? "; nothing was changed\n" : "\n");
    }
    bool good = !file || write_file(file, &r->json);
    free(r->json.ptr);
    free(r->findings.ptr);
    free(r->step);
    free(r->table);
    free(r);
    return good;
}
