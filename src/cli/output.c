/*
 * Result formats. Each is three functions over one row buffer: begin (the columns), row, end. Everything streams: the table format alone looks at its first rows
 * to choose the column widths; rows that a terminal would wrap are shown as blocks, a line per column. With -o FILE the bytes go to a temporary neighbour that is renamed at the end, so that FILE is whole or absent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

#define WIDTH_ROWS 1000   /* rows that decide the table's column widths */
#define WIDTH_MAX  1000   /* a wider cell overflows its column */

typedef struct format_ops {
    const char *name;
    void (*begin)(output *o);
    void (*row)(output *o, const struct ArrowArray *batch, int64_t i);
    void (*end)(output *o);
} format_ops;

struct output {
    const format_ops *format;
    FILE *file;
    const char *path;
    char *temporary;
    struct ArrowSchema schema;
    text_buf line;
    int64_t rows;
    /* table: cells held back until the widths are known */
    char **held;
    size_t n_held, held_capacity;
    int *widths;
    bool flushed, as_blocks;
};

static void put_line(output *o) {
    fwrite(o->line.ptr, 1, o->line.len, o->file);
    o->line.len = 0;
}

/* ---- jsonl, json ---- */

static void json_row(output *o, const struct ArrowArray *batch, int64_t i) {
    value_write_json(&o->line, &o->schema, batch, i);
}

static void jsonl_row(output *o, const struct ArrowArray *batch, int64_t i) {
    json_row(o, batch, i);
    text_add_z(&o->line, "\n");
    put_line(o);
}

static void nothing(output *o) { (void)o; }
static void json_begin(output *o) { text_add_z(&o->line, "["); }

static void json_array_row(output *o, const struct ArrowArray *batch, int64_t i) {
    text_add_z(&o->line, o->rows ? ",\n " : "");
    json_row(o, batch, i);
    put_line(o);
}

static void json_end(output *o) {
    text_add_z(&o->line, "]\n");
    put_line(o);
}

/* ---- csv ---- */

static void csv_cell(text_buf *b, const char *s, size_t n) {
    bool quote = n == 0 || memchr(s, ',', n) || memchr(s, '"', n) || memchr(s, '\n', n) || memchr(s, '\r', n);
    if (!quote) {
        text_add(b, s, n);
        return;
    }
    text_add_z(b, "\"");
    for (size_t i = 0; i < n; i++) text_add(b, s[i] == '"' ? "\"\"" : s + i, s[i] == '"' ? 2 : 1);
    text_add_z(b, "\"");
}

static void csv_begin(output *o) {
    for (int64_t c = 0; c < o->schema.n_children; c++) {
        if (c) text_add_z(&o->line, ",");
        csv_cell(&o->line, o->schema.children[c]->name, strlen(o->schema.children[c]->name));
    }
    text_add_z(&o->line, "\n");
    put_line(o);
}

static void csv_row(output *o, const struct ArrowArray *batch, int64_t i) {
    text_buf cell = {0};
    for (int64_t c = 0; c < o->schema.n_children; c++) {
        cell.len = 0;
        if (c) text_add_z(&o->line, ",");
        if (value_write_text(&cell, o->schema.children[c], batch->children[c], i + batch->offset)) csv_cell(&o->line, cell.ptr ? cell.ptr : "", cell.len); /* NULL is empty, '' is "" */
    }
    free(cell.ptr);
    text_add_z(&o->line, "\n");
    put_line(o);
}

/* ---- table and markdown ---- */

/* Columns on a screen: code points, wide ones (CJK, emoji) twice. */
static int display_width(const char *s) {
    int width = 0;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if ((c & 0xC0) == 0x80) continue;
        width += c >= 0xF0 || (c >= 0xE3 && c <= 0xED) ? 2 : 1;
    }
    return width;
}

static char *cell_text(output *o, const struct ArrowArray *batch, int64_t c, int64_t i) {
    text_buf raw = {0}, shown = {0};
    if (!value_write_text(&raw, o->schema.children[c], batch->children[c], i + batch->offset)) text_add_z(&raw, "NULL");
    text_add_z(&shown, "");
    for (size_t k = 0; k < raw.len; k++) { /* a cell stays on its line */
        char ch = raw.ptr[k];
        if (ch == '\n') text_add_z(&shown, "\\n");
        else if (ch == '\r') text_add_z(&shown, "\\r");
        else if (ch == '\t') text_add_z(&shown, "\\t");
        else if ((unsigned char)ch < 0x20 || ch == 0x7F) text_printf(&shown, "\\x%02x", (unsigned char)ch);
        else text_add(&shown, &ch, 1);
    }
    free(raw.ptr);
    return shown.ptr;
}

