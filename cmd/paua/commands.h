/* commands.h - the tables of all subcommands; each lives in its cmd_*.c. */
#ifndef PAUA_CMD_COMMANDS_H
#define PAUA_CMD_COMMANDS_H

#include "args.h"

extern const struct command cmd_create, cmd_drop, cmd_ls, cmd_info, cmd_import, cmd_export, cmd_get,
    cmd_put, cmd_rm, cmd_search, cmd_query, cmd_field, cmd_index, cmd_optimize, cmd_check,
    cmd_backup, cmd_history, cmd_bench, cmd_version, cmd_help;

#endif
