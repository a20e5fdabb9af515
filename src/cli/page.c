/*
 * The page's frame, its style and its texts. No script, no picture, nothing from the network: the policy in the head forbids it
 * to the browser too.
 */
#include "cli/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
    ":root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1c1e21;--soft:#62676e;--line:#e1e2e0;--grid:#ecedeb;"
    "--t0:#2f6fb2;--t1:#c2671b;--t2:#3d8a53;--t3:#8a8f98;--danger:#b3261e;--warning:#9a6200;--info:#2f6fb2;--good:#2c7a43}"
    "@media(prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1e2125;--ink:#e6e7e9;--soft:#9aa0a8;--line:#30343a;--grid:#"
    "2a2e33;"
    "--t0:#6aa5e0;--t1:#e39a55;--t2:#74bd88;--t3:#858b94;--danger:#f2776d;--warning:#e0ad4e;--info:#6aa5e0;--good:#74bd88}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe "
    "UI',Roboto,'Noto Sans',sans-serif}"
    "main{max-width:68rem;margin:0 auto;padding:1.5rem 1rem "
    "3rem}h1{font-size:1.5rem;line-height:1.25;margin:0;overflow-wrap:anywhere}"
    "h2{font-size:1.05rem;margin:0 0 .15rem}header p{margin:.25rem 0 0;color:var(--soft);overflow-wrap:anywhere}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem "
    "1.1rem;margin-top:1rem;min-width:0}"
    ".note{color:var(--soft);margin:0 0 "
    ".8rem;font-size:.875rem}.pair{display:grid;gap:1rem;grid-template-columns:1fr;margin-top:1rem}.pair section{margin:0}"
    "@media(min-width:56rem){.pair{grid-template-columns:1fr 1fr}}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin-top:1.1rem}"
    ".tiles div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.65rem .9rem}"
    ".tiles b{display:block;font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.3}.tiles "
    "span{color:var(--soft);font-size:.82rem}"
    "figure{margin:0;display:grid;grid-template-columns:auto minmax(0,1fr);column-gap:.5rem}figure "
    "svg{width:100%;height:11rem;display:block;overflow:visible}"
    ".y{display:flex;flex-direction:column;justify-content:space-between;text-align:right;color:var(--soft);font-size:.75rem;"
    "font-variant-numeric:tabular-nums;margin:-.55em 0}"
    ".x{grid-column:2;display:flex;color:var(--soft);font-size:.75rem;margin-top:.35rem}.x.ends{justify-content:space-between}"
    ".x.each span{flex:1 1 0;min-width:0;text-align:center;line-height:1.2;overflow-wrap:break-word}"
    ".g{stroke:var(--grid);stroke-width:1;vector-effect:non-scaling-stroke}.z{stroke:var(--line);stroke-width:1;vector-effect:"
    "non-scaling-stroke}"
    ".f0{fill:var(--t0)}.f1{fill:var(--t1)}.f2{fill:var(--t2)}.f3{fill:var(--t3)}"
    ".l0,.l1,.l2,.l3{fill:none;stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round}.l0{stroke:var(--t0)}.l1{"
    "stroke:var(--t1)}.l2{stroke:var(--t2)}.l3{stroke:var(--t3)}"
    ".area{opacity:.13}.hit{fill:transparent}"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;color:var(--soft);font-size:.82rem;margin:.6rem 0 "
    "0;padding:0;list-style:none}"
    ".legend "
    "i{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.4em}.b0{background:var(--t0)}.b1{background:"
    "var(--t1)}.b2{background:var(--t2)}.b3{background:var(--t3)}"
    ".rows{display:grid;grid-template-columns:minmax(5rem,auto) minmax(3rem,1fr) auto;grid-auto-flow:dense;gap:.25rem "
    ".7rem;align-items:center;font-size:.85rem}"
    ".rows .k{grid-column:1}.rows .bar{grid-column:2}.rows .v{grid-column:3}"
    ".rows .k{overflow-wrap:anywhere;max-width:22rem}.rows "
    ".v{text-align:right;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".rows svg{width:100%;height:.8rem;display:block}"
    "@media(max-width:34rem){.rows{grid-template-columns:minmax(0,1fr) auto}.rows "
    ".bar{grid-column:1/-1;margin-bottom:.35rem}.rows .v{grid-column:2}.rows .k{max-width:none}}"
    ".finding{border-left:3px solid var(--info);padding:.1rem 0 .1rem "
    ".8rem;margin-top:1rem}.finding.danger{border-color:var(--danger)}.finding.warning{border-color:var(--warning)}"
    ".finding h3{font-size:.95rem;margin:0;font-weight:600}.finding "
    ".s{font-size:.75rem;text-transform:uppercase;letter-spacing:.04em;margin-right:.5rem}"
    ".danger .s{color:var(--danger)}.warning .s{color:var(--warning)}.info .s{color:var(--info)}.finding p{margin:.2rem "
    "0}.finding .d{color:var(--soft)}"
    ".good{color:var(--good);margin:0}code,pre{font:.84rem/1.45 "
    "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    "pre{background:var(--bg);border:1px solid var(--line);border-radius:6px;padding:.45rem .6rem;margin:.35rem 0 "
    "0;white-space:pre-wrap}"
    "ul.plain{margin:.2rem "
    "0;padding-left:1.1rem}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.85rem}"
    "th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid "
    "var(--line);vertical-align:top}th{color:var(--soft);font-weight:500;white-space:nowrap}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td{overflow-wrap:anywhere}td "
    "code{white-space:nowrap}td.long code{white-space:normal}tr:last-child td{border-bottom:0}"
    "footer{color:var(--soft);font-size:.82rem;margin-top:1.5rem}";

void page_text_n(text_buf *b, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '&')
            text_add_z(b, "&amp;");
        else if (c == '<')
            text_add_z(b, "&lt;");
        else if (c == '>')
            text_add_z(b, "&gt;");
        else if (c == '"')
            text_add_z(b, "&quot;");
        else if (c == '\'')
            text_add_z(b, "&#39;");
        else if (c < 0x20 || c == 0x7F)
            text_add_z(b, c == '\n' || c == '\t' ? " " : "\xEF\xBF\xBD");
        else
            text_add(b, s + i, 1);
    }
}

