// The door to toml++ (header-only, without exceptions). Nothing of it leaves this file.
#define TOML_HEADER_ONLY       1
#define TOML_EXCEPTIONS        0
#define TOML_ENABLE_FORMATTERS 0
#include "cli/toml_door.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

char *copy_text(std::string_view s) {
    char *out = static_cast<char *>(std::malloc(s.size() + 1));
    if (!out) std::abort();
    std::memcpy(out, s.data(), s.size());
    out[s.size()] = '\0';
    return out;
}

toml_node *new_items(size_t n) {
    auto *items = static_cast<toml_node *>(std::calloc(n + 1, sizeof(toml_node)));
    if (!items) std::abort();
    return items;
}

struct member {
    std::string_view key;
    const toml::node *value;
};

// toml++ keeps a table's members by name; people read them in the order of the text.
std::vector<member> in_text_order(const toml::table &t) {
    std::vector<member> members;
    for (auto &&[key, value] : t) members.push_back({key.str(), &value});
    std::stable_sort(members.begin(), members.end(), [](const member &a, const member &b) {
        auto x = a.value->source().begin, y = b.value->source().begin;
        return x.line != y.line ? x.line < y.line : x.column < y.column;
    });
    return members;
}

void fill(const toml::node &from, toml_node *to) {
    to->line = static_cast<int>(from.source().begin.line);
    to->type = TOML_OTHER;
    if (const auto *s = from.as_string()) {
        to->type = TOML_STRING;
        to->text = copy_text(s->get());
    } else if (const auto *i = from.as_integer()) {
        to->type = TOML_INTEGER;
        to->integer = i->get();
    } else if (const auto *b = from.as_boolean()) {
        to->type = TOML_BOOLEAN;
        to->boolean = b->get();
    } else if (const auto *a = from.as_array()) {
        to->type = TOML_ARRAY;
        to->items = new_items(a->size());
        for (const auto &item : *a) fill(item, &to->items[to->count++]);
    } else if (const auto *t = from.as_table()) {
        to->type = TOML_TABLE;
        to->items = new_items(t->size());
        for (const member &m : in_text_order(*t)) {
            to->items[to->count].key = copy_text(m.key);
            fill(*m.value, &to->items[to->count++]);
        }
    }
}

void dispose(toml_node *n) {
    for (size_t i = 0; i < n->count; i++) dispose(&n->items[i]);
    std::free(n->items);
    std::free(n->key);
    std::free(n->text);
}

} // namespace

extern "C" toml_node *toml_parse(const char *text, char *error, size_t error_size) {
    toml::parse_result result = toml::parse(std::string_view(text));
    if (!result) {
        const toml::parse_error &e = result.error();
        std::string_view why = e.description();
        std::snprintf(error, error_size, "line %u: %.*s", e.source().begin.line, static_cast<int>(why.size()), why.data());
        return nullptr;
    }
    toml_node *root = new_items(1);
    fill(result.table(), root);
    return root;
}

extern "C" void toml_free(toml_node *root) {
    if (!root) return;
    dispose(root);
    std::free(root);
}

extern "C" const toml_node *toml_get(const toml_node *table, const char *key) {
    for (size_t i = 0; table && table->type == TOML_TABLE && i < table->count; i++)
        if (std::strcmp(table->items[i].key, key) == 0) return &table->items[i];
    return nullptr;
}
