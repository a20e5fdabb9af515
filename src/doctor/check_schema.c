/* Schemas that do not stay: the changes between the versions that the log still has. */
#include "doctor/check.h"
#include "doctor/schema_diff.h"

#define MANY_CHANGES 8 /* versions that change columns, among those looked at */

typedef struct drift {
    int64_t versions, breaking;
    bool returns; /* a column was dropped and came back, or a type changed forth and back */
} drift;

static str change_text(doctor *d, int64_t version, const schema_change *c) {
    str before = c->before.ptr ? c->before : STR(""), after = c->after.ptr ? c->after : STR("");
    switch (c->kind) {
        case SCHEMA_ADDED:
            return arena_printf(d->a, "version %lld: %.*s added (%.*s)", (long long)version, STR_ARG(c->column), STR_ARG(after));
        case SCHEMA_DROPPED:
            return arena_printf(d->a, "version %lld: %.*s dropped (%.*s)", (long long)version, STR_ARG(c->column),
                                STR_ARG(before));
        case SCHEMA_RENAMED:
            return arena_printf(d->a, "version %lld: %.*s renamed to %.*s", (long long)version, STR_ARG(before),
                                STR_ARG(c->column));
        default:
            return arena_printf(d->a, "version %lld: %.*s: %.*s, then %.*s", (long long)version, STR_ARG(c->column),
                                STR_ARG(before), STR_ARG(after));
    }
}

static bool is_change(const schema_change *c) {
    return c->kind != SCHEMA_METADATA && c->kind != SCHEMA_NULLABILITY && c->kind != SCHEMA_ORDER;
}

/* Has one of the changes before been undone by this one? */
static bool undoes(const schema_change *earlier, const schema_change *now, bool is_mapped) {
    if (!str_eq_fold(earlier->column, now->column)) return false;
    if (earlier->kind == SCHEMA_DROPPED && now->kind == SCHEMA_ADDED)
        return !is_mapped; /* with column mapping that is ALTER TABLE at work, and another column */
    return earlier->kind == SCHEMA_TYPE && now->kind == SCHEMA_TYPE && str_eq(earlier->before, now->after);
}

silt_status check_schema_drift(doctor *d, silt_error *err) {
    const log_heads *h;
    const data_type *before = NULL, *after;
    schema_change *all = NULL;
    str *examples = NULL;
    size_t n_all = 0, capacity = 0, n_examples = 0, example_capacity = 0;
    drift t = {0};
    TRY(doctor_heads(d, &h, err));
    for (size_t i = 0; i < h->count; i++) {
        schema_change *changes;
        size_t n;
        bool changed = false;
        if (!h->items[i].schema_json.ptr || schema_parse_json(h->items[i].schema_json, d->a, &after, NULL) != SILT_OK) continue;
        if (before) {
            TRY(schema_diff(before, after, false, d->a, &changes, &n, err));
            for (size_t c = 0; c < n; c++) {
                if (!is_change(&changes[c])) continue;
                changed = true;
                t.breaking += changes[c].breaks;
                for (size_t k = 0; k < n_all; k++)
                    t.returns |= undoes(&all[k], &changes[c], after->n_fields && after->fields[0].field_id >= 0);
                str text = change_text(d, h->items[i].version, &changes[c]);
                if (!text.ptr || !ARENA_PUSH(d->a, all, n_all, capacity, changes[c]) ||
                    !ARENA_PUSH(d->a, examples, n_examples, example_capacity, text))
                    return error_no_memory(err);
            }
            t.versions += changed;
        }
        before = after;
    }
    if (t.versions == 0) return SILT_OK;
    bool many = t.versions >= MANY_CHANGES, drifts = t.returns || (many && t.breaking > 1);
    if (!many && !drifts && t.breaking == 0) return SILT_OK;
    doctor_finding *f = doctor_report(d, drifts ? DOCTOR_WARNING : DOCTOR_INFO, t.versions,
                                      "%lld of the last %zu versions changed columns, %lld time%s in a way that breaks readers%s",
                                      (long long)t.versions, h->count, (long long)t.breaking, t.breaking == 1 ? "" : "s",
                                      t.returns ? "; changes were undone and made again" : "");
    for (size_t i = n_examples > DOCTOR_EXAMPLES ? n_examples - DOCTOR_EXAMPLES : 0; i < n_examples; i++)
        TRY(doctor_example(d, f, examples[i], err));
    if (!drifts) return SILT_OK;
    return doctor_command(d, f, err, "silt schema %.*s --diff %lld %lld", STR_ARG(doctor_shell_name(d)),
                          (long long)h->items[0].version, (long long)h->items[h->count - 1].version);
}
