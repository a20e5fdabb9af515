/** Changes of a schema, made by path: immutable types in, new types out. Everything is in the given arena. Internal to ops/. */
#ifndef OPS_SCHEMA_EDIT_H
#define OPS_SCHEMA_EDIT_H

#include "expr/tree.h"
#include "table/type.h"

typedef enum step_kind { STEP_FIELD, STEP_ELEMENT, STEP_KEY, STEP_VALUE } step_kind;
typedef struct schema_step {
    step_kind kind;
    size_t field; /**< STEP_FIELD: index in the struct */
} schema_step;

#define SCHEMA_PATH_MAX 64

/** A place in a schema: from the root struct down. */
typedef struct schema_path {
    schema_step steps[SCHEMA_PATH_MAX];
    size_t depth;
} schema_path;

typedef enum path_outcome { PATH_FOUND, PATH_ABSENT, PATH_NOT_A_STRUCT } path_outcome;
/**
 * Names (without case) → a place. element, key and value lead into arrays and maps. PATH_ABSENT and PATH_NOT_A_STRUCT: *out holds the part that was found, so that
 * names.parts[out->depth] is what is not there.
 */
path_outcome schema_path_find(const data_type *schema, name_parts names, schema_path *out);
/** The type at a path; depth 0: the schema itself. */
const data_type *schema_type_at(const data_type *schema, const schema_step *steps, size_t depth);
/** The field that a path ends in, or the nearest one above it where it ends inside an array or a map; *out_depth (may be NULL): the number of steps to it. */
const field *schema_nearest_field(const data_type *schema, const schema_path *path, size_t *out_depth);
/** "a.b.element": names as the schema spells them; {NULL,0} on exhaustion. */
str schema_path_text(const data_type *schema, const schema_step *steps, size_t depth, arena *a);

/* NULL on exhaustion. */
/** The schema with another type at a path; depth 0: that type. */
const data_type *schema_replace_type(const data_type *schema, const schema_step *steps, size_t depth, const data_type *type, arena *a);
/** The schema with another field at a path, which must end in a field. */
const data_type *schema_replace_field(const data_type *schema, const schema_step *steps, size_t depth, const field *f, arena *a);
/** The type without these keys in the metadata of its fields, at every depth; logical_names: physical names are the logical ones again and field ids are gone. */
const data_type *schema_strip(const data_type *type, const char *const *keys, size_t n_keys, bool logical_names, arena *a);
const data_type *struct_insert(const data_type *type, size_t at, const field *f, arena *a);
const data_type *struct_remove(const data_type *type, size_t at, arena *a);
/** Field `from` goes to place `to`, counted in the struct without it. */
const data_type *struct_move(const data_type *type, size_t from, size_t to, arena *a);

#endif
