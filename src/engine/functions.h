/**
 * The C scalar functions that Spark's semantics need inside DuckDB (`silt_…`, printed by expr/print_*.c and the function registry), and how their errors come out.
 *
 * A function that raises sets the error text "[CONDITION|SQLSTATE] message[/]". It must never be pushed below a deletion vector's filter: the printer puts it behind
 * CASE WHEN silt_never() THEN error('') ELSE f(x) END (docs/decisions/002-engine-rules.md).
 */
#ifndef ENGINE_FUNCTIONS_H
#define ENGINE_FUNCTIONS_H

#include "base/base.h"
#include "engine/duckdb_extra.h"

/** Register all of them but those that make decimals (engine_know_decimals); once per database. */
silt_status engine_register_functions(duckdb_connection connection, silt_error *err) MUST_CHECK;
/** silt_decimal_<precision>_<scale>; once per database. */
bool engine_register_decimal(duckdb_connection connection, uint8_t precision, uint8_t scale) MUST_CHECK;
/** silt_modulo (functions_modulo.c); called by engine_register_functions. */
silt_status engine_register_modulo(duckdb_connection connection, silt_error *err) MUST_CHECK;

/** DuckDB's message → Spark's condition: what functions of Silt and error() raised by its own text, DuckDB's own range and conversion errors by Spark's conditions,
 * anything else INTERNAL_ERROR with the text as detail. Returns the status that it set. */
silt_status engine_error_from_text(silt_error *err, const char *message);

#endif
