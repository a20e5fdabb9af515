/**
 * DuckDB's C API as this engine sees it: the published header of 1.4.4 and the calls and numbers of 1.5 that it lacks (docs/decisions/001-duckdb.md).
 * Nothing else declares a DuckDB symbol. The library's version is checked when it is opened, so these declarations hold.
 */
#ifndef ENGINE_DUCKDB_EXTRA_H
#define ENGINE_DUCKDB_EXTRA_H

/* The header's own Arrow structs are forward declarations of the public ABI: ours come first. */
#include "silt/arrow.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <duckdb.h>
#pragma GCC diagnostic pop

#define ENGINE_DUCKDB_VERSION "v1.5.6"

/** Type numbers that 1.5 added to duckdb_type. */
enum { DUCKDB_TYPE_GEOMETRY_1_5 = 40, DUCKDB_TYPE_VARIANT_1_5 = 41 };

typedef struct _duckdb_config_option {
    void *internal_ptr;
} * duckdb_config_option;
typedef enum duckdb_config_option_scope {
    DUCKDB_CONFIG_OPTION_SCOPE_INVALID = 0,
    DUCKDB_CONFIG_OPTION_SCOPE_LOCAL = 1,
    DUCKDB_CONFIG_OPTION_SCOPE_SESSION = 2,
    DUCKDB_CONFIG_OPTION_SCOPE_GLOBAL = 3
} duckdb_config_option_scope;

duckdb_config_option duckdb_create_config_option(void);
void duckdb_destroy_config_option(duckdb_config_option *option);
void duckdb_config_option_set_name(duckdb_config_option option, const char *name);
void duckdb_config_option_set_type(duckdb_config_option option, duckdb_logical_type type);
void duckdb_config_option_set_default_value(duckdb_config_option option, duckdb_value default_value);
void duckdb_config_option_set_default_scope(duckdb_config_option option, duckdb_config_option_scope scope);
void duckdb_config_option_set_description(duckdb_config_option option, const char *description);
duckdb_state duckdb_register_config_option(duckdb_connection connection, duckdb_config_option option);

/** State of a scalar function per thread that runs it: `init` makes it, `destroy` ends it. */
typedef void (*duckdb_scalar_function_init_t)(duckdb_init_info info);
void duckdb_scalar_function_set_init(duckdb_scalar_function function, duckdb_scalar_function_init_t init);
void duckdb_scalar_function_init_set_state(duckdb_init_info info, void *state, duckdb_delete_callback_t destroy);
void duckdb_scalar_function_init_set_error(duckdb_init_info info, const char *error);
void *duckdb_scalar_function_get_state(duckdb_function_info info);

/** As duckdb_vector_assign_string_element_len, without the UTF-8 check. */
void duckdb_unsafe_vector_assign_string_element_len(duckdb_vector vector, idx_t index, const char *text, idx_t length);

#include "engine/duckdb_calls.h"

#endif
