/** TOML 1.0 as a plain tree; toml_door.cc is the one file that knows toml++ (decisions/007). */
#ifndef CLI_TOML_DOOR_H
#define CLI_TOML_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum toml_type { TOML_STRING, TOML_INTEGER, TOML_BOOLEAN, TOML_ARRAY, TOML_TABLE, TOML_OTHER } toml_type;

typedef struct toml_node {
    toml_type type;
    char *key;  /**< in a table; NULL elsewhere */
    int line;   /**< of the value, 1-based */
    char *text; /**< TOML_STRING */
    int64_t integer;
    bool boolean;
    struct toml_node *items;
    size_t count; /**< of an array or a table, in the order of the text */
} toml_node;

/** The whole document as a table, in fresh memory; NULL with a line of explanation in `error`. */
toml_node *toml_parse(const char *text, char *error, size_t error_size);
void toml_free(toml_node *root); /**< NULL is fine */
/** A table's member, or NULL. */
const toml_node *toml_get(const toml_node *table, const char *key);

#ifdef __cplusplus
}
#endif

#endif
