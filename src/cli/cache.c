/* silt cache: what is kept of remote files on this machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void add_size(text_buf *b, uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 4) v /= 1024, u++;
    text_printf(b, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void print_for_people(const char *folder, const silt_cache_usage *u) {
    text_buf b = {0};
    text_printf(&b, "folder   %s\nsize     ", folder);
    add_size(&b, (uint64_t)u->bytes);
    text_printf(&b, "\nentries  %" PRId64 "\nhits     %" PRIu64 " of %" PRIu64 " files asked for, ", u->entries, u->hits, u->hits + u->misses);
    add_size(&b, u->bytes_hit);
    text_printf(&b, "\nfetched  ");
    add_size(&b, u->bytes_fetched);
    printf("%s\n", b.ptr);
    free(b.ptr);
}

static void print_json(const char *folder, const silt_cache_usage *u) {
    text_buf b = {0};
    text_add_z(&b, "{\"folder\":\"");
    for (const char *p = folder; *p; p++) {
        if (*p == '"' || *p == '\\') text_add_z(&b, "\\");
        if ((unsigned char)*p < ' ') text_printf(&b, "\\u%04x", (unsigned)*p);
        else text_add(&b, p, 1);
    }
    printf("%s\",\"bytes\":%" PRId64 ",\"entries\":%" PRId64 ",\"hits\":%" PRIu64 ",\"misses\":%" PRIu64 ",\"bytesHit\":%" PRIu64 ",\"bytesFetched\":%" PRIu64 "}\n", b.ptr, u->bytes, u->entries,
           u->hits, u->misses, u->bytes_hit, u->bytes_fetched);
    free(b.ptr);
}

static int clear(silt_session *session, bool quiet) {
    silt_cache_usage gone = {.struct_size = sizeof gone};
    silt_error err;
    if (silt_cache_clear(session, &gone, &err) != SILT_OK) return report_error(&err);
    text_buf b = {0};
    add_size(&b, (uint64_t)gone.bytes);
    if (!quiet) printf("%" PRId64 " entries removed, %s\n", gone.entries, b.ptr);
    free(b.ptr);
    return EXIT_DONE;
}

static int show(silt_session *session, bool json) {
    silt_cache_usage usage = {.struct_size = sizeof usage};
    silt_error err;
    if (silt_cache_show(session, &usage, &err) != SILT_OK) return report_error(&err);
    const char *folder = silt_cache_folder(session);
    if (json) print_json(folder ? folder : "", &usage);
    else if (!folder) puts("There is no read cache: HOME cannot hold one and silt.cache.dir is not set, or silt.cache.maxSize is 0.");
    else print_for_people(folder, &usage);
    return EXIT_DONE;
}

int command_cache(int argc, char **argv) {
    options o;
    if (!options_parse(argc, argv, "o", &o)) return EXIT_USAGE;
    if (o.help) {
        char *help[] = {(char *)"help", argv[0]};
        return command_help(2, help);
    }
    const char *what = o.arguments.count ? o.arguments.items[0] : "show";
    bool known = strcmp(what, "show") == 0 || strcmp(what, "clear") == 0;
    if (!known || o.arguments.count > 1) return usage_error("'silt cache' takes 'show' or 'clear'");
    if (o.format && strcmp(o.format, "json") != 0 && strcmp(o.format, "table") != 0) return usage_error("'silt cache' has the formats table and json");
    silt_session *session = open_session(&o);
    if (!session) return EXIT_FAILED;
    int code = strcmp(what, "clear") == 0 ? clear(session, o.quiet) : show(session, o.format && strcmp(o.format, "json") == 0);
    silt_session_close(session);
    return code;
}
