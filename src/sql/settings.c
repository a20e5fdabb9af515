/* Session configuration: Spark's and Delta's keys by their own names, the defaults that Silt knows, SET and RESET. */
#include "base/secret.h"
#include "base/time.h"
#include "sql/run.h"

/*
 * Keys with a default, and every key below "silt." (NULL: no default), where one that is not known is refused: it was set for an effect, such as safety, that it would not have. Other
 * keys are kept as they are set: a job's configuration must not fail here for a key that only Spark's cluster needs.
 */
static const struct { const char *key, *value; } defaults[] = {
    {"spark.sql.warehouse.dir", "spark-warehouse"},
    {"spark.sql.ansi.enabled", "true"},
    {"spark.sql.caseSensitive", "false"},
    {"spark.sql.sources.default", "delta"},
    {"spark.sql.sources.partitionOverwriteMode", "STATIC"},
    {"spark.sql.storeAssignmentPolicy", "ANSI"},
    {"spark.sql.parquet.compression.codec", "snappy"},
    {"spark.databricks.delta.schema.autoMerge.enabled", "false"},
    {"spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration", "false"},
    {"silt.memory.limit", ""},
    {"silt.threads", "0"},
    {"silt.temp.dir", ""},
    {"silt.selfcheck", "false"},
    {"silt.commit.rerun", "0"},
    {"silt.protocol.noUpgrade", "false"},
    {"silt.optimize.batchSize", "4gb"},
    {"silt.load.rewrite", "false"},
    {"silt.publish.keepSeconds", "600"},
    {"silt.restore.besideVacuum", "false"},
    {"silt.selfcheck.unpruned", NULL},
    {"silt.catalog.dir", NULL},
    {"silt.cache.dir", NULL},
    {"silt.cache.maxSize", NULL},
    {"silt.convert.stats", NULL},
    {"silt.convert.verify", NULL},
    {"silt.deletionVectors.inlineMaxBytes", NULL},
    {"silt.deletionVectors.maxHiddenShare", NULL},
    {"silt.doctor.checks", NULL},
    {"silt.doctor.filters", NULL},
    {"silt.doctor.fix", NULL},
    {"silt.doctor.longestJob", NULL},
    {"silt.doctor.readers", NULL},
    {"silt.logCompaction.interval", NULL},
    {"silt.http.caFile", NULL},
    {"silt.http.proxy", NULL},
    {"silt.http.stallTimeoutMs", NULL},
    {"silt.s3.caFile", NULL},
    {"silt.s3.commit", NULL},
    {"silt.s3.dynamodb.endpoint", NULL},
    {"silt.s3.dynamodb.scheme", NULL},
    {"silt.azure.account", NULL},
    {"silt.azure.caFile", NULL},
    {"silt.azure.endpoint", NULL},
    {"silt.azure.proxy", NULL},
    {"silt.gcs.caFile", NULL},
    {"silt.gcs.endpoint", NULL},
    {"silt.gcs.hmac.accessKey", NULL},
    {"silt.gcs.hmac.secret", NULL},
    {"silt.gcs.proxy", NULL},
    {"silt.hdfs.caFile", NULL},
    {"silt.hdfs.connectTimeoutMs", NULL},
    {"silt.hdfs.connections", NULL},
    {"silt.hdfs.proxy", NULL},
    {"silt.hdfs.retry.attempts", NULL},
    {"silt.hdfs.retry.firstWaitMs", NULL},
    {"silt.hdfs.retry.maxWaitMs", NULL},
    {"silt.hdfs.stallTimeoutMs", NULL},
    {"silt.hdfs.token", NULL}, /* for one NameNode: silt.hdfs.<authority>.token, and silt.hdfs.<authority>.http */
    {"silt.hdfs.user", NULL},
};

/* Keys of which Silt has the one value: another would give other answers than the job expects, so it is refused rather than ignored. */
static const struct { const char *key, *value, *refusal; } fixed_values[] = {
    {"spark.sql.ansi.enabled", "true", "spark.sql.ansi.enabled=false"},
    {"spark.sql.storeAssignmentPolicy", "ANSI", "spark.sql.storeAssignmentPolicy other than ANSI"},
};

static setting *find_in(setting *list, size_t n, str key) {
    for (size_t i = 0; i < n; i++)
        if (str_eq_ascii_fold(list[i].key, key)) return &list[i];
    return NULL;
}

static setting *find_setting(session *s, str key) { return find_in(s->settings, s->n_settings, key); }

str session_get(session *s, str key) {
    const setting *own = find_setting(s, key);
    if (own) return own->value;
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        if (str_eq_ascii_fold(key, str_of(defaults[i].key))) return str_of(defaults[i].value);
    if (str_eq_ascii_fold(key, STR("spark.sql.session.timeZone"))) return time_system_zone(s->a);
    return STR_NULL;
}

void session_each(const session *s, void (*take)(void *taker, str key, str value), void *taker) {
    for (size_t i = 0; i < s->n_settings; i++) take(taker, s->settings[i].key, s->settings[i].value);
}

bool session_flag(session *s, const char *key, bool absent) {
    str v = session_get(s, str_of(key));
    return v.ptr ? str_eq_ascii_fold(v, STR("true")) : absent;
}

/* ---- keys that are not known ---- */

#define KEY_MAX 64 /* of what is compared: beyond it nothing is near */

