/** What the statement parsers share; one per kind of statement, found by statement_parse.c's table. */
#ifndef SQL_PARSE_H
#define SQL_PARSE_H

#include "sql/statement.h"

/** db.t, format.`path`, or 'path' as Delta's own statements take it. */
silt_status parse_table_name(parser *p, relation **out) MUST_CHECK;
/** (a, b.c, …): dotted names joined. */
silt_status parse_name_list(parser *p, const str **out, size_t *out_count) MUST_CHECK;
/** The same with each part quoted where it must be: what CLUSTER BY names, which is parsed again when the table is known. */
silt_status parse_cluster_columns(parser *p, const str **out, size_t *out_count) MUST_CHECK;

/* ---- parse_dml.c ---- */
silt_status parse_delete(parser *p, statement *s) MUST_CHECK;
silt_status parse_update(parser *p, statement *s) MUST_CHECK;
silt_status parse_truncate(parser *p, statement *s) MUST_CHECK;
/** REPLACE WHERE condition, REPLACE ON condition, REPLACE USING (columns) of an INSERT, where the parser is at REPLACE; also the alias of the target before it. */
silt_status parse_insert_replace(parser *p, statement *s) MUST_CHECK;
/** [AS] alias of a statement's target, {NULL,0} where there is none; `in` names the statement in the error about column aliases. */
silt_status parse_target_alias(parser *p, relation *target, const char *in) MUST_CHECK;

/* ---- parse_merge.c ---- */
silt_status parse_merge(parser *p, statement *s) MUST_CHECK;

/* ---- parse_alter.c ---- */
silt_status parse_alter(parser *p, statement *s) MUST_CHECK;
silt_status parse_comment_on(parser *p, statement *s) MUST_CHECK;

/* ---- parse_optimize.c ---- */
silt_status parse_optimize(parser *p, statement *s) MUST_CHECK;
silt_status parse_reorg(parser *p, statement *s) MUST_CHECK;

/* ---- parse_restore.c ---- */
silt_status parse_restore(parser *p, statement *s) MUST_CHECK;
silt_status parse_generate(parser *p, statement *s) MUST_CHECK;
/** SHALLOW CLONE, DEEP CLONE or CLONE alone, behind CREATE TABLE t. */
bool parse_at_clone(const parser *p);
silt_status parse_clone(parser *p, statement *s) MUST_CHECK;

/* ---- parse_doctor.c ---- */
silt_status parse_doctor(parser *p, statement *s) MUST_CHECK;

/* ---- parse_vacuum.c ---- */
silt_status parse_vacuum(parser *p, statement *s) MUST_CHECK;
silt_status parse_fsck(parser *p, statement *s) MUST_CHECK;

/* ---- parse_convert.c ---- */
silt_status parse_convert(parser *p, statement *s) MUST_CHECK;
silt_status parse_publish(parser *p, statement *s) MUST_CHECK;

#endif
