/** Tokens of Spark SQL (SqlBaseLexer): keywords without case, backticked names, strings in ' or " with backslash escapes (r'' raw), numbers with suffixes,
 * comments (nested; hints are read as comments). The parser pulls tokens from an array; statements are split by the lexer, never by text search. */
#ifndef EXPR_LEXER_H
#define EXPR_LEXER_H

#include "base/base.h"

typedef enum token_kind {
    TOKEN_END, TOKEN_NAME, TOKEN_QUOTED_NAME, TOKEN_STRING, TOKEN_INTEGER, TOKEN_DECIMAL, TOKEN_EXPONENT, TOKEN_OP
} token_kind;

typedef struct token {
    token_kind kind;
    char suffix;     /**< numbers: 'L' 'S' 'Y' 'D' 'F' 'B' (BD) or 0 */
    uint32_t from, to; /**< byte offsets in the text */
    uint32_t close;  /**< '(': index of the token that closes it, or of the end */
    str text;        /**< NAME: as written; QUOTED_NAME and STRING: unescaped; numbers: digits without suffix; OP: the characters */
} token;

typedef struct token_list { token *items; size_t count, capacity; } token_list; /**< ends with TOKEN_END */

/** @return PARSE_SYNTAX_ERROR for an unclosed string, comment or name, or a character that starts no token. */
silt_status lexer_run(str text, arena *a, token_list *out, silt_error *err) MUST_CHECK;
/** Where the first statement of a script ends: behind its ';', or at the end where there is none (not whole). Costs what that statement's text costs. BEGIN … END blocks are not known. */
silt_status lexer_first_statement(str text, arena *a, size_t *out_end, bool *out_is_blank, bool *out_is_whole, silt_error *err) MUST_CHECK;
/** The part [from, to) of `text` as it may be quoted, of the same length: what is a secret by what stands around it is covered. In `a`; "" when memory ran out. */
str lexer_shown(str text, size_t from, size_t to, arena *a);
/** "line 2, column 5" with the source line and a caret under the offset; for error details. */
str lexer_caret(str text, uint32_t offset, arena *a);

#endif
