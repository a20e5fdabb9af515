/* The page of `silt inspect`: what the table is, what is wrong with it, and its shape in charts. Every text of the table goes through page_text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect.h"
#include "cli/json_text.h"
#include "cli/page.h"

#define PARTITIONS_SHOWN 30

/* ---- head ---- */

static void tile(text_buf *b, const text_buf *value, const char *label) {
    text_add_z(b, "<div><b>");
    text_add(b, value->ptr, value->len);
    text_add_z(b, "</b><span>");
    page_text(b, label);
    text_add_z(b, "</span></div>");
}

static void number_tile(text_buf *b, int64_t n, const char *label) {
    text_buf v = {0};
    if (n < 0)
        text_add_z(&v, "unknown");
    else
        page_number(&v, n);
    tile(b, &v, label);
    free(v.ptr);
}

static void bytes_tile(text_buf *b, int64_t n, const char *label) {
    text_buf v = {0};
    page_bytes(&v, n);
    tile(b, &v, label);
    free(v.ptr);
}

static void head(text_buf *b, const inspection *i) {
    char *location = json_member_text(i->described, "location"), *description = json_member_text(i->described, "description");
    text_add_z(b, "<header><h1>");
    page_text(b, i->table);
    text_add_z(b, "</h1><p>");
    if (location && strcmp(location, i->table) != 0) {
        page_text(b, location);
        text_add_z(b, "</p><p>");
    }
    if (description && *description) {
        page_text(b, description);
        text_add_z(b, "</p><p>");
    }
    text_printf(b, "Version %" PRId64 ", committed ", i->version);
    page_time(b, i->ms);
    text_add_z(b, " UTC</p></header>\n<div class=\"tiles\">");
    number_tile(b, i->rows, "rows");
    bytes_tile(b, i->bytes, "data");
    number_tile(b, i->files, i->files == 1 ? "file" : "files");
    bytes_tile(b, i->files ? i->bytes / i->files : 0, "mean file size");
    if (i->is_partitioned) number_tile(b, (int64_t)i->n_partitions, i->n_partitions == 1 ? "partition" : "partitions");
    if (i->vector_files) number_tile(b, i->deleted_rows, "deleted rows still in files");
    text_add_z(b, "</div>\n");
    free(location);
    free(description);
}

/* ---- findings ---- */

static void paragraph(text_buf *b, const result_rows *r, int64_t row, const char *column, const char *before, const char *after) {
    char *text = rows_text(r, row, column);
    if (text && *text) {
        text_add_z(b, before);
        page_text(b, text);
        text_add_z(b, after);
    }
    free(text);
}

static void findings(text_buf *b, const inspection *i) {
    page_section(b, "Findings of the doctor", NULL);
    if (i->findings.count == 0) text_add_z(b, "<p class=\"good\">Nothing found: the table is healthy.</p>\n");
    for (int64_t row = 0; row < i->findings.count; row++) {
        char *severity = rows_text(&i->findings, row, "severity");
        text_add_z(b, "<div class=\"finding ");
        page_text(b, severity);
        text_add_z(b, "\"><h3><span class=\"s\">");
        page_text(b, severity);
        text_add_z(b, "</span>");
        paragraph(b, &i->findings, row, "check", "", "");
        paragraph(b, &i->findings, row, "finding", "</h3><p>", "</p>");
        int64_t n = rows_list_count(&i->findings, row, "examples");
        if (n) text_add_z(b, "<ul class=\"plain\">");
        for (int64_t k = 0; k < n; k++) {
            char *example = rows_list_text(&i->findings, row, "examples", k);
            text_add_z(b, "<li><code>");
            page_text(b, example);
            text_add_z(b, "</code></li>");
            free(example);
        }
        if (n) text_add_z(b, "</ul>");
        paragraph(b, &i->findings, row, "danger", "<p class=\"d\">", "</p>");
        paragraph(b, &i->findings, row, "remedy", "<p class=\"d\">", "</p>");
        paragraph(b, &i->findings, row, "command", "<pre>", "</pre>");
        text_add_z(b, "</div>\n");
        free(severity);
    }
    page_section_end(b);
}

/* ---- files and partitions ---- */

char *size_bin_label(int bin) {
    text_buf b = {0};
    int64_t upper = (int64_t)(64 << 10) << (2 * bin);
    if (bin + 1 < SIZE_BINS) {
        text_add_z(&b, "to ");
        page_bytes(&b, upper);
    } else {
        text_add_z(&b, "over ");
        page_bytes(&b, upper / 4);
    }
    return b.ptr;
}

