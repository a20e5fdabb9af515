/* Azure's XML: pages of List Blobs and errors. Source: "List Blobs" and "Status and error codes". A document with a DTD is refused: the service sends none. */
#include <libxml/xmlreader.h>
#include <limits.h>

#include "base/uri.h"
#include "store/azure/azure.h"

#define DEPTH_MAX 16

/* A document on its way: where it stands, and the text of the element that ends now. */
typedef struct document {
    xmlTextReader *reader;
    arena *a;
    buf text;
    const char *names[DEPTH_MAX]; /* of the elements that are open; borrowed from the reader's dictionary */
    int depth;
    bool failed;
} document;

/* Called at the end of each element, with its text; `d->names[d->depth]` is its name. */
typedef void (*on_element)(document *d, void *ctx, str text);
typedef void (*on_begin)(document *d, void *ctx);

static void ignore_error(void *ctx, const char *message, xmlParserSeverities severity, xmlTextReaderLocatorPtr locator) {
    (void)ctx;
    (void)message;
    (void)severity;
    (void)locator;
}

static void say_nothing(void *ctx, const char *format, ...) {
    (void)ctx;
    (void)format;
}

static bool is_at(const document *d, int depth, const char *name) { return depth <= d->depth && strcmp(d->names[depth], name) == 0; }

static void end_element(document *d, on_element end, void *ctx) {
    str text = arena_str(d->a, buf_str(&d->text));
    if (str_is_null(text) || !buf_ok(&d->text)) d->failed = true;
    else end(d, ctx, text);
    buf_clear(&d->text);
    d->depth--;
}

static void begin_element(document *d, on_begin begin, on_element end, void *ctx) {
    if (d->depth + 1 == DEPTH_MAX) {
        d->failed = true;
        return;
    }
    d->names[++d->depth] = (const char *)xmlTextReaderConstLocalName(d->reader);
    buf_clear(&d->text);
    if (!d->names[d->depth]) d->failed = true;
    else if (begin) begin(d, ctx);
    if (!d->failed && xmlTextReaderIsEmptyElement(d->reader)) end_element(d, end, ctx);
}

static void step(document *d, on_begin begin, on_element end, void *ctx) {
    switch (xmlTextReaderNodeType(d->reader)) {
        case XML_READER_TYPE_ELEMENT: begin_element(d, begin, end, ctx); break;
        case XML_READER_TYPE_END_ELEMENT:
            if (d->depth >= 0) end_element(d, end, ctx);
            break;
        case XML_READER_TYPE_TEXT:
        case XML_READER_TYPE_CDATA:
        case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        case XML_READER_TYPE_WHITESPACE: buf_append_z(&d->text, (const char *)xmlTextReaderConstValue(d->reader)); break;
        case XML_READER_TYPE_DOCUMENT_TYPE:
        case XML_READER_TYPE_ENTITY_REFERENCE: d->failed = true; break;
        default: break;
    }
}

static bool read_quietly(str xml, arena *a, on_begin begin, on_element end, void *ctx) {
    document d = {.a = a, .depth = -1};
    int more = -1;
    if (xml.len == 0 || xml.len > INT_MAX) return false;
    d.reader = xmlReaderForMemory(xml.ptr, (int)xml.len, NULL, NULL, XML_PARSE_NONET);
    if (!d.reader) return false;
    xmlTextReaderSetErrorHandler(d.reader, ignore_error, NULL);
    buf_init(&d.text, 1 << 20);
    while (!d.failed && (more = xmlTextReaderRead(d.reader)) == 1) step(&d, begin, end, ctx);
    buf_dispose(&d.text);
    xmlFreeTextReader(d.reader);
    return more == 0 && !d.failed;
}

/* Where memory runs out before there is a reader, libxml2 would write to stderr by this thread's handler, which may be another library's. */
static bool read_document(str xml, arena *a, on_begin begin, on_element end, void *ctx) {
    xmlGenericErrorFunc before = xmlGenericError;
    void *before_ctx = xmlGenericErrorContext;
    xmlSetGenericErrorFunc(NULL, say_nothing);
    bool ok = read_quietly(xml, a, begin, end, ctx);
    xmlSetGenericErrorFunc(before_ctx, before);
    return ok;
}

