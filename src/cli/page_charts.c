/*
 * Charts. Each drawing is an SVG of 1000 × 200 units that is stretched to its box; what must not be stretched (strokes) says so,
 * and words are HTML beside it. Axes go to a round number at or above the greatest value; where nothing is to be drawn a
 * sentence says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"

#define WIDTH  1000.0
#define HEIGHT 200.0

/* A round number at or above v: few of its digits are not 0 (of 1024's powers for bytes). */
static double round_up(double v, bool bytes) {
    static const double steps[] = {1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10};
    double base = 1;
    if (v <= 0) return 1;
    if (bytes)
        while (v / base >= 1024) base *= 1024;
    double power = base * pow(10, floor(log10(v / base)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (v <= power * steps[i] * 1.0000001) return bytes ? power * steps[i] : fmax(power * steps[i], 1);
    return power * 10;
}

static void axis_value(text_buf *b, double v, bool bytes) {
    if (bytes)
        page_bytes(b, (int64_t)v);
    else if (v >= 1e9)
        text_printf(b, "%.4gG", v / 1e9);
    else if (v >= 1e6)
        text_printf(b, "%.4gM", v / 1e6);
    else if (v >= 1e4)
        text_printf(b, "%.4gk", v / 1e3);
    else
        text_printf(b, "%.4g", v);
}

static void begin_figure(text_buf *b, double top, bool bytes) {
    text_add_z(b, "<figure><div class=\"y\"><span>");
    axis_value(b, top, bytes);
    text_add_z(b, "</span><span>");
    bool whole = fmod(top, 2) < 0.5; /* half of five commits is no number of commits */
    if (bytes || whole) axis_value(b, top / 2, bytes);
    text_add_z(b, "</span><span>0</span></div><svg viewBox=\"0 0 1000 200\" preserveAspectRatio=\"none\" role=\"img\">"
                  "<line class=\"g\" x1=\"0\" x2=\"1000\" y1=\"0\" y2=\"0\"/><line class=\"g\" x1=\"0\" x2=\"1000\" y1=\"100\" "
                  "y2=\"100\"/><line class=\"z\" x1=\"0\" x2=\"1000\" y1=\"200\" y2=\"200\"/>");
}

static void column(text_buf *b, double x, double width, double from, double to, int tone) {
    if (to > from)
        text_printf(b, "<rect class=\"f%d\" x=\"%.2f\" width=\"%.2f\" y=\"%.2f\" height=\"%.2f\"/>", tone, x, width, HEIGHT - to,
                    to - from);
}

static void title(text_buf *b, double x, double width, const char *tip) {
    text_printf(b, "<rect class=\"hit\" x=\"%.2f\" width=\"%.2f\" y=\"0\" height=\"200\"><title>", x, width);
    page_text(b, tip);
    text_add_z(b, "</title></rect>");
}

void chart_columns(text_buf *b, const chart_bar *bars, size_t n, bool with_labels, bool unit_bytes) {
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, bars[i].value);
    top = round_up(top, unit_bytes);
    begin_figure(b, top, unit_bytes);
    double each = n ? WIDTH / (double)n : WIDTH, gap = each * 0.14;
    for (size_t i = 0; i < n; i++) {
        double height = bars[i].value / top * HEIGHT;
        if (bars[i].value > 0 && height < 1.5) height = 1.5; /* what is there is seen */
        column(b, (double)i * each + gap, each - 2 * gap, 0, height, bars[i].tone);
        title(b, (double)i * each, each, bars[i].tip);
    }
    text_add_z(b, with_labels ? "</svg><div class=\"x each\">" : "</svg><div class=\"x ends\">");
    for (size_t i = 0; i < n; i++) {
        if (!with_labels && i > 0 && i + 1 < n) continue;
        text_add_z(b, "<span>");
        page_text(b, bars[i].label);
        text_add_z(b, "</span>");
    }
    text_add_z(b, "</div></figure>\n");
}

void chart_rows(text_buf *b, const chart_bar *bars, size_t n) {
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, bars[i].value);
    text_add_z(b, "<div class=\"rows\">");
    for (size_t i = 0; i < n; i++) {
        double width = top > 0 ? fmax(bars[i].value / top * WIDTH, 2) : 2;
        text_add_z(b, "<span class=\"k\">");
        page_text(b, bars[i].label);
        text_add_z(b, "</span><span class=\"v\">");
        page_text(b, bars[i].tip);
        text_printf(b,
                    "</span><span class=\"bar\"><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
                    "aria-hidden=\"true\"><rect class=\"f%d\" width=\"%.1f\" height=\"10\"/></svg></span>",
                    bars[i].tone, width);
    }
    text_add_z(b, "</div>\n");
}

