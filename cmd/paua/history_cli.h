/* history_cli.h - what the actions of "paua history" share. */
#ifndef PAUA_CMD_HISTORY_CLI_H
#define PAUA_CMD_HISTORY_CLI_H

#include <paua/paua_db_history.h>

#include "cli.h"

/* A database and one history of it that is read, or written. */
struct history_session {
    paua_db *db;
    paua_db_history *history;
    paua_history_view *view; /* of reading */
};

int history_session_read(const struct cli *cli, const char *name, struct history_session *session);
int history_session_write(const struct cli *cli, const char *name, bool create,
                          const paua_history_limits *limits, struct history_session *session);
void history_session_close(struct history_session *session);

/* One history's figures as an object. */
json_t *history_info_json(const paua_db_history_info *info);

/* Takes --rows, --bytes and --age ("90s", "15m", "12h", "30d", or milliseconds). Prints and returns
 * false if one is wrong. */
bool history_take_limits(const struct args *args, paua_history_limits *limits);

/* Milliseconds since 1970. */
int64_t history_now_ms(void);

/* The actions; each has its operands checked. */
int history_run_show(struct cli *cli);
int history_run_export(struct cli *cli);
int history_run_search(struct cli *cli);
int history_run_import(struct cli *cli);

#endif
