/**
 * Status codes and the caller-owned error of every Silt call.
 *
 * A fallible call returns a silt_status and, where it is not SILT_OK, fills the silt_error that the caller passed as the last
 * parameter (NULL is allowed: the status alone is reported). Nothing in a silt_error needs to be freed. Success leaves it untouched.
 */
#ifndef SILT_ERROR_H
#define SILT_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of failure it was; the condition name in silt_error says which one. */
typedef enum silt_status {
    SILT_OK = 0,
    SILT_INVALID = 1,     /**< the request itself is wrong: syntax, names, types, options */
    SILT_NOT_FOUND = 2,   /**< table, version, file or column does not exist */
    SILT_EXISTS = 3,      /**< it exists already (put-if-absent lost, CREATE over a table) */
    SILT_CONFLICT = 4,    /**< another transaction won; nothing was committed */
    SILT_CORRUPT = 5,     /**< stored bytes break their specification */
    SILT_UNSUPPORTED = 6, /**< valid, but this build refuses it by name */
    SILT_DENIED = 7,      /**< no permission */
    SILT_IO = 8,          /**< the store failed; code holds errno or the HTTP status */
    SILT_NO_MEMORY = 9,   /**< an allocation failed */
    SILT_NO_SPACE = 10,   /**< disk or quota full */
    SILT_CANCELLED = 11,  /**< interrupted by the user */
    SILT_UNKNOWN = 12,    /**< a commit whose outcome could not be learned */
    SILT_CONSTRAINT = 13, /**< data breaks the table's schema or constraints, or an expression raised (ANSI) */
    SILT_INTERNAL = 14    /**< a defect of Silt */
} silt_status;

/** One error, as data. All strings are NUL-terminated UTF-8; an unused one is empty. */
typedef struct silt_error {
    silt_status status;
    int code;             /**< errno or HTTP status, 0 if none */
    char condition[128];  /**< Spark's condition name, e.g. "DELTA_CONCURRENT_APPEND" */
    char sqlstate[6];     /**< five characters */
    char message[1024];   /**< one factual line: the problem */
    char detail[1024];    /**< the cause */
    char hint[512];       /**< what to do */
} silt_error;

#ifdef __cplusplus
}
#endif
#endif