void page_text(text_buf *b, const char *s) {
    if (s) page_text_n(b, s, strlen(s));
}

void page_begin(text_buf *b, const char *title) {
    text_add_z(b,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
               "content=\"width=device-width,initial-scale=1\">"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>");
    page_text(b, title);
    text_add_z(b, "</title><style>");
    text_add_z(b, style);
    text_add_z(b, "</style></head>\n<body><main>\n");
}

void page_end(text_buf *b) { text_add_z(b, "</main></body></html>\n"); }

void page_section(text_buf *b, const char *heading, const char *note) {
    text_add_z(b, "<section><h2>");
    page_text(b, heading);
    text_add_z(b, "</h2>");
    if (note) {
        text_add_z(b, "<p class=\"note\">");
        page_text(b, note);
        text_add_z(b, "</p>");
    }
    text_add_z(b, "\n");
}

void page_section_end(text_buf *b) { text_add_z(b, "</section>\n"); }

void page_bytes(text_buf *b, int64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 5) v /= 1024, u++;
    bool whole = u == 0 || v >= 100 || v - (double)(int64_t)v < 0.05;
    text_printf(b, whole ? "%.0f %s" : "%.1f %s", v, units[u]);
}

void page_number(text_buf *b, int64_t n) {
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%" PRId64, n);
    for (int i = 0; i < len; i++) {
        text_add(b, digits + i, 1);
        if ((len - 1 - i) % 3 == 0 && i + 1 < len && digits[i] != '-') text_add_z(b, ",");
    }
}

void page_time(text_buf *b, int64_t ms) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[40] = "";
    if (ms >= 0 && gmtime_r(&seconds, &tm)) strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
    text_add_z(b, text);
}
