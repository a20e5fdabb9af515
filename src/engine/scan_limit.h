/** SELECT … FROM t LIMIT n of a remote table: only so many files as hold n rows are needed, and fetching all of them for ten rows would take minutes. */
#ifndef ENGINE_SCAN_LIMIT_H
#define ENGINE_SCAN_LIMIT_H

#include "engine/scan.h"

/** Where the query takes any n rows of one table and asks nothing else of it: the plan reads files until they have so many. */
void scan_limit_find(scan_plan *plan, const query *q);
/** Leaves out the files behind those; before anything is fetched. */
void scan_limit_files(const scan_plan *plan, scan_node *node);

#endif
