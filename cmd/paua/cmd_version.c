/* cmd_version.c - paua version. */
#include "cli.h"
#include "commands.h"

static int run(struct cli *cli)
{
    if (cli->json)
        json_line(json_pack("{s:s, s:s}", "version", paua_version(), "tier", paua_tier()));
    else
        printf("paua %s (%s)\n", paua_version(), paua_tier());
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "show the version and the instructions in use",
    .text = "Shows the library's version and which instructions its kernels use on this machine:\n"
            "avx512, avx2, neon or portable.",
    .examples = "  paua version --json",
    .run = run,
};
