/**
 * What in a text is a secret by the look of it: the value behind a key that is named like one, and the query and the password of a URL.
 * For what is shown or kept: errors, statements that they quote, settings, the shell's history. No substitute for not writing a secret there.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>

#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Is the value of a key of this name one ("fs.s3a.secret.key", "fs.azure.sas.fixed.token")? In any case. */
bool secret_is_key(str key);

/**
 * Put '*' over the secrets of `text`, which keeps its length and its lines: places in it stay what they are.
 * @param statement it is a whole SQL text, where the value of SET goes on over lines; else a value ends with its line
 * @return was there any?
 */
bool secret_mask(char *text, size_t n, bool statement);

#ifdef __cplusplus
}
#endif

#endif
