/* The one place that loads libduckdb. */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdlib.h>

#include "engine/internal.h"

#define LIBRARY "libduckdb.so" /* found by the run-time path of whoever holds this code, as if it were linked */

struct engine_duckdb_calls engine_duckdb;

static bool is_of_same_library(const void *one, const void *other) {
    Dl_info a, b;
    return one && other && dladdr(one, &a) && dladdr(other, &b) && a.dli_fbase == b.dli_fbase;
}

/*
 * How it is bound: by its own symbols first, for otherwise each of 38,000 is looked for in every library of the program (some fifty) before it is found here, which takes twice as long. Not where malloc
 * is not the C library's, or operator new not libstdc++'s (a preloaded allocator, a sanitizer, a program's own): it would free by the one what it got from the other.
 */
static int binding(void) {
    const void *operator_new = dlsym(RTLD_DEFAULT, "_Znwm");
    bool ours = is_of_same_library((const void *)malloc, (const void *)gnu_get_libc_version) && (!operator_new || is_of_same_library(operator_new, dlsym(RTLD_DEFAULT, "__cxa_throw")));
    return ours ? RTLD_DEEPBIND : 0;
}

static void *open_library(void) {
    int how = RTLD_NOW | RTLD_LOCAL | binding();
    void *library = dlopen(LIBRARY, how);
#ifdef ENGINE_DUCKDB_FILE /* a sanitizer asks in our place, by its own run-time path */
    if (!library) library = dlopen(ENGINE_DUCKDB_FILE, how);
#endif
    return library;
}

/* It is never closed: its threads may outlive the engine. */
static silt_status load(silt_error *err) {
    void *library = open_library();
    if (!library) return err_ENGINE_LIBRARY(err, str_of(dlerror()));
    struct engine_duckdb_calls found;
    /* POSIX lets a function's address be taken this way (dlsym), ISO C only by its bytes. */
#define FIND(name) { \
        void *address = dlsym(library, "duckdb_" #name); \
        if (!address) return err_ENGINE_LIBRARY(err, str_of(dlerror())); \
        memcpy(&found.name, &address, sizeof address); \
    }
    ENGINE_DUCKDB_CALLS(FIND)
#undef FIND
    const char *version = found.library_version();
    if (strcmp(version, ENGINE_DUCKDB_VERSION) != 0) return err_ENGINE_VERSION(err, str_of(version), str_of(ENGINE_DUCKDB_VERSION));
    engine_duckdb = found;
    return SILT_OK;
}

silt_status engine_load_duckdb(silt_error *err) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool is_loaded;
    pthread_mutex_lock(&mutex);
    silt_status status = is_loaded ? SILT_OK : load(err);
    is_loaded = status == SILT_OK;
    pthread_mutex_unlock(&mutex);
    return status;
}