/* ---- a page ---- */

typedef struct page_reader {
    object_page *out;
    object_info item;
    bool encoded; /* the name at hand is percent-encoded: it holds what XML cannot */
    bool is_page;
} page_reader;

static void begin_of_page(document *d, void *ctx) {
    page_reader *p = ctx;
    if (d->depth == 0) p->is_page = is_at(d, 0, "EnumerationResults");
    if (d->depth == 2 && (is_at(d, 2, "Blob") || is_at(d, 2, "BlobPrefix"))) p->item = (object_info){.key = STR_NULL, .tag = STR_NULL};
    if (d->depth == 3 && is_at(d, 3, "Name")) {
        xmlChar *value = xmlTextReaderGetAttribute(d->reader, (const xmlChar *)"Encoded");
        p->encoded = value && strcmp((const char *)value, "true") == 0;
        xmlFree(value);
    }
}

static void end_of_property(document *d, page_reader *p, str text) {
    if (is_at(d, 4, "Content-Length") && (!str_to_i64(text, &p->item.size_bytes) || p->item.size_bytes < 0)) d->failed = true;
    if (is_at(d, 4, "Last-Modified") && !http_date_parse(text, &p->item.modified_ms)) d->failed = true;
    if (is_at(d, 4, "Etag")) p->item.tag = str_starts_with(text, STR("\"")) && text.len >= 2 ? str_slice(text, 1, text.len - 1) : text;
    if (is_at(d, 4, "ResourceType")) p->item.is_folder |= str_eqz(text, "directory");
}

static void end_of_page(document *d, void *ctx, str text) {
    page_reader *p = ctx;
    bool in_item = d->depth >= 2 && is_at(d, 1, "Blobs") && (is_at(d, 2, "Blob") || is_at(d, 2, "BlobPrefix"));
    if (d->depth == 1 && is_at(d, 1, "NextMarker") && text.len > 0) p->out->next = text;
    if (!in_item) return;
    if (d->depth == 3 && is_at(d, 3, "Name")) {
        p->item.key = p->encoded ? uri_decode(text, d->a) : text;
        if (str_is_null(p->item.key)) d->failed = true;
    }
    if (d->depth == 4 && is_at(d, 3, "Properties")) end_of_property(d, p, text);
    if (d->depth == 4 && is_at(d, 3, "Metadata") && is_at(d, 4, "hdi_isfolder")) p->item.is_folder |= str_eqz(text, "true");
    if (d->depth != 2) return;
    if (is_at(d, 2, "BlobPrefix")) p->item.is_folder = true;
    if (str_is_null(p->item.key) || p->item.key.len == 0 || str_find_char(p->item.key, '\0') != SIZE_MAX) d->failed = true;
    else if (!ARENA_PUSH(d->a, p->out->items, p->out->count, p->out->capacity, p->item)) d->failed = true;
}

bool azure_page_parse(str xml, arena *a, object_page *out) {
    page_reader p = {.out = out};
    *out = (object_page){.next = STR_NULL};
    if (str_starts_with(xml, STR("\xef\xbb\xbf"))) xml = str_slice(xml, 3, xml.len);
    return read_document(xml, a, begin_of_page, end_of_page, &p) && p.is_page;
}

/* ---- errors ---- */

static void end_of_error(document *d, void *ctx, str text) {
    object_error *e = ctx;
    if (d->depth != 1 || !is_at(d, 0, "Error")) return;
    if (is_at(d, 1, "Code")) e->code = text;
    if (is_at(d, 1, "Message")) e->message = text;
}

/* The message's first line: those behind it hold the request's id, and at a wrong signature the text that was signed. */
void azure_error_parse(str xml, arena *a, object_error *out) {
    *out = (object_error){.code = STR_NULL, .message = STR_NULL};
    if (str_starts_with(xml, STR("\xef\xbb\xbf"))) xml = str_slice(xml, 3, xml.len);
    if (!read_document(xml, a, NULL, end_of_error, out)) *out = (object_error){.code = STR_NULL, .message = STR_NULL};
    size_t line = str_find_char(out->message, '\n');
    if (line != SIZE_MAX) out->message = str_trim(str_slice(out->message, 0, line));
}
