/** Actions as lines of a commit, exactly as Spark writes them: key order, absent keys left out, nulls only in partitionValues. */
#ifndef DELTA_ACTION_WRITE_H
#define DELTA_ACTION_WRITE_H

#include "delta/actions.h"

/* Each appends one whole line with its newline: {"add":{…}}\n. The buffer's own failure flag reports exhaustion. */
void delta_write_protocol(buf *out, const delta_protocol *p);
void delta_write_metadata(buf *out, const delta_metadata *m);
void delta_write_add(buf *out, const delta_add *a);
void delta_write_remove(buf *out, const delta_remove *r);
void delta_write_cdc(buf *out, const delta_cdc *c);
void delta_write_txn(buf *out, const delta_txn_id *t);
void delta_write_domain(buf *out, const delta_domain *d);

/* The object alone, without its name and newline: for version checksums and V2 checkpoints. */
void delta_write_protocol_object(buf *out, const delta_protocol *p);
void delta_write_metadata_object(buf *out, const delta_metadata *m);
void delta_write_txn_object(buf *out, const delta_txn_id *t);
void delta_write_domain_object(buf *out, const delta_domain *d);

#endif
