/* Dates, timestamps, zones and intervals over any bytes: what is accepted and written is read as the same. */
#include <assert.h>

#include "base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_date(str text, buf *b) {
    int64_t days, again;
    if (!time_parse_date(text, &days)) return;
    buf_clear(b);
    time_write_date(b, days);
    assert(time_parse_date(buf_str(b), &again) && again == days);
}

static void check_timestamp(str text, buf *b) {
    int64_t us, again;
    bool has_zone;
    if (!time_parse_timestamp(text, &us, &has_zone)) return;
    buf_clear(b);
    time_write_timestamp(b, us, 'T', 6, "Z");
    assert(time_parse_timestamp(buf_str(b), &again, &has_zone) && again == us && has_zone);
    buf_clear(b);
    time_write_timestamp_short(b, us, ' ');
    assert(time_parse_timestamp(buf_str(b), &again, &has_zone) && again == us && !has_zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    buf b;
    int64_t ms;
    int32_t seconds;
    buf_init(&b, 1000);
    check_date(text, &b);
    check_timestamp(text, &b);
    if (time_zone_fixed_offset(text, &seconds)) assert(seconds >= -64800 && seconds <= 64800);
    (void)!time_parse_interval_ms(text, &ms);
    if (size >= 8) { /* any instant has a text */
        int64_t us;
        memcpy(&us, data, 8);
        buf_clear(&b);
        time_write_timestamp(&b, us, 'T', 6, "Z");
        check_timestamp(buf_str(&b), &b);
    }
    buf_dispose(&b);
    return 0;
}
