/**
 * A warehouse that is set up once and copied for each run, sessions over it, and a fault at one of a statement's storage calls. One world per program; what fails fails the
 * running cmocka test.
 *
 *     static fault_world w;
 *     begin:  fault_world_begin(&w, "clone"); s = world_open(&w); must(s, "CREATE TABLE …"); silt_session_close(s); fault_world_keep(&w);
 *     a run:  fault_world_fresh(&w); fault_order o = {.at = 7, .fault = FAULT_CRASH}; status = world_run(&w, "DELETE …", fault_on_order, &o, &err);
 *     end:    fault_world_end(&w);
 */
#ifndef SUPPORT_FAULT_WORLD_H
#define SUPPORT_FAULT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/hooked_session.h"

/** Each call in turn gets a fault; under a sanitizer, whose runs take many times as long, every STEP-th. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 4 };
#else
enum { STEP = 1 };
#endif

enum { WORLD_SETTINGS = 6 };

typedef struct fault_world {
    char folder[64];    /**< holds the two, and what a test needs beside them */
    char base[96];      /**< the warehouse as it was set up */
    char warehouse[96]; /**< the one that sessions work on */
    const char *keys[WORLD_SETTINGS], *values[WORLD_SETTINGS]; /**< of every session; the first is the warehouse */
    size_t n_settings;
} fault_world;

void fault_world_begin(fault_world *w, const char *name);
/** Literals. */
void fault_world_set(fault_world *w, const char *key, const char *value);
/** The warehouse as it is now is what runs begin with. */
void fault_world_keep(fault_world *w);
/** A warehouse as it was kept, with the times of its files. */
void fault_world_fresh(const fault_world *w);
void fault_world_end(const fault_world *w);

/** A shell command, which must succeed. */
void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

silt_session *world_open(const fault_world *w);
/** A statement in a session of its own whose storage calls ask `before` first. */
silt_status world_run(const fault_world *w, const char *sql, store_fault_fn before, void *ctx, silt_error *err);
/** A statement, which must succeed. */
void must(silt_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The one BIGINT of a query, which must succeed. */
int64_t number(silt_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A fault at the at-th storage call. To die before a read is to die before the next write: there only FAULT_FAIL is given, and FAULT_SHORT at reads. */
typedef struct fault_order {
    size_t at, calls;
    store_fault fault;
    bool given;
} fault_order;

/** A store_fault_fn over a fault_order. From any thread. */
store_fault fault_on_order(void *ctx, const char *call, str path, size_t nth);
/** The process lived to tell the outcome. */
static inline bool fault_is_survived(const fault_order *o) { return o->fault != FAULT_CRASH && o->fault != FAULT_CRASH_AFTER; }
/** The table is as before or as it should be after, and a process that lived told which. `what` is the statement, `err` its error. */
void fault_check_told(const char *what, const fault_order *o, silt_status status, const silt_error *err, bool is_before, bool is_after);

/** fail_msg with the statement and the fault before it. */
void fault_fail(const char *what, const fault_order *o, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
