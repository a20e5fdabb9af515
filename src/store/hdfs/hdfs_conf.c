/*
 * Reading core-site.xml and hdfs-site.xml. libxml2 parses without the network and without entities: a configuration folder is trusted to name servers, not to read
 * other files into a value. Properties are few hundred, looked up a dozen times when a store opens: an array, searched from its end.
 */
#include "store/hdfs/hdfs_conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>

#include "base/uri.h"

#define FILE_BYTES_MAX  (16 << 20)
#define INCLUDES_MAX    8  /* files within files */
#define SUBSTITUTES_MAX 20 /* Hadoop's own bound */
#define VALUE_BYTES_MAX (64 << 10)

static silt_status invalid(str file, const char *why, silt_error *err) {
    silt_status status = err_HDFS_CONFIGURATION_INVALID(err, file);
    error_detail(err, "%s", why);
    return status;
}

/* ---- files ---- */

static silt_status read_open(int fd, str path, buf *out, silt_error *err) {
    char block[16384];
    for (;;) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "read", path);
        if (n == 0) return SILT_OK;
        buf_append_bytes(out, block, (size_t)n);
        if (!buf_ok(out)) return invalid(path, "It is too large for a configuration file.", err);
    }
}

/* *out_found false: there is none. */
static silt_status read_file(str path, buf *out, bool *out_found, silt_error *err) {
    int fd = open(path.ptr, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out_found = fd >= 0;
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? SILT_OK : error_from_errno(err, errno, "open", path);
    silt_status status = read_open(fd, path, out, err);
    close(fd);
    return status;
}

static silt_status parse_text(hdfs_conf *c, str xml, str base, int depth, silt_error *err);

static silt_status load_file(hdfs_conf *c, str path, bool must_be_there, int depth, silt_error *err) {
    buf text;
    bool found = false;
    buf_init(&text, FILE_BYTES_MAX);
    silt_status status = read_file(path, &text, &found, err);
    if (status == SILT_OK && !found && must_be_there) status = invalid(path, "It is included by another file and is not there.", err);
    if (status == SILT_OK && found) status = parse_text(c, buf_str(&text), path, depth, err);
    buf_dispose(&text);
    return status;
}

/* ---- one document ---- */

static bool is_element(const xmlNode *n, const char *name) { return n->type == XML_ELEMENT_NODE && strcmp((const char *)n->name, name) == 0; }

/* The text directly in an element, trimmed; in the arena. */
static str text_of(const hdfs_conf *c, const xmlNode *element) {
    buf b;
    buf_init(&b, VALUE_BYTES_MAX);
    for (const xmlNode *n = element->children; n; n = n->next)
        if ((n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && n->content) buf_append_z(&b, (const char *)n->content);
    str text = buf_ok(&b) ? arena_str(c->arena, str_trim(buf_str(&b))) : STR_NULL;
    buf_dispose(&b);
    return text;
}

static silt_status add_property(hdfs_conf *c, hdfs_property p, silt_error *err) {
    for (size_t i = c->count; i > 0; i--)
        if (c->items[i - 1].is_final && str_eq(c->items[i - 1].name, p.name)) return SILT_OK;
    return ARENA_PUSH(c->arena, c->items, c->count, c->capacity, p) ? SILT_OK : error_no_memory(err);
}

/* <name> and <value> inside, or as attributes, both of which Hadoop reads. */
static silt_status parse_property(hdfs_conf *c, const xmlNode *property, silt_error *err) {
    hdfs_property p = {.name = STR_NULL, .value = STR_NULL};
    for (const xmlAttr *a = property->properties; a; a = a->next) {
        str value = a->children && a->children->content ? arena_str(c->arena, str_of((const char *)a->children->content)) : STR("");
        if (strcmp((const char *)a->name, "name") == 0) p.name = value;
        if (strcmp((const char *)a->name, "value") == 0) p.value = value;
        if (strcmp((const char *)a->name, "final") == 0) p.is_final = str_eqz(value, "true");
    }
    for (const xmlNode *n = property->children; n; n = n->next) {
        if (is_element(n, "name")) p.name = text_of(c, n);
        if (is_element(n, "value")) p.value = text_of(c, n);
        if (is_element(n, "final")) p.is_final = str_eqz(text_of(c, n), "true");
    }
    if (str_is_null(p.name) || str_is_null(p.value)) return SILT_OK; /* as Hadoop: without a name or a value it says nothing */
    return add_property(c, p, err);
}

static silt_status include(hdfs_conf *c, const xmlNode *n, str base, int depth, silt_error *err) {
    xmlChar *href = xmlGetNoNsProp(n, (const xmlChar *)"href");
    str name = href ? arena_str(c->arena, str_of((const char *)href)) : STR("");
    xmlFree(href);
    if (str_starts_with(name, STR("file://"))) name = str_slice(name, 7, name.len);
    if (name.len == 0 || str_find(name, STR("://")) != SIZE_MAX) return invalid(base, "It includes what is no local file.", err);
    if (depth >= INCLUDES_MAX) return invalid(base, "Its files include each other.", err);
    str path = name.ptr[0] == '/' ? name : path_join(c->arena, path_parent(base), name);
    return str_is_null(path) ? error_no_memory(err) : load_file(c, path, true, depth + 1, err);
}

static silt_status parse_elements(hdfs_conf *c, const xmlNode *root, str base, int depth, silt_error *err) {
    for (const xmlNode *n = root->children; n; n = n->next) {
        if (is_element(n, "property")) TRY(parse_property(c, n, err));
        if (is_element(n, "include")) TRY(include(c, n, base, depth, err));
        if (is_element(n, "configuration") && depth < INCLUDES_MAX) TRY(parse_elements(c, n, base, depth + 1, err));
    }
    return SILT_OK;
}

static silt_status parse_text(hdfs_conf *c, str xml, str base, int depth, silt_error *err) {
    if (xml.len > FILE_BYTES_MAX) return invalid(base, "It is too large for a configuration file.", err);
    xmlDoc *doc = xmlReadMemory(xml.ptr, (int)xml.len, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
    if (!doc) return invalid(base, "It is no well-formed XML.", err);
    const xmlNode *root = xmlDocGetRootElement(doc);
    silt_status status = root && is_element(root, "configuration") ? parse_elements(c, root, base, depth, err)
                                                                   : invalid(base, "Its root is not <configuration>.", err);
    xmlFreeDoc(doc);
    return status;
}

silt_status hdfs_conf_parse(hdfs_conf *c, str xml, str base, silt_error *err) { return parse_text(c, xml, base, 0, err); }

static str conf_dir(const char *dir, arena *a) {
    const char *home;
    if (!dir) dir = getenv("HADOOP_CONF_DIR");
    if (dir && *dir) return str_of(dir);
    home = getenv("HADOOP_HOME");
    return home && *home ? path_join(a, str_of(home), STR("etc/hadoop")) : STR_NULL;
}

/* Where files may be missing a folder may not: whoever names one expects what is in it. */
static silt_status check_dir(silt_error *err) {
    struct stat there;
    const char *dir = getenv("HADOOP_CONF_DIR");
    if (!dir || !*dir || (stat(dir, &there) == 0 && S_ISDIR(there.st_mode))) return SILT_OK;
    return invalid(str_of(dir), "HADOOP_CONF_DIR names no folder.", err);
}

silt_status hdfs_conf_load(const store_settings *settings, const char *dir, arena *a, hdfs_conf *out, silt_error *err) {
    static const char *const files[] = {"core-site.xml", "hdfs-site.xml"};
    *out = (hdfs_conf){.settings = settings, .arena = a};
    str folder = conf_dir(dir, a);
    if (!dir) TRY(check_dir(err));
    for (size_t i = 0; !str_is_null(folder) && i < ARRAY_LEN(files); i++) {
        str path = path_join(a, folder, str_of(files[i]));
        if (str_is_null(path)) return error_no_memory(err);
        TRY(load_file(out, path, false, 0, err));
    }
    return SILT_OK;
}

/* ---- looking up ---- */

static str raw_value(const hdfs_conf *c, str key) {
    for (size_t i = c->count; i > 0; i--)
        if (str_eq(c->items[i - 1].name, key)) return c->items[i - 1].value;
    return STR_NULL;
}

/* What ${name} stands for; null: nothing, then it stays as it is, as in Hadoop. */
static str variable(const hdfs_conf *c, str name) {
    const char *z = arena_cstr(c->arena, name);
    if (!z) return STR_NULL;
    if (str_starts_with(name, STR("env."))) return str_of(getenv(z + 4));
    if (str_eqz(name, "user.name")) return str_of(getenv("USER"));
    if (str_eqz(name, "user.home")) return str_of(getenv("HOME"));
    str value = store_setting(c->settings, z);
    return str_is_null(value) ? raw_value(c, name) : value;
}

static str fill_in(const hdfs_conf *c, str value) {
    for (int i = 0; i < SUBSTITUTES_MAX; i++) {
        size_t from = str_find(value, STR("${"));
        if (from == SIZE_MAX) return value;
        str rest = str_slice(value, from + 2, value.len);
        size_t end = str_find_char(rest, '}');
        if (end == SIZE_MAX) return value;
        str with = variable(c, str_slice(rest, 0, end));
        if (str_is_null(with) || value.len + with.len > VALUE_BYTES_MAX) return value;
        str behind = str_slice(rest, end + 1, rest.len);
        value = arena_printf(c->arena, "%.*s%.*s%.*s", (int)from, value.ptr, STR_ARG(with), STR_ARG(behind));
        if (str_is_null(value)) return value;
    }
    return value;
}

str hdfs_conf_get(const hdfs_conf *c, const char *key) {
    str value = store_setting(c->settings, key);
    if (!str_is_null(value)) return value;
    value = raw_value(c, str_of(key));
    return str_is_null(value) ? value : fill_in(c, value);
}

str hdfs_conf_get_of(const hdfs_conf *c, const char *key, str suffix, str second_suffix) {
    str whole = second_suffix.len ? arena_printf(c->arena, "%s.%.*s.%.*s", key, STR_ARG(suffix), STR_ARG(second_suffix))
                : suffix.len      ? arena_printf(c->arena, "%s.%.*s", key, STR_ARG(suffix))
                                  : str_of(key);
    return str_is_null(whole) ? whole : hdfs_conf_get(c, whole.ptr);
}

bool hdfs_conf_flag(const hdfs_conf *c, const char *key, bool absent) {
    str value = hdfs_conf_get(c, key);
    if (str_eq_ascii_fold(value, STR("true"))) return true;
    return str_eq_ascii_fold(value, STR("false")) ? false : absent;
}
