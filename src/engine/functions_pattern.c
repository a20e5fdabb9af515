/* Datetime patterns: a run of one letter is a field, '…' is text, […] may be missing when reading. Names of months and days are English, as Spark's. */
#include "engine/functions_pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"

#define DAY_US 86400000000LL

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
static const char *const weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

typedef struct item {
    char letter;
    size_t count;
    str text;
} item; /* letter 0: literal text; '[' and ']' */

static bool next_item(str pattern, size_t *at, item *out, buf *scratch, char *out_bad) {
    char c = pattern.ptr[*at];
    size_t from = *at;
    if (c == '\'') {
        size_t start = scratch->len, i = from + 1;
        for (; i < pattern.len; i++) {
            if (pattern.ptr[i] != '\'')
                buf_append_char(scratch, pattern.ptr[i]);
            else if (i + 1 < pattern.len && pattern.ptr[i + 1] == '\'') {
                buf_append_char(scratch, '\'');
                i++;
            } else
                break;
        }
        if (i >= pattern.len) {
            *out_bad = '\'';
            return false;
        }
        if (i == from + 1) buf_append_char(scratch, '\''); /* '' is a quote */
        *at = i + 1;
        *out = (item){0, scratch->len - start, str_slice(buf_str(scratch), start, scratch->len)};
        return true;
    }
    if (!isalpha((unsigned char)c)) {
        ++*at;
        *out = (item){c == '[' || c == ']' ? c : 0, 1, str_slice(pattern, from, from + 1)};
        if (c == '{' || c == '}' || c == '#') {
            *out_bad = c;
            return false;
        }
        return true;
    }
    while (*at < pattern.len && pattern.ptr[*at] == c) ++*at;
    *out = (item){c, *at - from, str_slice(pattern, from, *at)};
    static const char known[] = "GyuDMLdQqEFahKkHmsSVzOXxZ";
    if (!strchr(known, c) || (c == 'u') || (strchr("MLEQq", c) && out->count > 4) || (strchr("dhHkKms", c) && out->count > 2) ||
        (c == 'S' && out->count > 9) || (c == 'a' && out->count > 1)) {
        *out_bad = c;
        return false;
    }
    return true;
}

/* ---- writing ---- */

static void write_padded(buf *out, int64_t v, size_t width) { buf_printf(out, "%0*lld", (int)width, (long long)v); }

static void write_offset(buf *out, int64_t offset_us, size_t count, bool z_for_zero, bool colon_always) {
    int64_t s = offset_us / 1000000, mag = s < 0 ? -s : s;
    if (s == 0 && z_for_zero) {
        buf_append_char(out, 'Z');
        return;
    }
    int h = (int)(mag / 3600), m = (int)(mag / 60 % 60), sec = (int)(mag % 60);
    buf_printf(out, "%c%02d", s < 0 ? '-' : '+', h);
    bool colon = colon_always || count == 3 || count == 5;
    if (count > 1 || m) buf_printf(out, "%s%02d", colon ? ":" : "", m);
    if (count >= 4 && sec) buf_printf(out, "%s%02d", colon ? ":" : "", sec);
}

