/*
 * Running a statement again that lost to another writer, where the setting silt.commit.rerun allows it that often. Every run is a fresh one, from the text on: new snapshot,
 * new plan, new files; the failed one has left nothing behind. That repeats the statement's meaning over the table as the winner left it (an UPDATE that adds 1 adds it to the
 * winner's value), which is why it is not done unasked.
 *
 * Between runs it waits: up to FIRST_PAUSE_MS, then twice that and so on, at random, so that two losers do not meet again.
 */
#include <time.h>

#include "base/ident.h"
#include "sql/run.h"

#define PAUSE_SLICE_MS 50
#define FIRST_PAUSE_MS 20
#define MAX_PAUSE_MS   2000

silt_status session_pause(session *s, int64_t ms, silt_error *err) {
    while (ms > 0) {
        TRY(cancel_check(s->cancel, err));
        int64_t slice = ms < PAUSE_SLICE_MS ? ms : PAUSE_SLICE_MS;
        struct timespec pause = {0, (long)slice * 1000000};
        (void)nanosleep(&pause, NULL);
        ms -= slice;
    }
    return SILT_OK;
}

static int64_t random_pause_ms(int64_t nth) {
    int64_t limit = nth < 8 ? FIRST_PAUSE_MS << nth : MAX_PAUSE_MS;
    uint32_t dice;
    random_bytes(&dice, sizeof dice);
    return 1 + (int64_t)(dice % (uint32_t)(limit < MAX_PAUSE_MS ? limit : MAX_PAUSE_MS));
}

static void tell(statement_result *result, int64_t runs) {
    const char *times = runs == 1 ? "time" : "times";
    str said = result->message.len ? arena_printf(result->a, "%.*s; run again %lld %s after conflicts", STR_ARG(result->message), (long long)runs, times)
                                   : arena_printf(result->a, "run again %lld %s after conflicts", (long long)runs, times);
    if (said.ptr) result->message = said;
}

silt_status session_rerun(session *s, silt_status (*once)(void *ctx, silt_error *err), void *ctx, int64_t *out_reruns, silt_error *err) {
    silt_error failure = {.status = SILT_OK};
    int64_t reruns = 0;
    (void)str_to_i64(session_get(s, STR("silt.commit.rerun")), &reruns);
    for (*out_reruns = 0;; ++*out_reruns) {
        silt_status status = once(ctx, &failure);
        if (status == SILT_OK) return SILT_OK;
        if (status != SILT_CONFLICT || *out_reruns >= reruns) {
            if (err) *err = failure;
            return status;
        }
        TRY(session_pause(s, random_pause_ms(*out_reruns), err));
    }
}

typedef struct statement_run {
    session *s;
    str text;
    const statement_parameters *parameters;
    statement_result **out;
} statement_run;

static silt_status run_statement(void *ctx, silt_error *err) {
    const statement_run *r = ctx;
    return session_run_once(r->s, r->text, r->parameters, r->out, err);
}

silt_status session_run(session *s, str text, const statement_parameters *parameters, statement_result **out, silt_error *err) {
    statement_run r = {s, text, parameters, out};
    int64_t reruns;
    TRY(session_rerun(s, run_statement, &r, &reruns, err));
    if (reruns > 0) tell(*out, reruns);
    return SILT_OK;
}
