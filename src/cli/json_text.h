/**
 * Members out of the JSON that the library itself writes (silt_snapshot_describe_json): compact and valid, so that a scan for
 * the end of a value is enough.
 */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include "cli/cli.h"

/** A top-level member's value as its JSON text, in fresh memory; NULL when there is none. */
char *json_member(const char *object, const char *key);
/** The same as plain text: a string unescaped, null as NULL. */
char *json_member_text(const char *object, const char *key);
/** Call fn for the members of the object that is the member `key`; strings unescaped, lists as their items with commas. */
void json_each_member(const char *object, const char *key, void (*fn)(void *ctx, const char *key, const char *text), void *ctx);

#endif
