/**
 * The calls of DuckDB that the engine makes, through a table that engine_load_duckdb fills. Linked to it, every start of a program would wait until the library's 70 MB are bound (10 ms), also one
 * that never asks the engine anything; loaded, that happens at the engine's first use, beside whatever is waited for (opening.c).
 *
 * A call that is new here needs two lines: one in ENGINE_DUCKDB_CALLS and its macro below. One without them does not link.
 */
#ifndef ENGINE_DUCKDB_CALLS_H
#define ENGINE_DUCKDB_CALLS_H

#include "base/base.h"
#include "base/error.h"

#define ENGINE_DUCKDB_CALLS(F) \
    F(array_type_child_type) F(bind_add_result_column) F(bind_get_extra_info) F(bind_get_parameter) F(bind_set_bind_data) F(bind_set_error) \
    F(bind_value) F(close) F(column_count) F(column_logical_type) F(column_name) F(config_option_set_default_scope) F(config_option_set_default_value) \
    F(config_option_set_description) F(config_option_set_name) F(config_option_set_type) F(connect) F(create_blob) F(create_bool) F(create_config) \
    F(create_config_option) F(create_data_chunk) F(create_date) F(create_decimal_type) F(create_double) F(create_int64) F(create_list_type) \
    F(create_list_value) F(create_logical_type) F(create_map_type) F(create_map_value) F(create_null_value) F(create_scalar_function) \
    F(create_selection_vector) F(create_struct_type) F(create_struct_value) F(create_table_function) F(create_timestamp) F(create_timestamp_tz) \
    F(create_varchar_length) F(data_chunk_get_column_count) F(data_chunk_get_size) F(data_chunk_get_vector) F(data_chunk_set_size) \
    F(decimal_internal_type) F(decimal_scale) F(decimal_width) F(destroy_config) F(destroy_config_option) F(destroy_data_chunk) \
    F(destroy_logical_type) F(destroy_pending) F(destroy_prepare) F(destroy_result) F(destroy_scalar_function) F(destroy_selection_vector) \
    F(destroy_table_function) F(destroy_value) F(disconnect) F(execute_pending) F(execute_prepared) F(fetch_chunk) F(free) F(function_get_bind_data) \
    F(function_get_local_init_data) F(function_set_error) F(get_int64) F(get_type_id) F(init_get_bind_data) F(init_set_error) F(init_set_init_data) \
    F(init_set_max_threads) F(interrupt) F(library_version) F(list_type_child_type) F(list_vector_get_child) F(list_vector_get_size) \
    F(list_vector_reserve) F(list_vector_set_size) F(map_type_key_type) F(map_type_value_type) F(open_ext) F(pending_error) F(pending_execute_task) \
    F(pending_prepared) F(pending_prepared_streaming) F(prepare) F(prepare_error) F(query) F(query_progress) F(register_config_option) \
    F(register_scalar_function) F(register_table_function) F(result_error) F(result_error_type) F(rows_changed) F(scalar_function_add_parameter) \
    F(scalar_function_get_extra_info) F(scalar_function_get_state) F(scalar_function_init_set_error) F(scalar_function_init_set_state) \
    F(scalar_function_set_error) F(scalar_function_set_extra_info) F(scalar_function_set_function) F(scalar_function_set_init) \
    F(scalar_function_set_name) F(scalar_function_set_return_type) F(scalar_function_set_special_handling) F(scalar_function_set_varargs) \
    F(scalar_function_set_volatile) F(selection_vector_get_data_ptr) F(set_config) F(slice_vector) F(string_t_data) F(string_t_length) \
    F(struct_type_child_count) F(struct_type_child_name) F(struct_type_child_type) F(struct_vector_get_child) F(table_function_add_parameter) \
    F(table_function_set_bind) F(table_function_set_extra_info) F(table_function_set_function) F(table_function_set_init) \
    F(table_function_set_local_init) F(table_function_set_name) F(unsafe_vector_assign_string_element_len) F(validity_row_is_valid) \
    F(validity_set_row_invalid) F(value_int64) F(value_varchar) F(vector_ensure_validity_writable) F(vector_get_column_type) F(vector_get_data) \
    F(vector_get_validity) F(vector_reference_value) F(vector_reference_vector) F(vector_size)

#define ENGINE_MEMBER(name) __typeof__(duckdb_##name) *name;
struct engine_duckdb_calls {
    ENGINE_DUCKDB_CALLS(ENGINE_MEMBER)
};
#undef ENGINE_MEMBER

/** Filled once by engine_load_duckdb and never changed again; of the process, as the library is. */
extern struct engine_duckdb_calls engine_duckdb;

/** Loads the library unless it is loaded. Called by engine_open_database, before anything of it. Thread rule: any thread. Errors: ENGINE_LIBRARY (it is not found, or lacks a call), ENGINE_VERSION. */
silt_status engine_load_duckdb(silt_error *err) MUST_CHECK;