/* How many letters have to be put in, taken out or changed, in any case of theirs. */
static size_t distance(str a, str b) {
    size_t row[KEY_MAX + 1];
    if (a.len > KEY_MAX || b.len > KEY_MAX) return KEY_MAX;
    for (size_t j = 0; j <= b.len; j++) row[j] = j;
    for (size_t i = 0; i < a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.len; j++) {
            size_t changed = diagonal + !str_eq_ascii_fold(str_slice(a, i, i + 1), str_slice(b, j, j + 1)), least = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = changed < least ? changed : least;
        }
    }
    return row[b.len];
}

static bool is_of_authority(str key) {
    return str_starts_with(key, STR("silt.hdfs.")) && (str_ends_with(key, STR(".http")) || str_ends_with(key, STR(".token")));
}

/* A key below "silt.", also as Hadoop's configuration carries it, has to be one of ours. */
static silt_status check_known(str key, silt_error *err) {
    const char *nearest = NULL;
    size_t least = KEY_MAX;
    str name = str_starts_with(key, STR("spark.hadoop.")) ? str_slice(key, 13, key.len) : key;
    if (name.len < 5 || !str_eq_ascii_fold(str_slice(name, 0, 5), STR("silt.")) || is_of_authority(name)) return SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        str known = str_of(defaults[i].key);
        if (str_eq_ascii_fold(name, known)) return SILT_OK;
        size_t d = str_starts_with(known, STR("silt.")) ? distance(name, known) : KEY_MAX;
        if (d < least) {
            least = d;
            nearest = defaults[i].key;
        }
    }
    silt_status status = err_SETTING_UNKNOWN(err, key);
    if (nearest) error_hint(err, "The nearest that there is: %s.", nearest);
    return status;
}

/* May a store depend on it? Those are opened anew then, which costs little; SQL's and Delta's own keys are set often. */
static bool is_of_stores(str key) { return !str_starts_with(key, STR("spark.sql.")) && !str_starts_with(key, STR("spark.databricks.")); }

silt_status session_set(session *s, str key, str text, silt_error *err) {
    TRY(check_known(key, err));
    for (size_t i = 0; i < ARRAY_LEN(fixed_values); i++)
        if (str_eq_ascii_fold(key, str_of(fixed_values[i].key)) && !str_eq_ascii_fold(text, str_of(fixed_values[i].value))) return err_UNSUPPORTED_FEATURE(err, fixed_values[i].refusal);
    int64_t reruns;
    if (str_eq_ascii_fold(key, STR("silt.commit.rerun")) && (!str_to_i64(text, &reruns) || reruns < 0 || reruns > MAX_RERUNS))
        return err_INVALID_PARAMETER_VALUE(err, key, text, "how often, 0 to 1000");
    setting *own = find_setting(s, key);
    setting next = {arena_str(s->a, key), arena_str(s->a, text)};
    if (!next.key.ptr || !next.value.ptr) return error_no_memory(err);
    if (str_eq_ascii_fold(key, STR("spark.sql.session.timeZone"))) {
        if (text.len == 0) next.value = time_system_zone(s->a);
        if (s->engine) TRY(engine_set_time_zone(s->engine, next.value, err));
    }
    bool fixed = str_eq_ascii_fold(key, STR("spark.sql.warehouse.dir")) && s->catalog && !str_eq(session_get(s, key), text);
    if (fixed) return err_CANNOT_MODIFY_CONFIG(err, key);
    if (is_of_stores(key)) store_registry_renew(s->stores);
    if (own) {
        own->value = next.value;
        return SILT_OK;
    }
    return ARENA_PUSH(s->a, s->settings, s->n_settings, s->settings_capacity, next) ? SILT_OK : error_no_memory(err);
}

static silt_status add_setting(run *r, str key, str text, silt_error *err) {
    return rows_add(r, (str[]){key, secret_is_key(key) ? STR("*********(redacted)") : text}, 2, err);
}

silt_status run_set(run *r, silt_error *err) {
    const statement *st = r->st;
    session *s = r->s;
    TRY(rows_begin(r, "key STRING, value STRING", err));
    if (st->has_key && st->has_value) {
        TRY(session_set(s, st->key, st->value, err));
        return add_setting(r, st->key, session_get(s, st->key), err);
    }
    if (st->has_key) {
        str v = session_get(s, st->key);
        return add_setting(r, st->key, v.ptr ? v : STR("<undefined>"), err);
    }
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        if (defaults[i].value && !find_setting(s, str_of(defaults[i].key))) TRY(add_setting(r, str_of(defaults[i].key), str_of(defaults[i].value), err));
    for (size_t i = 0; i < s->n_settings; i++) TRY(add_setting(r, s->settings[i].key, s->settings[i].value, err));
    return SILT_OK;
}

/* Back to what the session was opened with, as Spark does, not to the defaults. */
silt_status run_reset(run *r, silt_error *err) {
    session *s = r->s;
    store_registry_renew(s->stores);
    if (r->st->has_key) {
        setting *own = find_setting(s, r->st->key);
        const setting *initial = find_in(s->initial, s->n_initial, r->st->key);
        if (own && initial) *own = *initial;
        else if (own) *own = s->settings[--s->n_settings];
    } else {
        s->n_settings = 0; /* never more than there were: the room is there */
        for (size_t i = 0; i < s->n_initial; i++) s->settings[s->n_settings++] = s->initial[i];
    }
    return s->engine ? engine_set_time_zone(s->engine, session_get(s, STR("spark.sql.session.timeZone")), err) : SILT_OK;
}