static void write_item(buf *out, const item *it, int64_t us, int64_t offset_us, str zone) {
    int64_t days = floor_div(us, DAY_US), in_day = us - days * DAY_US, year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    int hour = (int)(in_day / 3600000000LL), minute = (int)(in_day / 60000000 % 60), second = (int)(in_day / 1000000 % 60),
        weekday = (int)(days + 3 - floor_div(days + 3, 7) * 7);
    int64_t of_era = year > 0 ? year : 1 - year;
    switch (it->letter) {
        case 'G':
            buf_append_z(out, it->count == 4 ? (year > 0 ? "Anno Domini" : "Before Christ") : year > 0 ? "AD" : "BC");
            return;
        case 'y':
            if (it->count == 2)
                write_padded(out, of_era % 100, 2);
            else {
                if (it->count >= 4 && of_era > 9999) buf_append_char(out, '+');
                write_padded(out, of_era, it->count);
            }
            return;
        case 'M':
        case 'L':
            if (it->count <= 2)
                write_padded(out, month, it->count);
            else
                buf_append(out, it->count == 3 ? str_slice(str_of(months[month - 1]), 0, 3) : str_of(months[month - 1]));
            return;
        case 'd': write_padded(out, day, it->count); return;
        case 'D': write_padded(out, days - days_from_civil(year, 1, 1) + 1, it->count); return;
        case 'Q':
        case 'q': {
            static const char *const names[] = {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"};
            int q = (month - 1) / 3;
            if (it->count <= 2)
                write_padded(out, q + 1, it->count);
            else if (it->count == 3)
                buf_printf(out, "Q%d", q + 1);
            else
                buf_append_z(out, names[q]);
            return;
        }
        case 'E':
            buf_append(out, it->count == 4 ? str_of(weekdays[weekday]) : str_slice(str_of(weekdays[weekday]), 0, 3));
            return;
        case 'F': write_padded(out, (day - 1) % 7 + 1, it->count); return;
        case 'a': buf_append_z(out, hour < 12 ? "AM" : "PM"); return;
        case 'h': write_padded(out, hour % 12 == 0 ? 12 : hour % 12, it->count); return;
        case 'K': write_padded(out, hour % 12, it->count); return;
        case 'k': write_padded(out, hour == 0 ? 24 : hour, it->count); return;
        case 'H': write_padded(out, hour, it->count); return;
        case 'm': write_padded(out, minute, it->count); return;
        case 's': write_padded(out, second, it->count); return;
        case 'S': {
            char digits[16];
            snprintf(digits, sizeof digits, "%06d000", (int)(in_day % 1000000));
            buf_append(out, (str){digits, it->count});
            return;
        }
        case 'V':
        case 'z':
            if (it->letter == 'z' && it->count == 4 && str_eqz(zone, "UTC"))
                buf_append_z(out, "Coordinated Universal Time");
            else
                buf_append(out, zone);
            return;
        case 'O':
            buf_append_z(out, "GMT");
            if (offset_us) {
                int64_t s = offset_us / 1000000, mag = s < 0 ? -s : s;
                if (it->count == 4)
                    buf_printf(out, "%c%02d:%02d", s < 0 ? '-' : '+', (int)(mag / 3600), (int)(mag / 60 % 60));
                else {
                    buf_printf(out, "%c%d", s < 0 ? '-' : '+', (int)(mag / 3600));
                    if (mag / 60 % 60) buf_printf(out, ":%02d", (int)(mag / 60 % 60));
                }
            }
            return;
        case 'X': write_offset(out, offset_us, it->count, true, false); return;
        case 'x': write_offset(out, offset_us, it->count, false, false); return;
        case 'Z':
            if (it->count == 4) {
                buf_append_z(out, "GMT");
                if (offset_us) write_offset(out, offset_us, 3, false, true);
            } else if (it->count == 5)
                write_offset(out, offset_us, 3, true, true);
            else
                write_offset(out, offset_us, 2, false, false);
            return;
        default: buf_append(out, it->text); return;
    }
}

bool pattern_write(buf *out, str pattern, int64_t local_us, int64_t offset_us, str zone, char *out_bad) {
    buf scratch;
    buf_init(&scratch, pattern.len * 2 + 16);
    bool ok = buf_reserve(&scratch, pattern.len + 8);
    for (size_t at = 0; ok && at < pattern.len;) {
        item it;
        ok = next_item(pattern, &at, &it, &scratch, out_bad);
        if (ok && it.letter != '[' && it.letter != ']') write_item(out, &it, local_us, offset_us, zone);
    }
    buf_dispose(&scratch);
    return ok;
}

/* ---- reading ---- */

typedef struct reading {
    int64_t year, day_of_year, quarter;
    int month, day, hour, half_hour, minute, second, pm; /* -1: not given */
    int64_t fraction_us;
    bool era_bc, has_zone;
    int64_t offset_us;
} reading;

static bool digits(str s, size_t *at, size_t min, size_t max, int64_t *out) {
    size_t n = 0;
    int64_t v = 0;
    while (n < max && *at + n < s.len && isdigit((unsigned char)s.ptr[*at + n])) v = v * 10 + (s.ptr[*at + n++] - '0');
    if (n < min) return false;
    *at += n;
    *out = v;
    return true;
}

static bool word(str s, size_t *at, const char *w, size_t n) {
    if (*at + n > s.len || !str_eq_ascii_fold(str_slice(s, *at, *at + n), (str){w, n})) return false;
    *at += n;
    return true;
}

static bool name_of(str s, size_t *at, const char *const *names, int n, size_t count, int *out) {
    for (int i = 0; i < n; i++) {
        if (!word(s, at, names[i], count == 4 ? strlen(names[i]) : 3)) continue;
        *out = i;
        return true;
    }
    return false;
}

static bool offset_of(str s, size_t *at, reading *r) {
    static const char *const utc[] = {"UTC", "GMT", "UT"};
    r->has_zone = true;
    if (word(s, at, "Z", 1)) return true;
    bool named = false;
    for (size_t i = 0; i < ARRAY_LEN(utc) && !named; i++) named = word(s, at, utc[i], strlen(utc[i]));
    if (*at >= s.len || (s.ptr[*at] != '+' && s.ptr[*at] != '-')) return named;
    bool negative = s.ptr[(*at)++] == '-';
    int64_t h, m = 0;
    if (!digits(s, at, 1, 2, &h)) return false;
    if (*at < s.len && s.ptr[*at] == ':') {
        ++*at;
        if (!digits(s, at, 2, 2, &m)) return false;
    } else if (*at < s.len && isdigit((unsigned char)s.ptr[*at]) && !digits(s, at, 2, 2, &m))
        return false;
    if (h > 18 || m > 59) return false;
    r->offset_us = (negative ? -1 : 1) * (h * 3600 + m * 60) * 1000000;
    return true;
}

static bool read_item(str s, size_t *at, const item *it, bool adjacent, reading *r) {
    int64_t v;
    size_t max = it->count == 1 ? 2 : it->count;
    int i;
    switch (it->letter) {
        case 'G':
            if (word(s, at, "AD", 2)) return true;
            r->era_bc = word(s, at, "BC", 2);
            return r->era_bc;
        case 'y':
            if (it->count == 2) {
                if (!digits(s, at, 2, 2, &v)) return false;
                r->year = 2000 + v;
                return true;
            }
            return digits(s, at, it->count, adjacent ? it->count : 10, &r->year);
        case 'M':
        case 'L':
            if (it->count > 2) {
                if (!name_of(s, at, months, 12, it->count, &i)) return false;
                r->month = i + 1;
                return true;
            }
            if (!digits(s, at, it->count, max, &v)) return false;
            r->month = (int)v;
            return true;
        case 'd':
            if (!digits(s, at, it->count, max, &v)) return false;
            r->day = (int)v;
            return true;
        case 'D': return digits(s, at, it->count, 3, &r->day_of_year);
        case 'Q':
        case 'q':
            if (it->count == 3 && !word(s, at, "Q", 1)) return false;
            return digits(s, at, 1, 2, &r->quarter);
        case 'E': return name_of(s, at, weekdays, 7, it->count, &i);
        case 'F': return digits(s, at, it->count, max, &v);
        case 'a':
            if (word(s, at, "AM", 2))
                r->pm = 0;
            else if (word(s, at, "PM", 2))
                r->pm = 1;
            else
                return false;
            return true;
        case 'h':
        case 'K':
            if (!digits(s, at, it->count, max, &v) || v > 12) return false;
            r->half_hour = (int)v % 12;
            return true;
        case 'k':
        case 'H':
            if (!digits(s, at, it->count, max, &v)) return false;
            r->hour = it->letter == 'k' && v == 24 ? 0 : (int)v;
            return true;
        case 'm':
            if (!digits(s, at, it->count, max, &v)) return false;
            r->minute = (int)v;
            return true;
        case 's':
            if (!digits(s, at, it->count, max, &v)) return false;
            r->second = (int)v;
            return true;
        case 'S': {
            size_t from = *at;
            if (!digits(s, at, 1, it->count, &v)) return false;
            for (size_t n = *at - from; n < 9; n++) v *= 10;
            r->fraction_us = v / 1000;
            return true;
        }
        case 'V':
        case 'z':
        case 'O':
        case 'X':
        case 'x':
        case 'Z': return offset_of(s, at, r);
        default: return word(s, at, it->text.ptr, it->text.len);
    }
}

static bool is_numeric_item(const item *it) {
    return it->letter && strchr("yDdhHkKmsSF", it->letter) ? true : it->letter && strchr("MLQq", it->letter) && it->count <= 2;
}

static bool finish(const reading *r, int64_t *out_us) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = r->era_bc ? 1 - r->year : r->year;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    int month = r->month > 0 ? r->month : 1, day = r->day > 0 ? r->day : 1;
    if (r->month == 0 || r->day == 0 || month > 12 || day > lengths[month - 1] + (month == 2 && leap)) return false;
    int64_t days = days_from_civil(year, month, day);
    if (r->day_of_year >= 0) {
        if (r->day_of_year < 1 || r->day_of_year > 365 + leap) return false;
        days = days_from_civil(year, 1, 1) + r->day_of_year - 1;
    }
    int hour = r->hour >= 0        ? r->hour
               : r->half_hour >= 0 ? r->half_hour + (r->pm == 1 ? 12 : 0)
                                   : 0,
        minute = r->minute >= 0 ? r->minute : 0, second = r->second >= 0 ? r->second : 0;
    if (hour > 23 || minute > 59 || second > 59) return false;
    *out_us = days * DAY_US + ((int64_t)hour * 3600 + minute * 60 + second) * 1000000 + r->fraction_us -
              (r->has_zone ? r->offset_us : 0);
    return true;
}

