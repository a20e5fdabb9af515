/**
 * The rare actions (protocol, metaData, txn, domainMetadata) from their JSON text. add and remove come by the column path of
 * log_parse.h.
 */
#ifndef DELTA_ACTION_JSON_H
#define DELTA_ACTION_JSON_H

#include "delta/actions.h"

/**
 * `text` is the action's object, without its name. Unknown members are ignored. CORRUPT (DELTA_LOG_FILE_CORRUPT is the caller's
 * business) with the reason in detail. Everything returned lives in `arena`.
 */
silt_status action_parse_protocol(str text, arena *arena, delta_protocol *out, silt_error *err) MUST_CHECK;
/**
 * out->schema is parsed (its physical names as the column mapping mode of `configuration` says); a missing schemaString gives an
 * empty struct.
 */
silt_status action_parse_metadata(str text, arena *arena, delta_metadata *out, silt_error *err) MUST_CHECK;
silt_status action_parse_txn(str text, arena *arena, delta_txn_id *out, silt_error *err) MUST_CHECK;
silt_status action_parse_domain(str text, arena *arena, delta_domain *out, silt_error *err) MUST_CHECK;

/** Without its tags. */
silt_status action_parse_cdc(str text, arena *arena, delta_cdc *out, silt_error *err) MUST_CHECK;

/** A JSON object of scalars → str_map (null values as {NULL,0}, other scalars as their text). */
silt_status action_str_map(const json_node *object, arena *arena, str_map *out, silt_error *err) MUST_CHECK;
/** Sets metadata->schema from schema_json and configuration. */
silt_status action_bind_schema(delta_metadata *metadata, arena *arena, silt_error *err) MUST_CHECK;

#endif
