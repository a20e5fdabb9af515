/**
 * A self-contained HTML page: text that cannot become markup, and charts as inline SVG whose words are HTML, so that they are
 * readable at any width.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/cli.h"

/** Text from outside: markup and control characters are escaped. The one way in which it gets into a page. */
void page_text(text_buf *b, const char *s);
void page_text_n(text_buf *b, const char *s, size_t n);
void page_begin(text_buf *b, const char *title);
void page_end(text_buf *b);
/** Opens a section with its heading (constants of the program); `note` may be NULL. */
void page_section(text_buf *b, const char *heading, const char *note);
void page_section_end(text_buf *b);
/** "1.5 GiB" */
void page_bytes(text_buf *b, int64_t bytes);
/** 1,234,567 */
void page_number(text_buf *b, int64_t n);
/** "2026-01-31 10:00" in UTC; "" for a time that is unknown (negative). */
void page_time(text_buf *b, int64_t ms);

/* ---- page_charts.c ---- */

typedef struct chart_bar {
    char *label, *tip; /* owned by the caller */
    double value;
    int tone; /* 0 … 3: colour */
} chart_bar;

/** Columns side by side, each with its label below where there is room for labels. `unit_bytes`: the axis is in bytes. */
void chart_columns(text_buf *b, const chart_bar *bars, size_t n, bool with_labels, bool unit_bytes);
/** Bars below one another: label, bar, tip as the value's text. */
void chart_rows(text_buf *b, const chart_bar *bars, size_t n);

typedef struct chart_point {
    int64_t ms;
    double value;
    char *tip;
} chart_point;
/** A line over time with the area under it. */
void chart_line(text_buf *b, const chart_point *points, size_t n, bool unit_bytes, int tone);

typedef struct chart_event {
    int64_t ms;
    int tone;
} chart_event;
/** How many events of each tone fell into each stretch of time: stacked columns and a legend. */
void chart_timeline(text_buf *b, const chart_event *events, size_t n, const char *const *names, size_t n_names);

#endif
