/**
 * Opening the engine: one in-memory DuckDB with every setting that Silt's answers rest on, the numbered objects that C functions find, and the C functions themselves.
 *
 * Settings that matter (docs/decisions/002-engine-rules.md): extensions are never installed or loaded (an unknown `s3://` path would go to the network);
 * spilling goes to a private folder (DuckDB's default is `.tmp` in the current one); the null order is Spark's; Variants written before Parquet knew the
 * annotation are recognised by their structure; the library's version is exact, because virtual columns and `schema=` are no stable surface.
 */
#include "engine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "engine/functions.h"
#include "engine/scan.h"
#include "engine/sources.h"
#include "engine/write_feed.h"
#include "engine/write_sorted.h"
#include "engine/write_tap.h"

/* ---- numbered objects ---- */

bool engine_register(engine *e, engine_registry *r, void *object, uint64_t *out_id) {
    pthread_mutex_lock(&e->mutex);
    bool ok = true;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 16;
        void **items = realloc(r->items, capacity * sizeof(*items));
        if (items) r->items = items;
        uint64_t *ids = items ? realloc(r->ids, capacity * sizeof(*ids)) : NULL;
        if (ids) r->ids = ids;
        ok = ids != NULL;
        if (ok) r->capacity = capacity;
    }
    if (ok) {
        *out_id = ++e->next_id;
        r->items[r->count] = object;
        r->ids[r->count++] = *out_id;
    }
    pthread_mutex_unlock(&e->mutex);
    return ok;
}

/* A handful are alive at once: a linear search under the mutex, once per chunk of 2,048 rows. */
static size_t registry_index(const engine_registry *r, uint64_t id) {
    size_t i = 0;
    while (i < r->count && r->ids[i] != id) i++;
    return i;
}

void engine_unregister(engine *e, engine_registry *r, uint64_t id) {
    pthread_mutex_lock(&e->mutex);
    size_t i = registry_index(r, id);
    if (i < r->count) {
        r->items[i] = r->items[r->count - 1];
        r->ids[i] = r->ids[--r->count];
    }
    pthread_mutex_unlock(&e->mutex);
}

uint64_t engine_take_number(engine *e) {
    pthread_mutex_lock(&e->mutex);
    uint64_t number = ++e->next_id;
    pthread_mutex_unlock(&e->mutex);
    return number;
}

void *engine_find(engine *e, engine_registry *r, uint64_t id) {
    pthread_mutex_lock(&e->mutex);
    size_t i = registry_index(r, id);
    void *found = i < r->count ? r->items[i] : NULL;
    pthread_mutex_unlock(&e->mutex);
    return found;
}

static void registry_dispose(engine_registry *r) {
    free(r->items);
    free(r->ids);
}

silt_status engine_keep_temp(engine *e, silt_error *err) {
    pthread_mutex_lock(&e->mutex);
    silt_status status = temp_folder_open(&e->temp, STR_NULL, err);
    pthread_mutex_unlock(&e->mutex);
    return status;
}

/* ---- settings ---- */

static silt_status configure(engine *e, duckdb_config config, const engine_options *options, silt_error *err) {
    const struct {
        const char *name, *value;
    } fixed[] = {
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"default_null_order", "nulls_first_on_asc_last_on_desc"},
        {"temp_directory", e->temp.path},
        {"enable_external_file_cache", "false"}, /* it keeps bytes around those it was asked for: of a sparse file they may be no data yet (scan_fetch.h) */
    };
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (duckdb_set_config(config, fixed[i].name, fixed[i].value) != DuckDBSuccess)
            return err_INTERNAL_ERROR(err, fixed[i].name);
    if (e->threads > 0) {
        char text[16];
        snprintf(text, sizeof text, "%d", e->threads);
        if (duckdb_set_config(config, "threads", text) != DuckDBSuccess) return err_INTERNAL_ERROR(err, "threads");
    }
    if (options->memory_limit.len) {
        char text[64];
        snprintf(text, sizeof text, "%.*s", STR_ARG(options->memory_limit));
        if (duckdb_set_config(config, "memory_limit", text) != DuckDBSuccess)
            return err_INVALID_PARAMETER_VALUE(err, STR("memory limit"), options->memory_limit, "a size such as 2GB");
    }
    return SILT_OK;
}

/* Without this option, which DuckDB's own Delta extension sets, a Variant of Spark 4.0 (a group of value and metadata) reads as a struct of two blobs. */
static bool register_variant_option(duckdb_connection connection) {
    duckdb_config_option option = duckdb_create_config_option();
    duckdb_logical_type type = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_value yes = duckdb_create_bool(true);
    duckdb_config_option_set_name(option, "__delta_only_variant_encoding_enabled");
    duckdb_config_option_set_description(option, "recognise variants by their structure");
    duckdb_config_option_set_type(option, type);
    duckdb_config_option_set_default_value(option, yes);
    duckdb_config_option_set_default_scope(option, DUCKDB_CONFIG_OPTION_SCOPE_GLOBAL);
    bool ok = duckdb_register_config_option(connection, option) == DuckDBSuccess;
    duckdb_destroy_value(&yes);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_config_option(&option);
    return ok;
}

static silt_status open_database(engine *e, const engine_options *options, silt_error *err) {
    duckdb_config config = NULL;
    if (duckdb_create_config(&config) != DuckDBSuccess) return error_no_memory(err);
    silt_status status = configure(e, config, options, err);
    char *message = NULL;
    if (status == SILT_OK && duckdb_open_ext(NULL, &e->database, config, &message) != DuckDBSuccess) {
        status = err_INTERNAL_ERROR(err, "the engine does not open");
        error_detail(err, "%s", message ? message : "");
    }
    duckdb_free(message);
    duckdb_destroy_config(&config);
    return status;
}

