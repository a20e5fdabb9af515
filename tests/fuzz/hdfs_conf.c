/* Hadoop's configuration over any bytes, and what names of servers, tokens and masks are made of it. */
#include <assert.h>

#include "store/hdfs/hdfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sites(const hdfs_conf *c, arena *a) {
    static const char *const authorities[] = {"", "nn:8020", "ns1"};
    for (size_t i = 0; i < ARRAY_LEN(authorities); i++)
        for (int kind = HDFS_BY_RPC; kind <= HDFS_BY_HTTPS; kind++) {
            hdfs_site site = {.login = STR("")};
            if (hdfs_site_services((hdfs_kind)kind, str_of(authorities[i]), c, a, &site, NULL) != SILT_OK) continue;
            for (size_t k = 0; k < site.n_services; k++) {
                assert(str_starts_with(site.services[k], STR("http")) && str_ends_with(site.services[k], STR("/webhdfs/v1")));
                assert(str_find_char(site.services[k], '?') == SIZE_MAX);
            }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size}, host;
    int64_t port;
    unsigned mask;
    arena *a = arena_new();
    if (!a) return 0;
    hdfs_conf c = {.arena = a};
    if (hdfs_conf_parse(&c, text, STR("/none/core-site.xml"), NULL) == SILT_OK) {
        for (size_t i = 0; i < c.count && i < 50; i++) (void)hdfs_conf_get(&c, arena_cstr(a, c.items[i].name));
        check_sites(&c, a);
    }
    str token = hdfs_token_find(text, STR("nn:8020"), a);
    for (size_t i = 0; i < token.len; i++) assert(token.ptr[i] != '&' && token.ptr[i] != '+' && token.ptr[i] != '/');
    if (hdfs_umask_parse(text, &mask)) assert(mask <= 0777);
    if (hdfs_authority_split(text, &host, &port)) assert(host.len > 0 && port >= -1 && port <= 65535 && port != 0);
    arena_free(a);
    return 0;
}
