/** Which other engines can use a table of a given protocol: what a statement that upgrades one tells before it hurts. */
#ifndef DELTA_PEER_SUPPORT_H
#define DELTA_PEER_SUPPORT_H

#include "delta/features.h"

typedef struct delta_peer {
    const char *name; /**< "deltalake 1.6" */
    uint8_t bit;
} delta_peer;
size_t delta_peer_count(void);
const delta_peer *delta_peer_at(size_t i);

/** Bits of the peers that cannot read, and that cannot write, a table with this protocol (NULL: the protocol of a plain table). */
void delta_peers_shut_out(const delta_protocol *p, uint8_t *out_read, uint8_t *out_write);

#endif
