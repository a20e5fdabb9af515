/* Footers of files that are put together: any bytes are taken or refused; what was taken once, moved, is taken again as a whole, with as many rows and row groups. */
#include <stdlib.h>

#include "table/parquet_splice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static void check_whole(const parquet_splice *s) {
    buf end, again;
    parquet_parts parts;
    buf_init(&end, BUF_MAX_DEFAULT);
    buf_init(&again, BUF_MAX_DEFAULT);
    parquet_splice_write_end(s, &end);
    must(buf_ok(&end) && end.len > 8);
    must(parquet_splice_parse((str){end.ptr, end.len - 8}, 0, &again, &parts));
    must(parts.n_rows == s->n_rows && (int64_t)parts.n_groups == s->n_groups && parquet_splice_fits(&parts, &s->first));
    must(str_eq(buf_str(&again), buf_str(&s->groups))); /* nothing is left to leave out */
    buf_dispose(&again);
    buf_dispose(&end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str footer = {(const char *)data, size};
    parquet_splice s;
    parquet_parts parts;
    parquet_splice_init(&s);
    bool taken = parquet_splice_parse(footer, 1000, &s.groups, &s.first);
    if (!taken) must(s.groups.len == 0);
    s.n_rows = s.first.n_rows;
    s.n_groups = s.first.n_groups;
    if (taken && s.n_rows < INT64_MAX / 2 && s.n_groups < 50000 && parquet_splice_parse(footer, 100000, &s.groups, &parts)) {
        must(parquet_splice_fits(&s.first, &parts));
        s.n_rows += parts.n_rows;
        s.n_groups += parts.n_groups;
        check_whole(&s);
    }
    parquet_splice_dispose(&s);
    return 0;
}
