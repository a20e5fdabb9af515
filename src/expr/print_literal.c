/* Values as DuckDB literals, each with its exact type. */
#include <math.h>

#include "base/time.h"
#include "expr/print.h"

/* DuckDB reads the statement as a C string, so that NUL bytes must be spelled chr(0). */
void print_string(printer *p, str s) {
    bool has_nul = s.len > 0 && memchr(s.ptr, 0, s.len) != NULL;
    buf_append_z(p->out, has_nul ? "('" : "'");
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == 0)
            buf_append_z(p->out, "' || chr(0) || '");
        else if (c == '\'')
            buf_append_z(p->out, "''");
        else
            buf_append_char(p->out, c);
    }
    buf_append_z(p->out, has_nul ? "')" : "'");
}

static void print_double(printer *p, double v, const char *type) {
    if (isnan(v))
        buf_printf(p->out, "'nan'::%s", type);
    else if (isinf(v))
        buf_printf(p->out, "'%sinf'::%s", v < 0 ? "-" : "", type);
    else
        buf_printf(p->out, "'%.17g'::%s", v, type);
}

static void print_binary(printer *p, str s) {
    buf_append_char(p->out, '\'');
    for (size_t i = 0; i < s.len; i++) buf_printf(p->out, "\\x%02X", (unsigned char)s.ptr[i]);
    buf_append_z(p->out, "'::BLOB");
}

/* Years that DuckDB and Spark write alike are 0001 … 9999; others are counted from the epoch. */
static void print_date(printer *p, int64_t days) {
    if (days < -719162 || days > 2932896) {
        buf_printf(p->out, "(DATE '1970-01-01' + (%lld))", (long long)days);
        return;
    }
    buf_append_z(p->out, "DATE '");
    time_write_date(p->out, days);
    buf_append_char(p->out, '\'');
}

static void print_timestamp(printer *p, int64_t us, bool zoned) {
    if (us < -62135596800000000 || us > 253402300799999999) {
        buf_printf(p->out, "%s(%lld)", zoned ? "make_timestamptz" : "make_timestamp", (long long)us);
        return;
    }
    buf_append_char(p->out, '\'');
    time_write_timestamp(p->out, us, ' ', 6, zoned ? "+00" : "");
    buf_append_z(p->out, zoned ? "'::TIMESTAMPTZ" : "'::TIMESTAMP");
}

silt_status print_literal(printer *p, const value *v) {
    const data_type *t = v->type;
    if (v->is_null) {
        if (t->id == TYPE_VOID) {
            buf_append_z(p->out, "NULL");
            return SILT_OK;
        }
        buf_append_z(p->out, "CAST(NULL AS ");
        type_print_duckdb(p->out, t, false);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    long long i = (long long)v->as.i64;
    switch (t->id) {
        case TYPE_BOOLEAN: buf_append_z(p->out, v->as.boolean ? "true" : "false"); return SILT_OK;
        case TYPE_BYTE: buf_printf(p->out, "(%lld)::TINYINT", i); return SILT_OK;
        case TYPE_SHORT: buf_printf(p->out, "(%lld)::SMALLINT", i); return SILT_OK;
        case TYPE_INT: buf_printf(p->out, i < 0 ? "(%lld)::INTEGER" : "%lld::INTEGER", i); return SILT_OK;
        case TYPE_LONG: buf_printf(p->out, i < 0 ? "(%lld)::BIGINT" : "%lld::BIGINT", i); return SILT_OK;
        case TYPE_FLOAT: print_double(p, v->as.f64, "FLOAT"); return SILT_OK;
        case TYPE_DOUBLE: print_double(p, v->as.f64, "DOUBLE"); return SILT_OK;
        case TYPE_DECIMAL:
            buf_append_char(p->out, '\'');
            decimal_write(p->out, v->as.decimal, t->scale);
            buf_printf(p->out, "'::DECIMAL(%d,%d)", t->precision, t->scale);
            return SILT_OK;
        case TYPE_STRING: print_string(p, v->as.bytes); return SILT_OK;
        case TYPE_BINARY: print_binary(p, v->as.bytes); return SILT_OK;
        case TYPE_DATE: print_date(p, v->as.i64); return SILT_OK;
        case TYPE_TIMESTAMP: print_timestamp(p, v->as.i64, true); return SILT_OK;
        case TYPE_TIMESTAMP_NTZ: print_timestamp(p, v->as.i64, false); return SILT_OK;
        case TYPE_INTERVAL_YM: buf_printf(p->out, "to_months(%lld)", i); return SILT_OK;
        case TYPE_INTERVAL_DT: buf_printf(p->out, "to_microseconds(%lld)", i); return SILT_OK;
        default: return err_INTERNAL_ERROR(p->err, "literal of a nested type");
    }
}
