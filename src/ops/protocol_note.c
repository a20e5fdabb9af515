/* Version skew, told before it hurts: what a protocol gained and who can no longer read or write the table; with silt.protocol.noUpgrade the statement is refused instead. */
#include <stdio.h>

#include "delta/peer_support.h"
#include "ops/internal.h"

static void add_word(buf *out, size_t *n, const char *word) {
    buf_printf(out, "%s%s", (*n)++ ? ", " : "", word);
}

/* "reader 3, writer 7 (deletionVectors, columnMapping)" */
static void describe_change(buf *out, const delta_protocol *old, const delta_protocol *next) {
    size_t n = 0;
    buf_printf(out, "reader %d, writer %d", next->min_reader_version, next->min_writer_version);
    for (size_t i = 0; i < delta_feature_count(); i++) {
        const char *name = delta_feature_at(i)->name;
        bool implied = !old && (strcmp(name, "invariants") == 0 || strcmp(name, "appendOnly") == 0);
        if (implied || !delta_protocol_has(next, name) || (old && delta_protocol_has(old, name))) continue;
        if (n == 0) buf_append_z(out, " with ");
        add_word(out, &n, name);
    }
}

static void name_peers(buf *out, const char *what, uint8_t bits) {
    size_t n = 0;
    for (size_t i = 0; i < delta_peer_count(); i++) {
        const delta_peer *p = delta_peer_at(i);
        if (!(p->bit & bits)) continue;
        if (n == 0) buf_printf(out, "%scan no longer %s it: ", out->len ? ", " : "", what);
        add_word(out, &n, p->name);
    }
}

static void describe_peers(buf *out, const delta_protocol *old, const delta_protocol *next) {
    uint8_t read_before, write_before, read, write;
    delta_peers_shut_out(old, &read_before, &write_before);
    delta_peers_shut_out(next, &read, &write);
    read = (uint8_t)(read & ~read_before);
    write = (uint8_t)(write & ~write_before & ~read); /* who cannot read cannot write */
    name_peers(out, "read", read);
    name_peers(out, "write", write);
    if (out->len == 0) buf_append_z(out, "no engine that is known to Silt is shut out by it");
}

static bool is_plain(const delta_protocol *p) { return p->min_reader_version <= 1 && p->min_writer_version <= 2; }

silt_status ops_protocol_upgrade(const op *o, const delta_protocol *old, const delta_protocol *next, ops_result *out) {
    if (old ? ops_protocol_equal(old, next) : is_plain(next)) return SILT_OK;
    buf change, who;
    buf_init(&change, 4096);
    buf_init(&who, 4096);
    describe_change(&change, old, next);
    describe_peers(&who, old, next);
    silt_status status = !buf_ok(&change) || !buf_ok(&who) ? error_no_memory(o->err) : SILT_OK;
    if (status == SILT_OK && ops_setting_bool(o, "silt.protocol.noUpgrade", false))
        status = err_PROTOCOL_UPGRADE_NOT_ALLOWED(o->err, buf_str(&change), buf_str(&who));
    if (status == SILT_OK && out)
        (void)snprintf(out->note, sizeof out->note, "the table's protocol is now %.*s; %.*s", STR_ARG(buf_str(&change)), STR_ARG(buf_str(&who)));
    buf_dispose(&change);
    buf_dispose(&who);
    return status;
}