#define PATTERN_MAX_ITEMS 128

pattern_outcome pattern_read(str text, str pattern, int64_t *out_us, bool *out_has_zone, char *out_bad) {
    item items[PATTERN_MAX_ITEMS];
    size_t n = 0, at = 0;
    buf scratch;
    buf_init(&scratch, pattern.len * 2 + 16);
    bool ok = buf_reserve(&scratch, pattern.len + 8);
    for (size_t i = 0; ok && i < pattern.len && n < PATTERN_MAX_ITEMS;)
        ok = next_item(pattern, &i, &items[n++], &scratch, out_bad);
    if (!ok) {
        buf_dispose(&scratch);
        return PATTERN_BAD;
    }
    reading r = {.year = 1970,
                 .day_of_year = -1,
                 .quarter = -1,
                 .month = -1,
                 .day = -1,
                 .hour = -1,
                 .half_hour = -1,
                 .minute = -1,
                 .second = -1,
                 .pm = -1},
            saved = r;
    size_t saved_at = 0, optional_at = SIZE_MAX;
    for (size_t i = 0; i < n && ok; i++) {
        if (items[i].letter == '[') {
            saved = r;
            saved_at = at;
            optional_at = i;
            continue;
        }
        if (items[i].letter == ']') {
            optional_at = SIZE_MAX;
            continue;
        }
        bool adjacent = i + 1 < n && is_numeric_item(&items[i]) && is_numeric_item(&items[i + 1]);
        if (read_item(text, &at, &items[i], adjacent, &r)) continue;
        if (optional_at == SIZE_MAX) {
            ok = false;
            break;
        }
        r = saved;
        at = saved_at;
        while (i < n && items[i].letter != ']') i++;
        optional_at = SIZE_MAX;
    }
    buf_dispose(&scratch);
    if (!ok || at != text.len || !finish(&r, out_us)) return PATTERN_MISMATCH;
    *out_has_zone = r.has_zone;
    return PATTERN_OK;
}
