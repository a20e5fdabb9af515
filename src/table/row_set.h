/** Rows of several files: for each file number the 64-bit bitmap of its rows. What row-level changes work on: rows found, rows that leave their file. */
#ifndef TABLE_ROW_SET_H
#define TABLE_ROW_SET_H

#include "table/bitmap.h"

typedef struct row_set row_set;

/** For files 0 … n_files - 1 (scan_file.index). NULL when memory ran out. Belongs to one thread while it is filled; read by any number afterwards. */
row_set *row_set_new(size_t n_files);
void row_set_free(row_set *s); /**< NULL is fine */
/** false on exhaustion, or for a file that the set does not have. *out_added (may be NULL) false: the row was there already. */
bool row_set_add(row_set *s, size_t file, uint64_t row, bool *out_added);
/** The rows of one file; NULL: none. Borrowed. */
const bitmap *row_set_of_file(const row_set *s, size_t file);
size_t row_set_n_files(const row_set *s); /**< as given to row_set_new, with rows or without */
uint64_t row_set_count(const row_set *s); /**< rows of all files */
bool row_set_contains(const row_set *s, size_t file, uint64_t row);

#endif
