// The server's own state, shared by its routes. Fixed once it listens; what is behind the worker has its own lock.
#ifndef TF_SERVER_SERVER_STATE_H
#define TF_SERVER_SERVER_STATE_H

#include "server/http.h"
#include "server/server.h"
#include "server/worker.h"

struct server {
    struct serving serving;
    struct worker *worker;
    struct http_server *http;
    const struct log *log;
    int64_t started; // seconds since 1970
};

#endif
