/* The dates and tags of services' answers and of HTTP's headers. */
#include <stdio.h>

#include "base/time.h"
#include "store/object/object_store.h"

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static bool two_digits(str s, size_t at, int *out) {
    if (s.ptr[at] < '0' || s.ptr[at] > '9' || s.ptr[at + 1] < '0' || s.ptr[at + 1] > '9') return false;
    *out = (s.ptr[at] - '0') * 10 + (s.ptr[at + 1] - '0');
    return true;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT": every part has its place. */
bool http_date_parse(str text, int64_t *out_ms) {
    int day, century, year, hour, minute, second, month = 0;
    if (text.len != 29 || !str_ends_with(text, STR(" GMT")) || text.ptr[3] != ',' || text.ptr[19] != ':' || text.ptr[22] != ':') return false;
    while (month < 12 && memcmp(text.ptr + 8, months[month], 3) != 0) month++;
    bool ok = two_digits(text, 5, &day) && two_digits(text, 12, &century) && two_digits(text, 14, &year) && two_digits(text, 17, &hour) &&
              two_digits(text, 20, &minute) && two_digits(text, 23, &second);
    if (!ok || month == 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return false;
    int64_t days = days_from_civil(century * 100 + year, month + 1, day);
    *out_ms = ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000;
    return true;
}

bool rfc3339_parse(str text, int64_t *out_ms) {
    int64_t us;
    bool has_zone;
    if (!time_parse_timestamp(text, &us, &has_zone) || !has_zone) return false;
    *out_ms = us >= 0 ? us / 1000 : -((-us + 999) / 1000);
    return true;
}

void http_date_write(int64_t now_ms, char out[32]) {
    static const char *const days_of_week[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    int64_t seconds = now_ms / 1000, days = seconds / 86400, of_day = seconds % 86400, year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    snprintf(out, 32, "%s, %02d %s %04d %02d:%02d:%02d GMT", days_of_week[days % 7], day, months[month - 1], (int)(year % 10000), (int)(of_day / 3600), (int)(of_day / 60 % 60),
             (int)(of_day % 60));
}

str tag_without_quotes(str tag) { return tag.len >= 2 && tag.ptr[0] == '"' && tag.ptr[tag.len - 1] == '"' ? str_slice(tag, 1, tag.len - 1) : tag; }