/* ---- over time ---- */

static void time_ends(text_buf *b, int64_t from, int64_t to) {
    text_add_z(b, "</svg><div class=\"x ends\"><span>");
    page_time(b, from);
    text_add_z(b, "</span><span>");
    if (to > from) page_time(b, to);
    text_add_z(b, "</span></div></figure>\n");
}

/* The newest version stands a little before the right end, so that its height is seen. */
static double time_x(int64_t ms, int64_t from, int64_t to) {
    return to > from ? (double)(ms - from) / (double)(to - from) * WIDTH * 0.975 : 0;
}

void chart_line(text_buf *b, const chart_point *points, size_t n, bool unit_bytes, int tone) {
    double top = 0;
    if (n == 0) {
        text_add_z(b, "<p class=\"note\">Nothing to show.</p>\n");
        return;
    }
    for (size_t i = 0; i < n; i++) top = fmax(top, points[i].value);
    top = round_up(top, unit_bytes);
    int64_t from = points[0].ms, to = points[n - 1].ms;
    begin_figure(b, top, unit_bytes);
    text_buf path = {0};
    for (size_t i = 0; i < n; i++) {
        double x = time_x(points[i].ms, from, to), y = HEIGHT - points[i].value / top * HEIGHT;
        if (i == 0)
            text_printf(&path, "M%.2f %.2f", x, y);
        else
            text_printf(&path, "H%.2fV%.2f", x, y); /* a table has its size until the next commit */
    }
    text_add_z(&path, "H1000");
    text_printf(b, "<path class=\"area f%d\" d=\"", tone);
    text_add_z(b, path.ptr);
    text_printf(b, "V200H0Z\"/><path class=\"l%d\" d=\"", tone);
    text_add_z(b, path.ptr);
    text_add_z(b, "\"/>");
    free(path.ptr);
    for (size_t i = 0; i < n; i++) {
        double left = i ? (time_x(points[i - 1].ms, from, to) + time_x(points[i].ms, from, to)) / 2 : 0;
        double right = i + 1 < n ? (time_x(points[i].ms, from, to) + time_x(points[i + 1].ms, from, to)) / 2 : WIDTH;
        title(b, left, right - left, points[i].tip);
    }
    time_ends(b, from, to);
}

#define STRETCHES 48
#define TONES     4

void chart_timeline(text_buf *b, const chart_event *events, size_t n, const char *const *names, size_t n_names) {
    double counts[STRETCHES][TONES] = {{0}}, top = 0;
    int64_t from = INT64_MAX, to = INT64_MIN;
    bool used[TONES] = {false};
    if (n == 0) {
        text_add_z(b, "<p class=\"note\">Nothing to show.</p>\n");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (events[i].ms < from) from = events[i].ms;
        if (events[i].ms > to) to = events[i].ms;
    }
    size_t stretches = to == from ? 1 : STRETCHES;
    for (size_t i = 0; i < n; i++) {
        size_t at = to == from ? 0 : (size_t)((double)(events[i].ms - from) / (double)(to - from) * (STRETCHES - 1) + 0.5);
        counts[at][events[i].tone]++;
        used[events[i].tone] = true;
    }
    for (size_t i = 0; i < stretches; i++) {
        double sum = 0;
        for (size_t t = 0; t < TONES; t++) sum += counts[i][t];
        top = fmax(top, sum);
    }
    top = round_up(top, false);
    begin_figure(b, top, false);
    double each = WIDTH / (double)stretches;
    for (size_t i = 0; i < stretches; i++) {
        double base = 0;
        text_buf tip = {0};
        int64_t begins = from + (int64_t)((double)(to - from) * (double)i / STRETCHES);
        page_time(&tip, begins);
        for (size_t t = 0; t < TONES && t < n_names; t++) {
            if (counts[i][t] <= 0) continue;
            column(b, (double)i * each + each * 0.1, each * 0.8, base, base + counts[i][t] / top * HEIGHT, (int)t);
            base += counts[i][t] / top * HEIGHT;
            text_printf(&tip, ", %.0f %s", counts[i][t], names[t]);
        }
        if (base > 0) title(b, (double)i * each, each, tip.ptr);
        free(tip.ptr);
    }
    time_ends(b, from, to);
    text_add_z(b, "<ul class=\"legend\">");
    for (size_t t = 0; t < TONES && t < n_names; t++) {
        if (!used[t]) continue;
        text_printf(b, "<li><i class=\"b%zu\"></i>", t);
        page_text(b, names[t]);
        text_add_z(b, "</li>");
    }
    text_add_z(b, "</ul>\n");
}