#define duckdb_array_type_child_type engine_duckdb.array_type_child_type
#define duckdb_bind_add_result_column engine_duckdb.bind_add_result_column
#define duckdb_bind_get_extra_info engine_duckdb.bind_get_extra_info
#define duckdb_bind_get_parameter engine_duckdb.bind_get_parameter
#define duckdb_bind_set_bind_data engine_duckdb.bind_set_bind_data
#define duckdb_bind_set_error engine_duckdb.bind_set_error
#define duckdb_bind_value engine_duckdb.bind_value
#define duckdb_close engine_duckdb.close
#define duckdb_column_count engine_duckdb.column_count
#define duckdb_column_logical_type engine_duckdb.column_logical_type
#define duckdb_column_name engine_duckdb.column_name
#define duckdb_config_option_set_default_scope engine_duckdb.config_option_set_default_scope
#define duckdb_config_option_set_default_value engine_duckdb.config_option_set_default_value
#define duckdb_config_option_set_description engine_duckdb.config_option_set_description
#define duckdb_config_option_set_name engine_duckdb.config_option_set_name
#define duckdb_config_option_set_type engine_duckdb.config_option_set_type
#define duckdb_connect engine_duckdb.connect
#define duckdb_create_blob engine_duckdb.create_blob
#define duckdb_create_bool engine_duckdb.create_bool
#define duckdb_create_config engine_duckdb.create_config
#define duckdb_create_config_option engine_duckdb.create_config_option
#define duckdb_create_data_chunk engine_duckdb.create_data_chunk
#define duckdb_create_date engine_duckdb.create_date
#define duckdb_create_decimal_type engine_duckdb.create_decimal_type
#define duckdb_create_double engine_duckdb.create_double
#define duckdb_create_int64 engine_duckdb.create_int64
#define duckdb_create_list_type engine_duckdb.create_list_type
#define duckdb_create_list_value engine_duckdb.create_list_value
#define duckdb_create_logical_type engine_duckdb.create_logical_type
#define duckdb_create_map_type engine_duckdb.create_map_type
#define duckdb_create_map_value engine_duckdb.create_map_value
#define duckdb_create_null_value engine_duckdb.create_null_value
#define duckdb_create_scalar_function engine_duckdb.create_scalar_function
#define duckdb_create_selection_vector engine_duckdb.create_selection_vector
#define duckdb_create_struct_type engine_duckdb.create_struct_type
#define duckdb_create_struct_value engine_duckdb.create_struct_value
#define duckdb_create_table_function engine_duckdb.create_table_function
#define duckdb_create_timestamp engine_duckdb.create_timestamp
#define duckdb_create_timestamp_tz engine_duckdb.create_timestamp_tz
#define duckdb_create_varchar_length engine_duckdb.create_varchar_length
#define duckdb_data_chunk_get_column_count engine_duckdb.data_chunk_get_column_count
#define duckdb_data_chunk_get_size engine_duckdb.data_chunk_get_size
#define duckdb_data_chunk_get_vector engine_duckdb.data_chunk_get_vector
#define duckdb_data_chunk_set_size engine_duckdb.data_chunk_set_size
#define duckdb_decimal_internal_type engine_duckdb.decimal_internal_type
#define duckdb_decimal_scale engine_duckdb.decimal_scale
#define duckdb_decimal_width engine_duckdb.decimal_width
#define duckdb_destroy_config engine_duckdb.destroy_config
#define duckdb_destroy_config_option engine_duckdb.destroy_config_option
#define duckdb_destroy_data_chunk engine_duckdb.destroy_data_chunk
#define duckdb_destroy_logical_type engine_duckdb.destroy_logical_type
#define duckdb_destroy_pending engine_duckdb.destroy_pending
#define duckdb_destroy_prepare engine_duckdb.destroy_prepare
#define duckdb_destroy_result engine_duckdb.destroy_result
#define duckdb_destroy_scalar_function engine_duckdb.destroy_scalar_function
#define duckdb_destroy_selection_vector engine_duckdb.destroy_selection_vector
#define duckdb_destroy_table_function engine_duckdb.destroy_table_function
#define duckdb_destroy_value engine_duckdb.destroy_value
#define duckdb_disconnect engine_duckdb.disconnect
#define duckdb_execute_pending engine_duckdb.execute_pending
#define duckdb_execute_prepared engine_duckdb.execute_prepared
#define duckdb_fetch_chunk engine_duckdb.fetch_chunk
#define duckdb_free engine_duckdb.free
#define duckdb_function_get_bind_data engine_duckdb.function_get_bind_data
#define duckdb_function_get_local_init_data engine_duckdb.function_get_local_init_data
#define duckdb_function_set_error engine_duckdb.function_set_error
#define duckdb_get_int64 engine_duckdb.get_int64
#define duckdb_get_type_id engine_duckdb.get_type_id
#define duckdb_init_get_bind_data engine_duckdb.init_get_bind_data
#define duckdb_init_set_error engine_duckdb.init_set_error
#define duckdb_init_set_init_data engine_duckdb.init_set_init_data
#define duckdb_init_set_max_threads engine_duckdb.init_set_max_threads
#define duckdb_interrupt engine_duckdb.interrupt
#define duckdb_library_version engine_duckdb.library_version
#define duckdb_list_type_child_type engine_duckdb.list_type_child_type
#define duckdb_list_vector_get_child engine_duckdb.list_vector_get_child
#define duckdb_list_vector_get_size engine_duckdb.list_vector_get_size
#define duckdb_list_vector_reserve engine_duckdb.list_vector_reserve
#define duckdb_list_vector_set_size engine_duckdb.list_vector_set_size
#define duckdb_map_type_key_type engine_duckdb.map_type_key_type
#define duckdb_map_type_value_type engine_duckdb.map_type_value_type
#define duckdb_open_ext engine_duckdb.open_ext
#define duckdb_pending_error engine_duckdb.pending_error
#define duckdb_pending_execute_task engine_duckdb.pending_execute_task
#define duckdb_pending_prepared engine_duckdb.pending_prepared
#define duckdb_pending_prepared_streaming engine_duckdb.pending_prepared_streaming
#define duckdb_prepare engine_duckdb.prepare
#define duckdb_prepare_error engine_duckdb.prepare_error
#define duckdb_query engine_duckdb.query
#define duckdb_query_progress engine_duckdb.query_progress
#define duckdb_register_config_option engine_duckdb.register_config_option
#define duckdb_register_scalar_function engine_duckdb.register_scalar_function
#define duckdb_register_table_function engine_duckdb.register_table_function
#define duckdb_result_error engine_duckdb.result_error
#define duckdb_result_error_type engine_duckdb.result_error_type
#define duckdb_rows_changed engine_duckdb.rows_changed
#define duckdb_scalar_function_add_parameter engine_duckdb.scalar_function_add_parameter
#define duckdb_scalar_function_get_extra_info engine_duckdb.scalar_function_get_extra_info
#define duckdb_scalar_function_get_state engine_duckdb.scalar_function_get_state
#define duckdb_scalar_function_init_set_error engine_duckdb.scalar_function_init_set_error
#define duckdb_scalar_function_init_set_state engine_duckdb.scalar_function_init_set_state
#define duckdb_scalar_function_set_error engine_duckdb.scalar_function_set_error
#define duckdb_scalar_function_set_extra_info engine_duckdb.scalar_function_set_extra_info
#define duckdb_scalar_function_set_function engine_duckdb.scalar_function_set_function
#define duckdb_scalar_function_set_init engine_duckdb.scalar_function_set_init
#define duckdb_scalar_function_set_name engine_duckdb.scalar_function_set_name
#define duckdb_scalar_function_set_return_type engine_duckdb.scalar_function_set_return_type
#define duckdb_scalar_function_set_special_handling engine_duckdb.scalar_function_set_special_handling
#define duckdb_scalar_function_set_varargs engine_duckdb.scalar_function_set_varargs
#define duckdb_scalar_function_set_volatile engine_duckdb.scalar_function_set_volatile
#define duckdb_selection_vector_get_data_ptr engine_duckdb.selection_vector_get_data_ptr
#define duckdb_set_config engine_duckdb.set_config
#define duckdb_slice_vector engine_duckdb.slice_vector
#define duckdb_string_t_data engine_duckdb.string_t_data
#define duckdb_string_t_length engine_duckdb.string_t_length
#define duckdb_struct_type_child_count engine_duckdb.struct_type_child_count
#define duckdb_struct_type_child_name engine_duckdb.struct_type_child_name
#define duckdb_struct_type_child_type engine_duckdb.struct_type_child_type
#define duckdb_struct_vector_get_child engine_duckdb.struct_vector_get_child
#define duckdb_table_function_add_parameter engine_duckdb.table_function_add_parameter
#define duckdb_table_function_set_bind engine_duckdb.table_function_set_bind
#define duckdb_table_function_set_extra_info engine_duckdb.table_function_set_extra_info
#define duckdb_table_function_set_function engine_duckdb.table_function_set_function
#define duckdb_table_function_set_init engine_duckdb.table_function_set_init
#define duckdb_table_function_set_local_init engine_duckdb.table_function_set_local_init
#define duckdb_table_function_set_name engine_duckdb.table_function_set_name
#define duckdb_unsafe_vector_assign_string_element_len engine_duckdb.unsafe_vector_assign_string_element_len
#define duckdb_validity_row_is_valid engine_duckdb.validity_row_is_valid
#define duckdb_validity_set_row_invalid engine_duckdb.validity_set_row_invalid
#define duckdb_value_int64 engine_duckdb.value_int64
#define duckdb_value_varchar engine_duckdb.value_varchar
#define duckdb_vector_ensure_validity_writable engine_duckdb.vector_ensure_validity_writable
#define duckdb_vector_get_column_type engine_duckdb.vector_get_column_type
#define duckdb_vector_get_data engine_duckdb.vector_get_data
#define duckdb_vector_get_validity engine_duckdb.vector_get_validity
#define duckdb_vector_reference_value engine_duckdb.vector_reference_value
#define duckdb_vector_reference_vector engine_duckdb.vector_reference_vector
#define duckdb_vector_size engine_duckdb.vector_size

#endif