static void file_sizes(text_buf *b, const inspection *i) {
    chart_bar bars[SIZE_BINS] = {{0}};
    int first = 0, last = SIZE_BINS - 1;
    while (first < last && i->bin_files[first] == 0) first++;
    while (last > first && i->bin_files[last] == 0) last--;
    if (first > 0) first--;
    if (last + 1 < SIZE_BINS) last++;
    for (int k = first; k <= last; k++) {
        text_buf tip = {0};
        char *label = size_bin_label(k);
        text_add_z(&tip, label);
        text_add_z(&tip, ": ");
        page_number(&tip, i->bin_files[k]);
        text_add_z(&tip, i->bin_files[k] == 1 ? " file, " : " files, ");
        page_bytes(&tip, i->bin_bytes[k]);
        bars[k] = (chart_bar){.label = label, .tip = tip.ptr, .value = (double)i->bin_files[k]};
    }
    page_section(b, "File sizes", "Files by size. A few hundred MiB are a good size; many small ones make queries slow.");
    chart_columns(b, bars + first, (size_t)(last - first + 1), true, false);
    page_section_end(b);
    for (int k = first; k <= last; k++) {
        free(bars[k].label);
        free(bars[k].tip);
    }
}

static int by_bytes(const void *x, const void *y) {
    const inspect_partition *a = x, *c = y;
    if (a->bytes != c->bytes) return a->bytes < c->bytes ? 1 : -1;
    return strcmp(a->label, c->label);
}

static void partition_note(text_buf *b, const inspect_partition *sorted, size_t n) {
    int64_t median = sorted[n / 2].bytes;
    text_add_z(b, "<p class=\"note\">");
    text_printf(b, "%zu partition%s, the largest first. Half of them have at most ", n, n == 1 ? "" : "s");
    page_bytes(b, median > 0 ? median : 0);
    if (median > 0 && sorted[0].bytes / median >= 2)
        text_printf(b, "; the largest has %.0f times that", (double)sorted[0].bytes / (double)median);
    text_add_z(b, ".</p>\n");
}

static void partitions(text_buf *b, const inspection *i) {
    if (!i->is_partitioned || i->n_partitions == 0) return;
    inspect_partition *sorted = malloc(i->n_partitions * sizeof *sorted);
    chart_bar bars[PARTITIONS_SHOWN] = {{0}};
    if (!sorted) exit(EXIT_FAILED);
    memcpy(sorted, i->partitions, i->n_partitions * sizeof *sorted);
    qsort(sorted, i->n_partitions, sizeof *sorted, by_bytes);
    size_t n = i->n_partitions < PARTITIONS_SHOWN ? i->n_partitions : PARTITIONS_SHOWN;
    for (size_t k = 0; k < n; k++) {
        text_buf tip = {0};
        page_bytes(&tip, sorted[k].bytes);
        text_printf(&tip, " in %" PRId64 " file%s", sorted[k].files, sorted[k].files == 1 ? "" : "s");
        bars[k] = (chart_bar){.label = sorted[k].label, .tip = tip.ptr, .value = (double)sorted[k].bytes};
    }
    page_section(b, "Partitions", NULL);
    partition_note(b, sorted, i->n_partitions);
    chart_rows(b, bars, n);
    if (n < i->n_partitions)
        text_printf(b, "<p class=\"note\" style=\"margin-top:.6rem\">… and %zu smaller ones.</p>\n", i->n_partitions - n);
    page_section_end(b);
    for (size_t k = 0; k < n; k++) free(bars[k].tip);
    free(sorted);
}

/* ---- history ---- */

static const char *const kinds[] = {"writes", "deletes, updates, merges", "maintenance", "other"};

static int kind_of(const char *operation) {
    static const struct {
        const char *begin;
        int kind;
    } table[] = {
        {"WRITE", 0},    {"STREAMING", 0}, {"CREATE TABLE AS", 0}, {"REPLACE TABLE AS", 0},
        {"COPY", 0},     {"DELETE", 1},    {"UPDATE", 1},          {"MERGE", 1},
        {"TRUNCATE", 1}, {"OPTIMIZE", 2},  {"VACUUM", 2},          {"REORG", 2},
        {"RESTORE", 2},  {"FSCK", 2},      {"CONVERT", 2},         {"CLONE", 2},
    };
    for (size_t k = 0; operation && k < sizeof table / sizeof *table; k++)
        if (strncmp(operation, table[k].begin, strlen(table[k].begin)) == 0) return table[k].kind;
    return 3;
}

static void commits(text_buf *b, const inspection *i) {
    chart_event *events = calloc((size_t)i->history.count + 1, sizeof *events);
    if (!events) exit(EXIT_FAILED);
    for (int64_t row = 0; row < i->history.count; row++) {
        char *operation = rows_text(&i->history, row, "operation");
        events[row] = (chart_event){rows_i64(&i->history, row, "timestamp", 0) / 1000, kind_of(operation)};
        free(operation);
    }
    page_section(b, "Commits over time", i->history_cut ? "The newest 2,000 versions." : "The versions that the log still has.");
    chart_timeline(b, events, (size_t)i->history.count, kinds, sizeof kinds / sizeof *kinds);
    page_section_end(b);
    free(events);
}

