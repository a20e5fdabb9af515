/*
 * The XML of S3's and STS's answers, by libxml2's tree. Elements are known by their local names: servers differ in their namespaces. Nothing is loaded from elsewhere and no
 * entity is replaced; a document with a DTD is none of theirs.
 */
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "store/s3/s3.h"

/* These services write UTF-8. Of other encodings libxml2 tells on stderr what it cannot convert, whatever it is told to keep silent about. */
static xmlDoc *parse(str xml) {
    if (xml.len == 0 || xml.len > INT32_MAX || !str_is_utf8(xml) || str_find_char(xml, '\0') != SIZE_MAX) return NULL;
    xmlDoc *doc = xmlReadMemory(xml.ptr, (int)xml.len, NULL, "UTF-8", XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
    if (doc && doc->intSubset) {
        xmlFreeDoc(doc);
        return NULL;
    }
    return doc;
}

static bool is(const xmlNode *node, const char *name) { return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0; }

/* Null when memory ran out; "" for an empty element. */
static str content(const xmlNode *node, arena *a) {
    const xmlNode *only = node->children;
    if (!only) return STR("");
    if (only->type == XML_TEXT_NODE && !only->next) return arena_str(a, str_of((const char *)only->content));
    xmlChar *text = xmlNodeGetContent(node);
    str out = text ? arena_str(a, str_of((const char *)text)) : STR_NULL;
    xmlFree(text);
    return out;
}

static const xmlNode *child(const xmlNode *node, const char *name) {
    for (const xmlNode *n = node->children; n; n = n->next)
        if (is(n, name)) return n;
    return NULL;
}

static str child_text(const xmlNode *node, const char *name, arena *a) {
    const xmlNode *n = child(node, name);
    return n ? content(n, a) : STR_NULL;
}

/* ---- listings ---- */

static bool add_object(const xmlNode *node, arena *a, object_page *out) {
    object_info info = {.key = child_text(node, "Key", a), .tag = child_text(node, "ETag", a)};
    str size = child_text(node, "Size", a), modified = child_text(node, "LastModified", a);
    if (str_is_null(info.key) || !str_to_i64(size, &info.size_bytes) || info.size_bytes < 0 || !rfc3339_parse(modified, &info.modified_ms)) return false;
    return ARENA_PUSH(a, out->items, out->count, out->capacity, info);
}

static bool add_folder(const xmlNode *node, arena *a, object_page *out) {
    object_info info = {.key = child_text(node, "Prefix", a), .tag = STR_NULL, .is_folder = true};
    return !str_is_null(info.key) && ARENA_PUSH(a, out->items, out->count, out->capacity, info);
}

static bool read_page(const xmlNode *root, arena *a, object_page *out) {
    bool more = false;
    if (!root || !is(root, "ListBucketResult")) return false;
    for (const xmlNode *n = root->children; n; n = n->next) {
        if (is(n, "Contents") && !add_object(n, a, out)) return false;
        if (is(n, "CommonPrefixes") && !add_folder(n, a, out)) return false;
        if (is(n, "IsTruncated")) more = str_eqz(content(n, a), "true");
        if (is(n, "NextContinuationToken")) out->next = content(n, a);
    }
    if (!more) out->next = STR_NULL;
    return !more || out->next.len > 0;
}

bool s3_page_parse(str xml, arena *a, object_page *out) {
    *out = (object_page){.next = STR_NULL};
    xmlDoc *doc = parse(xml);
    bool ok = doc && read_page(xmlDocGetRootElement(doc), a, out);
    xmlFreeDoc(doc);
    return ok;
}

/* ---- errors ---- */

/* S3's root is <Error>; STS has it in <ErrorResponse>. */
bool s3_fault_parse(str xml, arena *a, s3_fault *out) {
    *out = (s3_fault){STR_NULL, STR_NULL, STR_NULL};
    xmlDoc *doc = parse(xml);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    if (root && is(root, "ErrorResponse")) root = child(root, "Error");
    bool ok = root && is(root, "Error");
    if (ok) *out = (s3_fault){child_text(root, "Code", a), child_text(root, "Message", a), child_text(root, "Region", a)};
    xmlFreeDoc(doc);
    return ok && !str_is_null(out->code);
}

bool s3_deletion_parse(str xml, arena *a, s3_undeleted **out, size_t *out_n) {
    size_t capacity = 0;
    xmlDoc *doc = parse(xml);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    bool ok = root && is(root, "DeleteResult");
    *out = NULL;
    *out_n = 0;
    for (const xmlNode *n = ok ? root->children : NULL; n && ok; n = n->next) {
        if (!is(n, "Error")) continue;
        s3_undeleted u = {child_text(n, "Key", a), child_text(n, "Code", a)};
        ok = !str_is_null(u.key) && !str_is_null(u.code) && ARENA_PUSH(a, *out, *out_n, capacity, u);
    }
    xmlFreeDoc(doc);
    return ok;
}

/* ---- single values ---- */

/* In document order; not by recursion, whatever the depth. */
static const xmlNode *find(const xmlNode *root, const char *name) {
    const xmlNode *n = root;
    while (n && !is(n, name)) {
        if (n->children && n->type == XML_ELEMENT_NODE) {
            n = n->children;
            continue;
        }
        while (n != root && !n->next) n = n->parent;
        n = n == root ? NULL : n->next;
    }
    return n;
}

str s3_xml_text(str xml, const char *name, arena *a) {
    xmlDoc *doc = parse(xml);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL, *n = root ? find(root, name) : NULL;
    str out = n ? content(n, a) : STR_NULL;
    xmlFreeDoc(doc);
    return out;
}

bool s3_xml_write(buf *out, str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20) return false;
        if (c == '&') buf_append_z(out, "&amp;");
        else if (c == '<') buf_append_z(out, "&lt;");
        else if (c == '>') buf_append_z(out, "&gt;");
        else buf_append_char(out, (char)c);
    }
    return str_is_utf8(text);
}
