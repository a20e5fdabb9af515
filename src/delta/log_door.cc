// simdjson's first stage alone: one pass of SIMD over any number of documents. Its second stage would copy every statistics
// string of the log; the walk over the
// positions (json_walk.c) skips them.
#include "delta/log_door.h"

#include <memory>
#include <new>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <simdjson.h>
#pragma GCC diagnostic pop

struct log_door {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    size_t capacity = 0;
};

extern "C" log_door *log_door_new(void) { return new (std::nothrow) log_door; }
extern "C" void log_door_free(log_door *d) { delete d; }

extern "C" const char *log_door_index(log_door *d, const char *text, size_t len, const uint32_t **out_positions,
                                      size_t *out_count) {
    static const uint32_t nothing[1] = {0};
    *out_positions = nothing;
    *out_count = 0;
    if (len == 0) return nullptr;
    if (len > LOG_DOOR_MAX) return "it is too long";
    if (len > d->capacity) {
        size_t capacity = len < (1u << 16) ? (1u << 16) : len + len / 4;
        auto error = d->stage ? d->stage->set_capacity(capacity)
                              : simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, d->stage);
        if (error) {
            d->capacity = 0;
            return "";
        }
        d->capacity = capacity;
    }
    auto error = d->stage->stage1(reinterpret_cast<const uint8_t *>(text), len, simdjson::stage1_mode::regular);
    if (error == simdjson::EMPTY) return nullptr;
    if (error == simdjson::MEMALLOC) return "";
    if (error) return simdjson::error_message(error);
    *out_positions = d->stage->structural_indexes.get();
    *out_count = d->stage->n_structural_indexes;
    return nullptr;
}
