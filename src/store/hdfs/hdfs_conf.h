/**
 * Hadoop's configuration as an HDFS client needs it: the session's settings over core-site.xml and hdfs-site.xml of HADOOP_CONF_DIR. Internal to store/.
 *
 * Source: the form of Hadoop's configuration files (property, name, value, final, ${name} and ${env.NAME}); files named by xi:include are read from the same disk.
 */
#ifndef STORE_HDFS_CONF_H
#define STORE_HDFS_CONF_H

#include "store/settings.h"

typedef struct hdfs_property {
    str name, value; /**< value as written: ${…} stands in it still */
    bool is_final;   /**< a later file does not change it */
} hdfs_property;

typedef struct hdfs_conf {
    const store_settings *settings; /**< borrowed while the store opens */
    arena *arena;
    hdfs_property *items;
    size_t count, capacity;
} hdfs_conf;

/** Reads the files of `dir` (NULL: HADOOP_CONF_DIR, else HADOOP_HOME/etc/hadoop, else none); a file that is not there is left out. INVALID: HDFS_CONFIGURATION_INVALID, which names the file. */
silt_status hdfs_conf_load(const store_settings *settings, const char *dir, arena *a, hdfs_conf *out, silt_error *err) MUST_CHECK;
/** Adds the properties of one file's text. `base` is its path, for errors and for what it includes. */
silt_status hdfs_conf_parse(hdfs_conf *c, str xml, str base, silt_error *err) MUST_CHECK;

/** The session's value, else the files', ${…} filled in; null when not set. In the arena or borrowed from the settings. */
str hdfs_conf_get(const hdfs_conf *c, const char *key);
/** The same for key.suffix.second_suffix; an empty suffix is left out with its point. */
str hdfs_conf_get_of(const hdfs_conf *c, const char *key, str suffix, str second_suffix);
bool hdfs_conf_flag(const hdfs_conf *c, const char *key, bool absent);

#endif
