/** Proleptic Gregorian dates and times in any year, and the clock. Days since 1970-01-01, microseconds since the epoch. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

int64_t time_now_ms(void);
int64_t time_now_us(void);
/** Monotonic, for durations. */
int64_t time_monotonic_ms(void);

int64_t days_from_civil(int64_t year, int month, int day);
void civil_from_days(int64_t days, int64_t *year, int *month, int *day);

/** yyyy-MM-dd; years outside 0000–9999 carry a sign, as Spark writes them. */
void time_write_date(buf *out, int64_t days);
/** yyyy-MM-ddTHH:mm:ss with exactly `fraction_digits` (0, 3 or 6) digits; separator 'T' or ' '; suffix "Z" or "". */
void time_write_timestamp(buf *out, int64_t us, char separator, int fraction_digits, const char *suffix);
/** The same with trailing zeros of the fraction left out (and the point with them): Spark's CAST(ts AS STRING). */
void time_write_timestamp_short(buf *out, int64_t us, char separator);

/** Spark's cast rules for DATE: [+-]y{4,7}[-M{1,2}[-d{1,2}]][T or space anything]; false when malformed. */
bool time_parse_date(str s, int64_t *out_days);
/**
 * Spark's cast rules for TIMESTAMP: date part as above, optional time h{1,2}[:m{1,2}[:s{1,2}[.f{0,9}]]], optional zone Z, UTC, ±hh:mm, GMT±h.
 * *out_has_zone tells whether a zone stood there (then *out_us is UTC, otherwise local time). A region zone (Europe/Paris) gives false.
 */
bool time_parse_timestamp(str s, int64_t *out_us, bool *out_has_zone);

/** "UTC", "Z", "+05:30", "GMT+1": fixed offset in seconds; false for region names. */
bool time_zone_fixed_offset(str zone, int32_t *out_seconds);
/** The system's zone name (TZ, /etc/timezone, /etc/localtime), "UTC" where unknown. */
str time_system_zone(arena *arena);
/** Spark's interval text ("interval 7 days", "1 week", "24 hours 30 minutes"); months and years refused. */
bool time_parse_interval_ms(str s, int64_t *out_ms);

#ifdef __cplusplus
}
#endif

#endif
