/**
 * The stores that the contract is run over, and the fixture that each test gets: one store, opened for it, with a fresh place in it.
 *
 * Which rows take part: those that need no server always; those that do where their variable is set (the starters in tests/services print them). SILT_CONTRACT_STORE
 * names one row to run alone.
 */
#ifndef CONTRACT_STORES_H
#define CONTRACT_STORES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"

/** What a store is like beyond the interface's promises; a test names those that it needs. */
enum {
    HAS_FOLDERS = 1,  /**< empty ones exist, and no name is a file and a folder at once */
    IS_LOCAL = 2,     /**< the local file system: the test may look at `root` by other means */
    IS_SERVER = 4,    /**< a server is behind it: slower, its clock is the wall's, other processes see it */
    IS_SHARED = 8,    /**< other processes see it */
    CHECKS_KEYS = 16, /**< a wrong key is refused */
    FIXED_CLOCK = 32,
    OTHER_ORDER = 128, /**< the server sorts names outside ASCII first: see store_list */
    SMALL_PAGES = 128, /**< each file is dear, and a few hundred are pages enough */
    TELLS_REMOVED = 64 /**< removing tells what was not there (S3 answers the same either way) */
};

typedef struct fixture fixture;

typedef struct contract_store {
    const char *name;
    unsigned traits;
    const char *variable; /**< of the environment; NULL: needs no server */
    int max_name_bytes;   /**< of a whole path, 0: thousands */
    const char *const *no_names; /**< that the service or its server cannot have; NULL at the end */
    silt_status (*open)(fixture *f, store **out, silt_error *err); /**< another store over the same bytes each time, where it is shared */
} contract_store;

struct fixture {
    store *store;
    store *inner; /**< behind a fault store */
    arena *arena;
    char root[64]; /**< below it the test works */
    bool is_local;
    bool wrong_key; /**< open with a secret that the server does not know */
    const contract_store *kind;
};

typedef struct contract_test {
    const char *name;
    CMUnitTestFunction run;
    unsigned needs; /**< traits */
} contract_test;
#define CONTRACT(name) {#name, name, 0}
#define CONTRACT_OF(name, needs) {#name, name, needs}

/** Every test with every store that has what it needs; the exit status of main. */
int contract_run(const contract_test *tests, size_t n);

static inline bool has(const fixture *f, unsigned traits) { return (f->kind->traits & traits) == traits; }
/** A path below the root. */
str at(fixture *f, const char *name);
/** Is this one of the names that the store cannot have? */
bool cannot_be_named(const fixture *f, const char *name);

#endif
