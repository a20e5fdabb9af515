/*
 * Runs a fuzz target over files without libFuzzer: each corpus file once, so that what a fuzzer ever found stays found in the
 * ordinary test run.
 *
 * usage: fuzz_<name> FILE|FOLDER…      one "ok FILE" line per input; a crash ends the process, as it would under libFuzzer
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, off_t size) {
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the input, so that a sanitizer sees the first byte read beyond it. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (!file || !data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        printf("not ok %s: cannot be read\n", path);
        free(data);
        if (file) fclose(file);
        return 1;
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last name before a crash is the culprit */
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    printf("ok %s\n", path);
    return 0;
}

static int replay(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) {
        printf("not ok %s: does not exist\n", path);
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) return replay_file(path, st.st_size);

    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    int failed = n < 0;
    for (int i = 0; i < n; i++) {
        char child[4096];
        if (entries[i]->d_name[0] != '.' &&
            snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name) < (int)sizeof child)
            failed |= replay(child);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) failed |= replay(argv[i]);
    return failed;
}