static bool is_right_aligned(const struct ArrowSchema *s) { return strchr("csilfgd", s->format[0]) && s->format[0] != '\0' && strcmp(s->format, "n") != 0; }

static void pad(text_buf *b, int n, char c) {
    for (int i = 0; i < n; i++) text_add(b, &c, 1);
}

static void table_line(output *o, const char *const *cells, bool markdown) {
    for (int64_t c = 0; c < o->schema.n_children; c++) {
        int fill = o->widths[c] - display_width(cells[c]);
        bool right = is_right_aligned(o->schema.children[c]);
        text_add_z(&o->line, c ? (markdown ? " | " : "  ") : markdown ? "| " : "");
        if (right) pad(&o->line, fill, ' ');
        for (const char *p = cells[c]; *p; p++) text_add(&o->line, markdown && *p == '|' ? "\\|" : p, markdown && *p == '|' ? 2 : 1);
        if (!right && (markdown || c + 1 < o->schema.n_children)) pad(&o->line, fill, ' ');
    }
    text_add_z(&o->line, markdown ? " |\n" : "\n");
    put_line(o);
}

static void table_head(output *o, bool markdown) {
    int64_t n = o->schema.n_children;
    const char **names = calloc((size_t)n + 1, sizeof *names);
    if (!names) exit(EXIT_FAILED);
    for (int64_t c = 0; c < n; c++) names[c] = o->schema.children[c]->name;
    table_line(o, names, markdown);
    free(names);
    for (int64_t c = 0; c < n; c++) {
        text_add_z(&o->line, markdown ? (c ? "-" : "|-") : c ? "  " : "");
        pad(&o->line, o->widths[c], '-');
        if (markdown) text_add_z(&o->line, is_right_aligned(o->schema.children[c]) ? ":|" : "-|");
    }
    text_add_z(&o->line, "\n");
    put_line(o);
}

static bool is_markdown(const output *o) { return strcmp(o->format->name, "markdown") == 0; }

/* ---- blocks: a row too wide for the screen, a line per column ---- */

