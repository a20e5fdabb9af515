/**
 * Sending a data file while it is still being written: whole pieces go out as soon as they are on the disk, so that an append lasts about as long as the slower of writing and sending, and not as both.
 * Internal to the object stores, and only for services that take pieces in any order (object_driver.early).
 *
 * The file must be written from its front to its end. Nothing relies on it: when it is finished, each piece that went out is compared with what stands in the file then, by a checksum that was taken before it
 * was sent, and where one differs everything is sent again.
 */
#ifndef STORE_OBJECT_EARLY_H
#define STORE_OBJECT_EARLY_H

#include "store/object/object_store.h"

/** What a driver needs to begin an upload and to send pieces of it. */
typedef struct object_early_driver {
    /** Begin an upload of `key`; *out_id in `a`. */
    silt_status (*begin)(object_store *o, str key, arena *a, str *out_id, silt_error *err);
    /** Send piece `index` (from 0), bytes [index * piece_bytes, + piece_bytes) of the local file; *out_mark is what completing it asks for (an ETag), in `a`. */
    silt_status (*send)(object_store *o, str key, str id, size_t index, str local, const cancel_token *cancel, arena *a, str *out_mark, silt_error *err);
    /** Best effort. */
    void (*abort)(object_store *o, str key, str id, arena *a);
} object_early_driver;

/** Pieces of a file that went out. */
typedef struct object_early_piece {
    bool sent;
    uint64_t sum;
    str mark;
} object_early_piece;

typedef struct object_early {
    str id;                     /**< of the upload; null: none was begun */
    object_early_piece *pieces; /**< those before n_pieces may be sent */
    size_t n_pieces;
} object_early;

typedef struct object_early_pool object_early_pool;

/** Watch a file that store_write_begin gave and that is written from now on. Best effort. */
void object_early_follow(object_store *o, str path, str local);
/** The file is finished: stop watching and wait for what is under way. *out (in `a`) says what went out and is still what the file holds; false: nothing that could be used. */
bool object_early_finish(object_store *o, str key, str local, int64_t size, arena *a, object_early *out);
/** The file is given up: what went out is taken back. */
void object_early_give_up(object_store *o, str local);
/** Of a store that closes. */
void object_early_close(object_store *o);

#endif
