/*
 * What a statement does that lost to another writer: wait, and possibly run again whole. Every run is a fresh one, from the text on: new snapshot, new plan, new files; the
 * failed one has left nothing behind. That repeats the statement's meaning over the table as the winner left it, which is why it is not done unasked (silt.commit.rerun).
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
