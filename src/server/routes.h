// From method and path to what answers them: the one table of routes.
#ifndef TF_SERVER_ROUTES_H
#define TF_SERVER_ROUTES_H

#include "server/http.h"

struct server;

// What answers a route. `tail` is the path behind the route's own, percent-decoded ("" for most).
typedef void route_fn(struct server *s, struct http_exchange *x, const char *tail);

// An http_handler; `server` is a struct server.
void routes_handle(void *server, struct http_exchange *x);

// What HTTP itself refuses, in the envelope of the API.
void routes_refuse(void *server, struct http_exchange *x, int status, const char *message);

route_fn generate_chat, generate_completion;             // generate.c
route_fn status_health, status_models, status_one_model; // status.c

#endif