static void growth(text_buf *b, const inspection *i, bool rows) {
    chart_point *points = calloc(i->n_states + 1, sizeof *points);
    size_t n = 0;
    if (!points) exit(EXIT_FAILED);
    for (size_t k = 0; k < i->n_states; k++) {
        const inspect_state *s = &i->states[k];
        text_buf tip = {0};
        if (rows && s->rows < 0) continue;
        text_printf(&tip, "version %" PRId64 ", ", s->version);
        page_time(&tip, s->ms);
        text_add_z(&tip, ": ");
        if (rows)
            page_number(&tip, s->rows);
        else
            page_bytes(&tip, s->bytes);
        text_printf(&tip, rows ? " rows" : " in %" PRId64 " files", s->files);
        points[n++] = (chart_point){s->ms, (double)(rows ? s->rows : s->bytes), tip.ptr};
    }
    page_section(b, rows ? "Rows" : "Size",
                 rows ? "Live rows of the versions that were looked at."
                      : "Bytes of the files of the versions that were looked at.");
    chart_line(b, points, n, !rows, rows ? 2 : 0);
    page_section_end(b);
    for (size_t k = 0; k < n; k++) free(points[k].tip);
    free(points);
}

static void recent_commits(text_buf *b, const inspection *i) {
    page_section(b, "Last commits", NULL);
    text_add_z(
        b,
        "<div class=\"scroll\"><table><tr><th class=\"n\">version</th><th>time (UTC)</th><th>operation</th><th>engine</th></tr>");
    for (int64_t row = 0; row < i->history.count && row < 15; row++) {
        char *operation = rows_text(&i->history, row, "operation"), *engine = rows_text(&i->history, row, "engineInfo");
        text_printf(b, "<tr><td class=\"n\">%" PRId64 "</td><td>", rows_i64(&i->history, row, "version", -1));
        page_time(b, rows_i64(&i->history, row, "timestamp", 0) / 1000);
        text_add_z(b, "</td><td>");
        page_text(b, operation);
        text_add_z(b, "</td><td>");
        page_text(b, engine);
        text_add_z(b, "</td></tr>");
        free(operation);
        free(engine);
    }
    text_add_z(b, "</table></div>\n");
    page_section_end(b);
}

/* ---- what the table is ---- */

static void columns(text_buf *b, const inspection *i) {
    page_section(b, "Columns", NULL);
    text_add_z(b, "<div class=\"scroll\"><table><tr><th>name</th><th>type</th><th>comment</th></tr>");
    for (int64_t row = 0; row < i->columns.count; row++) {
        char *name = rows_text(&i->columns, row, "col_name"), *type = rows_text(&i->columns, row, "data_type"),
             *comment = rows_text(&i->columns, row, "comment");
        if (name && name[0] == '#' && strncmp(name, "# Partition", 11) == 0)
            row = i->columns.count; /* they stand above already */
        else {
            text_add_z(b, "<tr><td><code>");
            page_text(b, name);
            text_add_z(b, "</code></td><td class=\"long\"><code>");
            page_text(b, type);
            text_add_z(b, "</code></td><td>");
            page_text(b, comment);
            text_add_z(b, "</td></tr>");
        }
        free(name);
        free(type);
        free(comment);
    }
    text_add_z(b, "</table></div>\n");
    page_section_end(b);
}

static void add_pair(void *ctx, const char *key, const char *v) {
    text_buf *b = ctx;
    text_add_z(b, "<tr><td><code>");
    page_text(b, key);
    text_add_z(b, "</code></td><td>");
    page_text(b, v);
    text_add_z(b, "</td></tr>");
}

static void protocol(text_buf *b, const inspection *i) {
    page_section(b, "Protocol and properties", "What an engine must know to read and write the table.");
    text_add_z(b, "<div class=\"scroll\"><table>");
    json_each_member(i->described, "protocol", add_pair, b);
    json_each_member(i->described, "configuration", add_pair, b);
    text_add_z(b, "</table></div>\n");
    page_section_end(b);
}

void inspect_page(const inspection *i, text_buf *b) {
    char *title = text_of("%s, version %" PRId64, i->table, i->version);
    page_begin(b, title);
    head(b, i);
    findings(b, i);
    text_add_z(b, "<div class=\"pair\">\n");
    file_sizes(b, i);
    commits(b, i);
    growth(b, i, false);
    growth(b, i, true);
    text_add_z(b, "</div>\n");
    partitions(b, i);
    columns(b, i);
    text_add_z(b, "<div class=\"pair\">\n");
    recent_commits(b, i);
    protocol(b, i);
    text_add_z(b, "</div>\n<footer>Made by Silt ");
    page_text(b, silt_version());
    text_add_z(b, ".</footer>\n");
    page_end(b);
    free(title);
}
