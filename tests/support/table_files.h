/** Files of a table that its log does not know. */
#ifndef SUPPORT_TABLE_FILES_H
#define SUPPORT_TABLE_FILES_H

#include "base/base.h"

/** A file under `root` (a local folder) that no commit from version 0 on names: its path or the trouble that kept it from being found; false: there is none. */
bool table_stray_file(const char *root, char *out, size_t capacity);

#endif