static silt_status register_everything(engine *e, silt_error *err) {
    duckdb_connection connection;
    if (duckdb_connect(e->database, &connection) != DuckDBSuccess) return error_no_memory(err);
    silt_status status = SILT_OK;
    if (duckdb_query(connection, "SET GLOBAL TimeZone = 'UTC'", NULL) != DuckDBSuccess)
        status = err_INTERNAL_ERROR(err, "the engine's time zone cannot be set");
    if (!register_variant_option(connection)) status = err_INTERNAL_ERROR(err, "the engine's variant option");
    if (status == SILT_OK && duckdb_query(connection, "BEGIN TRANSACTION", NULL) != DuckDBSuccess) status = err_INTERNAL_ERROR(err, "the engine gives no transaction"); /* one for some hundred functions */
    if (status == SILT_OK) status = engine_register_functions(connection, err);
    if (status == SILT_OK) status = engine_register_scan_functions(e, connection, err);
    if (status == SILT_OK) status = engine_register_arrow_input(e, connection, err);
    if (status == SILT_OK) status = engine_register_feed(e, connection, err);
    if (status == SILT_OK) status = engine_register_tap(e, connection, err);
    if (status == SILT_OK) status = engine_register_row_sets(e, connection, err);
    if (status == SILT_OK) status = engine_register_row_notes(e, connection, err);
    if (status == SILT_OK) status = engine_register_curves(e, connection, err);
    if (status == SILT_OK) status = engine_register_sorted(e, connection, err);
    if (status == SILT_OK && duckdb_query(connection, "COMMIT", NULL) != DuckDBSuccess) status = err_INTERNAL_ERROR(err, "the engine's functions cannot be registered");
    duckdb_disconnect(&connection);
    return status;
}

static silt_status set_zone(engine *e, str zone, silt_error *err);
static silt_status check_zone(engine *e, str zone, silt_error *err);

silt_status engine_open_database(engine *e, silt_error *err) {
    const engine_options *o = &e->options;
    str zone = o->time_zone.len ? o->time_zone : STR("UTC");
    silt_status status;
    TRY(engine_load_duckdb(err));
    TRY_OUT(temp_folder_open(&e->temp, o->temp_directory, err));
    TRY_OUT(open_database(e, o, err));
    TRY_OUT(register_everything(e, err));
    TRY_OUT(check_zone(e, zone, err));
    TRY_OUT(set_zone(e, zone, err));
    return SILT_OK;
out:
    if (e->database) duckdb_close(&e->database);
    temp_folder_close(&e->temp);
    return status;
}

void engine_close(engine *e) {
    if (!e) return;
    engine_end_ahead(e);
    if (e->watcher_runs) {
        pthread_mutex_lock(&e->mutex);
        e->watcher_stop = true;
        pthread_cond_signal(&e->watcher_wake);
        pthread_mutex_unlock(&e->mutex);
        pthread_join(e->watcher, NULL);
    }
    if (e->database && !e->ends_with_process) duckdb_close(&e->database);
    engine_remove_empty_file(e);
    temp_folder_close(&e->temp);
    if (e->database) return; /* its threads may still look at what is freed below */
    registry_dispose(&e->scans);
    registry_dispose(&e->feeds);
    registry_dispose(&e->taps);
    registry_dispose(&e->row_sets);
    registry_dispose(&e->row_notes);
    registry_dispose(&e->curves);
    registry_dispose(&e->sorters);
    free(e->time_zone);
    pthread_cond_destroy(&e->watcher_wake);
    pthread_mutex_destroy(&e->mutex);
    pthread_mutex_destroy(&e->decimals_mutex);
    pthread_mutex_destroy(&e->opening);
    arena_free(e->options_arena);
    free(e);
}

/* DuckDB itself always runs in UTC (rule 12): INT96 and zoneless timestamps of files would be taken as local otherwise. The printer names the session's zone. */
static silt_status check_zone(engine *e, str zone, silt_error *err) {
    int32_t offset;
    if (time_zone_fixed_offset(zone, &offset)) return SILT_OK;
    engine_connection *c;
    TRY(engine_connect_open(e, &c, err));
    buf sql;
    buf_init(&sql, 4096);
    buf_append_z(&sql, "SELECT timezone(");
    engine_write_literal(&sql, zone);
    buf_append_z(&sql, ", '2000-01-01 00:00:00+00'::TIMESTAMPTZ)");
    const char *text = buf_cstr(&sql);
    silt_error ignored;
    silt_status status = text ? engine_execute(c, text, &ignored) : SILT_INVALID;
    buf_dispose(&sql);
    engine_disconnect(c);
    if (status == SILT_OK || status == SILT_CANCELLED || status == SILT_NO_MEMORY) return status;
    return err_INVALID_PARAMETER_VALUE(err, STR("spark.sql.session.timeZone"), zone,
                                       "a zone such as UTC, +02:00 or Europe/Paris");
}

static silt_status set_zone(engine *e, str zone, silt_error *err) {
    char *copy = strndup(zone.ptr, zone.len);
    if (!copy) return error_no_memory(err);
    pthread_mutex_lock(&e->mutex);
    free(e->time_zone);
    e->time_zone = copy;
    pthread_mutex_unlock(&e->mutex);
    return SILT_OK;
}

silt_status engine_set_time_zone(engine *e, str zone, silt_error *err) {
    TRY(engine_need(e, err));
    TRY(check_zone(e, zone, err));
    return set_zone(e, zone, err);
}

parquet_service *engine_parquet(engine *e) { return &e->parquet; }
