/* Committing, and the hooks behind it. A hook works in an operation of its own: its memory ends with it, and its error cannot be taken for the statement's. */
#include "ops/commit.h"

#include <stdio.h>

typedef struct commit_hook {
    const char *what; /* as a note calls it */
    silt_status (*run)(const op *o, const committed *c);
} commit_hook;

static const commit_hook hooks[] = {
    {"auto compaction", auto_compact_hook},
    {"writing symlink manifests", symlink_manifest_hook},
    {"log compaction", log_compaction_hook},
};

void ops_note(const op *o, const char *text) {
    if (o->env->note) o->env->note(o->env->note_ctx, text);
}

static void run_hook(const op *o, const commit_hook *h, const committed *c) {
    char text[2048];
    silt_error err = {0};
    op own = {o->env, arena_new(), &err};
    silt_status status = own.a ? h->run(&own, c) : error_no_memory(&err);
    arena_free(own.a);
    if (status == SILT_OK) return;
    (void)snprintf(text, sizeof text, "version %lld is committed, but %s after it failed: [%s] %s", (long long)c->version, h->what, err.condition, err.message);
    ops_note(o, text);
}

silt_status ops_commit(const op *o, const commit_target *t, delta_txn *txn, const delta_commit_info *info, int64_t *out_version) {
    TRY(delta_txn_commit(txn, info, out_version, o->err));
    const char *news = store_take_news(o->env->delta->store);
    if (news) ops_note(o, news);
    const committed c = {.target = t, .txn = txn, .info = info, .version = *out_version};
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++) run_hook(o, &hooks[i], &c);
    return SILT_OK;
}
