/**
 * silt_decimal_<p>_<s>(unscaled HUGEINT, or_null BOOLEAN): a C function's result type is fixed, so there is one for each of 741 decimal types. Registering all of them takes a tenth of the time in which a
 * process answers SELECT 1, so a function is registered when the first statement comes that names it.
 */
#include <stdio.h>

#include "engine/functions.h"
#include "engine/internal.h"

#define PREFIX "silt_decimal_"

/* The digits of one name, without its prefix; false for other functions of that beginning. */
static bool parse_name(const char *at, unsigned *out_precision, unsigned *out_scale) {
    int read = 0;
    return *at >= '0' && *at <= '9' && sscanf(at, "%2u_%2u(%n", out_precision, out_scale, &read) == 2 && read > 0 && *out_precision >= 1 && *out_precision <= 38 && *out_scale <= *out_precision;
}

static silt_status register_one(engine *e, unsigned precision, unsigned scale, silt_error *err) {
    duckdb_connection connection;
    uint64_t bit = (uint64_t)1 << scale;
    if (e->decimals[precision] & bit) return SILT_OK;
    if (duckdb_connect(e->database, &connection) != DuckDBSuccess) return error_no_memory(err);
    bool ok = engine_register_decimal(connection, (uint8_t)precision, (uint8_t)scale);
    duckdb_disconnect(&connection);
    if (!ok) return err_INTERNAL_ERROR(err, "a decimal function cannot be registered");
    e->decimals[precision] |= bit;
    return SILT_OK;
}

silt_status engine_know_decimals(engine *e, const char *sql, silt_error *err) {
    for (const char *at = strstr(sql, PREFIX); at; at = strstr(at, PREFIX)) {
        unsigned precision, scale;
        at += sizeof PREFIX - 1;
        if (!parse_name(at, &precision, &scale)) continue;
        pthread_mutex_lock(&e->decimals_mutex);
        silt_status status = register_one(e, precision, scale, err);
        pthread_mutex_unlock(&e->decimals_mutex);
        TRY(status);
    }
    return SILT_OK;
}
