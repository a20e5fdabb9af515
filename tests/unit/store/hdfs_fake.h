/**
 * As much of a NameNode with a DataNode (or of HttpFS) as the HDFS store asks for, inside a test: answers are those that a real Hadoop 3.5.0 gave. It breaks where it is told to.
 */
#ifndef TESTS_HDFS_FAKE_H
#define TESTS_HDFS_FAKE_H

#include "store/store.h"
#include "support/tiny_server.h"

typedef struct hdfs_fake hdfs_fake;

typedef struct fake_break {
    const char *op; /**< "RENAME", "CREATE", "CREATE2" (at the DataNode) …; NULL: none */
    tiny_way way;   /**< TINY_ANSWER: with `status` */
    int status;
    bool applied;   /**< it is carried out nevertheless */
    bool twice;     /**< carried out twice, the second answer is given */
    int times;
} fake_break;

hdfs_fake *hdfs_fake_start(void);
void hdfs_fake_stop(hdfs_fake *f);
/** "127.0.0.1:PORT". */
str hdfs_fake_authority(const hdfs_fake *f, arena *a);
void hdfs_fake_break(hdfs_fake *f, fake_break b);
/** What every request but those of DataNodes is answered: "StandbyException", … ; NULL: normally. */
void hdfs_fake_state(hdfs_fake *f, const char *exception);
/** HttpFS: renames answer a boolean and never replace, OPEN answers with the data, and batches are unknown. */
void hdfs_fake_be_httpfs(hdfs_fake *f);
/** Put a file there from outside. */
void hdfs_fake_file(hdfs_fake *f, const char *path, const char *bytes);
/** The operations since the last call, separated by blanks: "CREATE CREATE2 RENAME". */
str hdfs_fake_log(hdfs_fake *f, arena *a);
/** The last request's target that holds `text`, null: none. */
str hdfs_fake_target(hdfs_fake *f, const char *text, arena *a);
/** Names of the files, temporary ones as "TMP", separated by blanks, ascending. */
str hdfs_fake_files(hdfs_fake *f, arena *a);

#endif
