/* Writing what logs have to the file. */
#ifndef PNC_TOOLS_NCMPILOG_REPLAY_H
#define PNC_TOOLS_NCMPILOG_REPLAY_H

#include "tools/ncmpilog/options.h"

/* Collective over MPI_COMM_WORLD. Returns an exit status, the same on all processes, after all messages. */
int log_replay_execute(const log_options *options);

#endif
