/**
 * The world of an isolation spec: one warehouse with a table `t` that all sessions share, and another one in which the same steps run one after another.
 */
#ifndef ISOLATION_WORLD_H
#define ISOLATION_WORLD_H

#include "silt/silt.h"
#include "store/store.h"

typedef struct world world;
typedef struct actor actor;

/** in_store: the warehouse is named by a URI, as one in a store is, where the same files stand. */
world *world_open(bool in_store, silt_error *err);
void world_close(world *w);
/** Statements that make `t`; copied. */
void world_add_setup(world *w, const char *sql);
/** A fresh `t` by the setup, at this isolation level; `serial`: in the other warehouse. */
bool world_begin(world *w, bool serial, const char *level, silt_error *err);
/** The rows of `t` as sorted texts; the caller frees. NULL: they cannot be read. */
char *world_rows(world *w, bool serial, silt_error *err);
bool world_run_serially(world *w, const char *sql, silt_error *err);
/** Names of files under `t` that no log entry knows, NULL for none; the caller frees. */
char *world_stray_files(world *w);

/** The session of that name, opened when first asked for. */
actor *world_actor(world *w, const char *name);
const char *world_actor_name(const actor *a);
/** Run a statement to its end or, with `stops`, to the put of its (next) commit; `fault` is what that put meets when it is made. */
void world_actor_start(actor *a, const char *sql, bool stops, store_fault fault);
void world_actor_continue(actor *a, bool stops, store_fault fault);
/** It stands before the put of a commit. */
bool world_actor_is_stopped(const actor *a);
/** How its last statement ended. */
const silt_error *world_actor_outcome(const actor *a);

#endif
