// simdjson's on-demand parser behind C functions. It walks the document once and builds the tree of json.h; simdjson validates
// UTF-8, the bracket and comma structure and quoting, this file the scalars, whose text is kept as written.
//
// The children of an open array or object wait on one scratch stack and are copied to the arena when it closes, so that a node's
// children lie together without growing arrays inside the arena.
#include "base/json_door.h"

#include <cstdlib>
#include <new>
#include <string_view>

#include <simdjson.h>

namespace {

namespace ondemand = simdjson::ondemand;
static_assert(JSON_DOOR_PADDING >= simdjson::SIMDJSON_PADDING, "the text must be padded");

struct child {
    str key;
    json_node node;
};

struct reader {
    arena *a;
    ondemand::document *document;
    std::string_view text;
    child *stack = nullptr;
    size_t count = 0, capacity = 0;
    const char *problem = nullptr;
    const char *where = nullptr;

    ~reader() { std::free(stack); }
    bool fail(const char *why, const char *at) {
        if (!problem) {
            problem = why;
            where = at;
        }
        return false;
    }
    bool fail(simdjson::error_code code, const char *at) {
        return fail(code == simdjson::MEMALLOC ? "" : simdjson::error_message(code), at);
    }
    // The walk stopped: at the token where it stands.
    bool fail_here(simdjson::error_code code) {
        const char *here = nullptr;
        return fail(code, document->current_location().get(here) == simdjson::SUCCESS ? here : nullptr);
    }
};

str as_str(std::string_view v) { return str{v.data(), v.size()}; }

std::string_view trim_end(std::string_view v) {
    while (!v.empty() && (v.back() == ' ' || v.back() == '\n' || v.back() == '\t' || v.back() == '\r')) v.remove_suffix(1);
    return v;
}

bool push(reader &r, str key, const json_node &node) {
    if (r.count == r.capacity) {
        size_t capacity = r.capacity ? r.capacity * 2 : 64;
        void *p = std::realloc(r.stack, capacity * sizeof(child));
        if (!p) return r.fail("", nullptr);
        r.stack = static_cast<child *>(p);
        r.capacity = capacity;
    }
    r.stack[r.count++] = child{key, node};
    return true;
}

// Move the children above `from` to the arena.
bool close_container(reader &r, size_t from, bool keyed, json_node *out) {
    size_t n = r.count - from;
    auto *values = static_cast<json_node *>(arena_calloc(r.a, n, sizeof(json_node)));
    auto *keys = keyed ? static_cast<str *>(arena_calloc(r.a, n, sizeof(str))) : nullptr;
    if (!values || (keyed && !keys)) return r.fail("", nullptr);
    for (size_t i = 0; i < n; i++) {
        values[i] = r.stack[from + i].node;
        if (keyed) keys[i] = r.stack[from + i].key;
    }
    r.count = from;
    out->count = n;
    out->values = values;
    out->keys = keys;
    return true;
}

// The source text of a container that starts at `start` and was just read to its end: the parser stands at the next token.
bool set_source(reader &r, const char *start, json_node *out) {
    const char *next = nullptr;
    const char *end = r.text.data() + r.text.size();
    if (r.document->current_location().get(next) != simdjson::SUCCESS || next > end) next = end; // the document's end
    out->text = as_str(trim_end(std::string_view(start, static_cast<size_t>(next - start))));
    return true;
}

bool unescape(reader &r, std::string_view token, str *out) {
    if (!json_unescape(as_str(token), r.a, out)) return r.fail("invalid escape in a string", token.data());
    return out->ptr ? true : r.fail("", nullptr);
}

// The key's token runs from the quote to the colon; it is closed, or simdjson would have refused the document.
bool read_key(reader &r, const char *raw, str *out) {
    const char *end = r.text.data() + r.text.size();
    const char *p = raw;
    while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
    if (p >= end) return r.fail("unclosed string", raw);
    return unescape(r, std::string_view(raw - 1, static_cast<size_t>(p - raw) + 2), out);
}

bool read_value(reader &r, ondemand::value value, int depth, json_node *out);

bool read_array(reader &r, simdjson::simdjson_result<ondemand::array> &&array, const char *start, int depth, json_node *out) {
    size_t from = r.count;
    ondemand::array items;
    if (auto code = std::move(array).get(items)) return r.fail_here(code);
    for (auto item : items) {
        ondemand::value value;
        json_node node = {};
        if (auto code = item.get(value)) return r.fail_here(code);
        if (!read_value(r, value, depth + 1, &node) || !push(r, str{nullptr, 0}, node)) return false;
    }
    out->type = JSON_ARRAY;
    return close_container(r, from, false, out) && set_source(r, start, out);
}

bool read_object(reader &r, simdjson::simdjson_result<ondemand::object> &&object, const char *start, int depth, json_node *out) {
    size_t from = r.count;
    ondemand::object members;
    if (auto code = std::move(object).get(members)) return r.fail_here(code);
    for (auto member : members) {
        ondemand::field field;
        str key = {};
        json_node node = {};
        if (auto code = std::move(member).get(field)) return r.fail_here(code);
        if (!read_key(r, field.key().raw(), &key)) return false;
        if (!read_value(r, field.value(), depth + 1, &node) || !push(r, key, node)) return false;
    }
    out->type = JSON_OBJECT;
    return close_container(r, from, true, out) && set_source(r, start, out);
}

bool read_value(reader &r, ondemand::value value, int depth, json_node *out) {
    std::string_view token = trim_end(value.raw_json_token());
    const char *start = token.data();
    if (depth > JSON_DEPTH_MAX) return r.fail("nested too deeply", start);
    if (token.empty()) return r.fail("a value is missing", start);
    out->text = as_str(token);
    switch (token.front()) {
        case '{': return read_object(r, value.get_object(), start, depth, out);
        case '[': return read_array(r, value.get_array(), start, depth, out);
        case '"': out->type = JSON_STRING; return unescape(r, token, &out->text);
        case 't':
        case 'f':
            out->type = JSON_BOOL;
            out->boolean = token == "true";
            return out->boolean || token == "false" || r.fail("unknown word", start);
        case 'n': out->type = JSON_NULL; return token == "null" || r.fail("unknown word", start);
        default: out->type = JSON_NUMBER; return json_is_number(as_str(token)) || r.fail("not a JSON value", start);
    }
}

bool read_document(reader &r, ondemand::document &document, json_node *root) {
    const char *start = nullptr;
    if (auto code = document.current_location().get(start)) return r.fail(code, r.text.data());
    bool ok = *start == '{' ? read_object(r, document.get_object(), start, 1, root)
                            : read_array(r, document.get_array(), start, 1, root);
    if (!ok) return false;
    const char *rest = nullptr;
    if (document.current_location().get(rest) != simdjson::SUCCESS || rest >= r.text.data() + r.text.size()) return true;
    return r.fail("text after the end of the document", rest);
}

// simdjson chooses its implementation once, in functions that allocate and are noexcept: a failure there would end the process. So
// it does when the program is loaded.
[[maybe_unused]] const bool implementation_is_chosen = !simdjson::get_active_implementation()->name().empty();

const char *parse(const char *text, size_t len, arena *a, json_node *root, size_t *out_offset) {
    ondemand::parser parser;
    ondemand::document document;
    simdjson::padded_string_view view(text, len, len + JSON_DOOR_PADDING);
    reader r{a, &document, std::string_view(text, len)};
    auto code = parser.iterate(view).get(document);
    bool ok = code ? r.fail(code, text) : read_document(r, document, root);
    if (!ok && r.where && r.where >= text && r.where <= text + len) *out_offset = static_cast<size_t>(r.where - text);
    return r.problem;
}

} // namespace

extern "C" const char *json_door_parse(const char *text, size_t len, arena *a, const json_node **out_root, size_t *out_offset) {
    *out_offset = 0;
    auto *root = static_cast<json_node *>(arena_calloc(a, 1, sizeof(json_node)));
    if (!root) return "";
    try {
        const char *problem = parse(text, len, a, root, out_offset);
        if (!problem) *out_root = root;
        return problem;
    } catch (const std::bad_alloc &) {
        return "";
    }
}