static int screen_width(const output *o) {
    struct winsize size;
    if (!isatty(fileno(o->file))) return 0;
    if (ioctl(fileno(o->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    return columns ? atoi(columns) : 0;
}

static bool is_too_wide(const output *o) {
    int screen = screen_width(o);
    int64_t width = 2 * (o->schema.n_children - 1);
    for (int64_t c = 0; c < o->schema.n_children; c++) width += o->widths[c];
    return screen > 0 && width > screen && o->schema.n_children > 1;
}

static void block_row(output *o, const char *const *cells, int64_t number) {
    int name_width = 0;
    for (int64_t c = 0; c < o->schema.n_children; c++) {
        int w = display_width(o->schema.children[c]->name);
        if (w > name_width) name_width = w;
    }
    text_printf(&o->line, "-- row %lld --\n", (long long)number);
    for (int64_t c = 0; c < o->schema.n_children; c++) {
        const char *name = o->schema.children[c]->name;
        text_add_z(&o->line, name);
        pad(&o->line, name_width - display_width(name), ' ');
        text_printf(&o->line, "  %s\n", cells[c]);
    }
    put_line(o);
}

static void held_row(output *o, size_t at, int64_t number) {
    const char *const *cells = (const char *const *)o->held + at;
    if (o->as_blocks) block_row(o, cells, number);
    else table_line(o, cells, is_markdown(o));
}

/* ---- */

static void table_flush(output *o) {
    size_t n = (size_t)o->schema.n_children;
    for (size_t c = 0; c < n; c++) {
        o->widths[c] = display_width(o->schema.children[c]->name);
        if (o->widths[c] < 3) o->widths[c] = 3;
        for (size_t i = c; i < o->n_held; i += n) {
            int w = display_width(o->held[i]);
            if (w > o->widths[c]) o->widths[c] = w < WIDTH_MAX ? w : WIDTH_MAX;
        }
    }
    o->as_blocks = !is_markdown(o) && o->n_held > 0 && is_too_wide(o);
    if (!o->as_blocks) table_head(o, is_markdown(o));
    for (size_t i = 0; i + n <= o->n_held; i += n) held_row(o, i, (int64_t)(i / n) + 1);
    for (size_t i = 0; i < o->n_held; i++) free(o->held[i]);
    o->n_held = 0;
    o->flushed = true;
}

static void table_begin(output *o) {
    o->flushed = false;
    o->widths = calloc((size_t)o->schema.n_children + 1, sizeof *o->widths);
    if (!o->widths) exit(EXIT_FAILED);
}

static void table_row(output *o, const struct ArrowArray *batch, int64_t i) {
    size_t n = (size_t)o->schema.n_children;
    if (o->n_held + n > o->held_capacity) {
        o->held_capacity = (o->n_held + n) * 2;
        o->held = realloc(o->held, o->held_capacity * sizeof *o->held);
        if (!o->held) exit(EXIT_FAILED);
    }
    for (size_t c = 0; c < n; c++) o->held[o->n_held + c] = cell_text(o, batch, (int64_t)c, i);
    o->n_held += n;
    if (o->flushed) {
        held_row(o, 0, o->rows + 1);
        for (size_t c = 0; c < n; c++) free(o->held[c]);
        o->n_held = 0;
    } else if (o->rows + 1 == WIDTH_ROWS) {
        table_flush(o);
    }
}

static void table_end(output *o) {
    if (!o->flushed) table_flush(o);
    if (!is_markdown(o)) fprintf(o->file, "(%lld row%s)\n", (long long)o->rows, o->rows == 1 ? "" : "s");
    free(o->widths);
    o->widths = NULL;
}

static const format_ops formats[] = {
    {"table", table_begin, table_row, table_end},
    {"csv", csv_begin, csv_row, nothing},
    {"json", json_begin, json_array_row, json_end},
    {"jsonl", nothing, jsonl_row, nothing},
    {"markdown", table_begin, table_row, table_end},
};

static const format_ops *find_format(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

const char *output_format_name(const char *name) {
    const format_ops *f = find_format(name);
    return f ? f->name : NULL;
}

output *output_open(const char *format, const char *file, const char *time_zone) {
    output *o = calloc(1, sizeof *o);
    if (!o) exit(EXIT_FAILED);
    o->format = find_format(format);
    o->file = stdout;
    if (time_zone && *time_zone) setenv("TZ", time_zone, 1); /* the table and csv forms show timestamps in the session's zone */
    if (!file) return o;
    o->path = file;
    o->temporary = text_of("%s.%ld.partial", file, (long)getpid());
    o->file = fopen(o->temporary, "w");
    if (o->file) return o;
    fprintf(stderr, "silt: cannot write %s: %s\n", file, strerror(errno));
    free(o->temporary);
    free(o);
    return NULL;
}

static int stream_failed(struct ArrowArrayStream *stream) {
    silt_error err;
    silt_stream_error(stream, &err);
    return report_error(&err);
}

/* A reader that went away (head) is told nothing. */
static int write_failed(void) {
    if (errno != EPIPE) fprintf(stderr, "silt: cannot write the result: %s\n", strerror(errno));
    return EXIT_FAILED;
}

int output_stream(output *o, struct ArrowArrayStream *stream) {
    int code = EXIT_DONE;
    struct ArrowArray batch;
    if (stream->get_schema(stream, &o->schema) != 0) code = stream_failed(stream);
    if (code == EXIT_DONE && o->schema.n_children > 0) {
        o->rows = 0;
        o->format->begin(o);
        for (;;) {
            if (stream->get_next(stream, &batch) != 0) {
                code = stream_failed(stream);
                break;
            }
            if (!batch.release) break;
            for (int64_t i = 0; i < batch.length; i++, o->rows++) o->format->row(o, &batch, i);
            batch.release(&batch);
            if (ferror(o->file)) {
                code = write_failed();
                break;
            }
        }
        if (code == EXIT_DONE) {
            o->format->end(o);
            if (!o->path && fflush(o->file) != 0) code = write_failed(); /* flushed: a reader learns of each statement as it ends */
        }
    }
    if (o->schema.release) o->schema.release(&o->schema);
    stream->release(stream);
    return code;
}

int output_close(output *o, bool commit) {
    int code = EXIT_DONE;
    bool already = ferror(o->file); /* and told by output_stream */
    if (fflush(o->file) != 0 || already) code = EXIT_FAILED;
    if (code != EXIT_DONE && !already && !o->path) (void)write_failed();
    if (o->path) {
        if (commit && code == EXIT_DONE && fsync(fileno(o->file)) != 0) code = EXIT_FAILED;
        if (fclose(o->file) != 0) code = EXIT_FAILED;
        if (commit && code == EXIT_DONE && rename(o->temporary, o->path) != 0) code = EXIT_FAILED;
        if (code != EXIT_DONE && commit) fprintf(stderr, "silt: cannot write %s: %s\n", o->path, strerror(errno));
        if (!commit || code != EXIT_DONE) unlink(o->temporary);
    }
    for (size_t i = 0; i < o->n_held; i++) free(o->held[i]); /* of a table that failed before its widths were known */
    free(o->widths);
    free(o->temporary);
    free(o->line.ptr);
    free(o->held);
    free(o);
    return code;
}
