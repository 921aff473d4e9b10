// The server: a loaded model behind an HTTP address.
#ifndef TF_SERVER_SERVER_H
#define TF_SERVER_SERVER_H

#include "base/log.h"
#include "engine/engine.h"
#include "server/serving.h"

struct server;

struct server_options {
    struct serving serving; // without the fields that server_start sets
    struct engine *engine;  // the server's alone until server_stop has returned
    const char *host;       // as http_options has it
    uint16_t port;          // 0 = any free one
    const struct log *log;  // or NULL
};

// Listens and serves from threads of its own. An address that cannot be had is one sentence that says what to do.
enum status server_start(const struct server_options *options, struct server **out, struct err *e) TF_MUST_CHECK;
uint16_t server_port(const struct server *s);

// Takes no new requests, lets those in progress go on for grace_ms, cancels what is left, and frees the server.
void server_stop(struct server *s, uint32_t grace_ms);

#endif
