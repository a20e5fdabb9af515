/* Texts of DuckDB's errors → Spark's conditions. */
#include <ctype.h>
#include <stdio.h>

#include "engine/functions.h"

static bool has(const char *message, const char *what) { return strstr(message, what) != NULL; }

/* "[CONDITION|SQLSTATE] message[/]" anywhere in the text. */
static bool raised_by_silt(silt_error *err, const char *message, silt_status *out_status) {
    for (const char *open = strchr(message, '['); open; open = strchr(open + 1, '[')) {
        const char *bar = strchr(open, '|');
        if (!bar || bar == open + 1 || strlen(bar) < 8 || bar[6] != ']' || bar[7] != ' ' || (size_t)(bar - open) > sizeof((silt_error *)0)->condition) continue;
        bool name_ok = true;
        for (const char *at = open + 1; at < bar; at++)
            name_ok = name_ok && (isupper((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_' || *at == '.');
        if (!name_ok) continue;
        char condition[sizeof((silt_error *)0)->condition] = {0}, state[6] = {0};
        memcpy(condition, open + 1, (size_t)(bar - open - 1));
        memcpy(state, bar + 1, 5);
        const char *text = bar + 8, *end = strstr(text, "[/]");
        int n = (int)(end ? end - text : (long)strcspn(text, "\n"));
        silt_status status = strncmp(condition, "UNSUPPORTED", 11) == 0 ? SILT_UNSUPPORTED
                             : strcmp(condition, "INTERNAL_ERROR") == 0 ? SILT_INTERNAL
                                                                        : SILT_CONSTRAINT;
        *out_status = error_set(err, status, condition, state, error_hint_of(condition), "%.*s", n, text);
        return true;
    }
    return false;
}

/* DuckDB's own range errors. The order matters: decimals mention the same words. */
typedef struct sign {
    const char *text, *also, *condition, *sqlstate, *message;
} sign;
static const sign signs[] = {
    {"More than one row returned by a subquery", NULL, "SCALAR_SUBQUERY_TOO_MANY_ROWS", "21000",
     "More than one row returned by a subquery used as an expression."},
    {"Map keys must be unique", NULL, "DUPLICATED_MAP_KEY", "23505", "Duplicate map key was found, please check the input data."},
    {"Map keys can not be NULL", NULL, "NULL_MAP_KEY", "2200E", "Cannot use null as map key."},
    {"Overflow in", "DECIMAL", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003",
     "The result of a decimal operation cannot be represented within 38 digits."},
    {"to type DECIMAL(", NULL, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003",
     "The value cannot be represented as the decimal type."},
    {"to DECIMAL(", NULL, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003",
     "The value cannot be represented as the decimal type."},
    {"Overflow in", "INT8", "BINARY_ARITHMETIC_OVERFLOW", "22003",
     "The result caused overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"Overflow in", "INT16", "BINARY_ARITHMETIC_OVERFLOW", "22003",
     "The result caused overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"out of range for the destination type", "INT128", "ARITHMETIC_OVERFLOW", "22003",
     "long overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"out of range for the destination type", "HUGEINT", "ARITHMETIC_OVERFLOW", "22003",
     "long overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"out of range for the destination type", NULL, "CAST_OVERFLOW", "22003",
     "The value cannot be cast due to an overflow. Use try_cast to tolerate overflow and return NULL instead."},
    {"Failed to cast decimal", NULL, "CAST_OVERFLOW", "22003",
     "The value cannot be cast due to an overflow. Use try_cast to tolerate overflow and return NULL instead."},
    {"Overflow", NULL, "ARITHMETIC_OVERFLOW", "22003",
     "Integer overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"overflow", NULL, "ARITHMETIC_OVERFLOW", "22003",
     "Integer overflow. Use the try_ form of the function to tolerate overflow and return NULL instead."},
    {"Date out of range", NULL, "DATETIME_OVERFLOW", "22008", "Datetime operation overflow."},
    {"date out of range", NULL, "DATETIME_OVERFLOW", "22008", "Datetime operation overflow."},
    {"timestamp out of range", NULL, "DATETIME_OVERFLOW", "22008", "Datetime operation overflow."},
    {"TimeZone", NULL, "CAST_INVALID_INPUT", "22018",
     "The value cannot be cast to \"TIMESTAMP\" because its time zone is not known."},
    {"Could not convert string", NULL, "CAST_INVALID_INPUT", "22018", "The value cannot be cast because it is malformed."},
    {"Out of Range Error", NULL, "ARITHMETIC_OVERFLOW", "22003", "The result is out of range."},
};

silt_status engine_error_from_text(silt_error *err, const char *message) {
    silt_status status;
    if (raised_by_silt(err, message, &status)) return status;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (!has(message, signs[i].text) || (signs[i].also && !has(message, signs[i].also))) continue;
        status = error_set(err, SILT_CONSTRAINT, signs[i].condition, signs[i].sqlstate, "", "%s", signs[i].message);
        error_detail(err, "%s", message);
        return status;
    }
    if (has(message, "Invalid Input Error: regex") || has(message, "missing argument to repetition") ||
        has(message, "invalid perl operator") || has(message, "invalid escape sequence")) {
        status =
            error_set(err, SILT_INVALID, "INVALID_PARAMETER_VALUE.PATTERN", "22023",
                      "Write the pattern without look-around and back references.", "The regular expression is not supported");
        error_detail(err, "%s", message);
        return status;
    }
    status = err_INTERNAL_ERROR(err, "the engine refused the query");
    error_detail(err, "%s", message);
    return status;
}
