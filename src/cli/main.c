/* silt: the command line. One row per command; verbs that only make a statement are rows of verbs.c. */
#include <signal.h>
#include <string.h>

#include "cli/cli.h"

static const struct { const char *name; int (*run)(int argc, char **argv); } commands[] = {
    {"sql", command_sql}, {"shell", command_shell}, {"load", command_load}, {"show", command_show}, {"history", command_history}, {"files", command_files}, {"changes", command_changes},
    {"schema", command_schema}, {"checkpoint", command_checkpoint}, {"doctor", command_doctor}, {"inspect", command_inspect}, {"maintain", command_maintain}, {"cache", command_cache}, {"demo", command_demo}, {"help", command_help},
};

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); /* `silt sql … | head` ends by a failed write, not by a signal in the middle of a commit */
    const char *name = argc > 1 ? argv[1] : "shell";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return command_help(1, argv);
    if (strcmp(name, "--version") == 0) {
        printf("silt %s\n", silt_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0) return commands[i].run(argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv);
    const verb *v = verb_find(name);
    if (v) return verb_run(v, argc - 1, argv + 1);
    if (name[0] == '-') return command_shell(argc, argv); /* silt --conf … */
    return usage_error("unknown command '%s'", name);
}
