// The table of routes, its search, and who may ask from a browser.
#include "server/routes.h"

#include "server/answer.h"
#include "server/server_state.h"

#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 1024 };

// Paths without "/v1", which may be left out. One that ends in "/" has a tail behind it.
static const struct route {
    const char *method, *path;
    route_fn *answer;
} routes[] = {
    {"POST", "/chat/completions", generate_chat},
    {"POST", "/completions", generate_completion},
    {"GET", "/models", status_models},
    {"GET", "/models/", status_one_model},
    {"GET", "/health", status_health},
    {"GET", "", status_health},
};

enum { N_ROUTES = sizeof routes / sizeof routes[0] };

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Percent-decoded, without "/v1" at the front and slashes at the end. False: too long, or decoded to a zero byte.
static bool normalise(const char *path, char out[PATH_MAX_BYTES]) {
    if (strncmp(path, "/v1", 3) == 0 && (path[3] == '/' || path[3] == '\0')) path += 3;
    size_t n = 0;
    for (; *path; path++, n++) {
        if (n + 1 == PATH_MAX_BYTES) return false;
        int high = *path == '%' ? hex_digit(path[1]) : -1, low = high >= 0 ? hex_digit(path[2]) : -1;
        if (low >= 0) path += 2;
        out[n] = low >= 0 ? (char)(high * 16 + low) : *path;
        if (!out[n]) return false;
    }
    while (n > 0 && out[n - 1] == '/') n--;
    out[n] = '\0';
    return true;
}

// The tail when the path is this route's, else NULL.
static const char *match(const struct route *r, const char *path) {
    size_t n = strlen(r->path);
    bool has_tail = n > 0 && r->path[n - 1] == '/';
    if (!has_tail) return strcmp(path, r->path) == 0 ? "" : NULL;
    return strncmp(path, r->path, n) == 0 && path[n] ? path + n : NULL;
}

// Pages of this machine may use the server from a browser; others may not use what their reader can reach.
static bool is_local_origin(const char *origin) {
    static const char *const hosts[] = {"http://localhost", "https://localhost", "http://127.0.0.1",
                                        "https://127.0.0.1", "http://[::1]",     "https://[::1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        size_t n = strlen(hosts[i]);
        if (strncmp(origin, hosts[i], n) == 0 && (origin[n] == '\0' || origin[n] == ':')) return true;
    }
    return false;
}

static bool allow_origin(struct http_exchange *x) {
    const char *origin = http_header(x, "Origin");
    if (!origin) return true;
    http_set_header(x, "Vary", "Origin");
    if (!is_local_origin(origin)) return false;
    http_set_header(x, "Access-Control-Allow-Origin", origin);
    return true;
}

static void answer_preflight(struct http_exchange *x) {
    const char *wanted = http_header(x, "Access-Control-Request-Headers");
    http_set_header(x, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    http_set_header(x, "Access-Control-Allow-Headers", wanted ? wanted : "Authorization, Content-Type");
    http_set_header(x, "Access-Control-Max-Age", "600");
    http_reply(x, 204, NULL, "", 0);
}

static void refuse(struct http_exchange *x, int status, const char *code, const char *message) {
    struct api_error e = {0};
    api_error_answer(&e, status, code, "%s", message);
    answer_error(x, &e);
}

static void answer_unknown(struct http_exchange *x, const char *allowed) {
    char message[PATH_MAX_BYTES + 256];
    if (allowed) {
        http_set_header(x, "Allow", allowed);
        snprintf(message, sizeof message, "%s answers %s, not %s", http_path(x), allowed, http_method(x));
        refuse(x, 405, "method_not_allowed", message);
        return;
    }
    snprintf(message, sizeof message,
             "unknown path %s; there are /v1/chat/completions, /v1/completions, /v1/models and /health", http_path(x));
    refuse(x, 404, "unknown_url", message);
}

void routes_handle(void *server, struct http_exchange *x) {
    char path[PATH_MAX_BYTES];
    const char *method = http_method(x), *allowed = NULL;
    if (!allow_origin(x)) {
        refuse(x, 403, "origin_not_allowed", "only pages of localhost may use the server");
        return;
    }
    if (strcmp(method, "OPTIONS") == 0) {
        answer_preflight(x);
        return;
    }
    if (strcmp(method, "HEAD") == 0) method = "GET"; // its body is left out when it is sent
    for (size_t i = 0; normalise(http_path(x), path) && i < N_ROUTES; i++) {
        const char *tail = match(&routes[i], path);
        if (!tail) continue;
        if (strcmp(method, routes[i].method) == 0) {
            routes[i].answer(server, x, tail);
            return;
        }
        allowed = routes[i].method;
    }
    answer_unknown(x, allowed);
}

void routes_refuse(void *server, struct http_exchange *x, int status, const char *message) {
    (void)server;
    refuse(x, status, NULL, message);
}
