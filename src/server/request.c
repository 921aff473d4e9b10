// The fields that both generating routes share, then those of one.
#include "server/request.h"

#include "server/chat_request.h"
#include "server/completion_request.h"

#include <stdio.h>

enum { TEMPERATURE_MOST = 1000000 };

static enum status read_drawing(const struct fields *f, struct request *r) {
    TRY(fields_number(f, "temperature", 0, TEMPERATURE_MOST, &r->rule.temperature));
    double top_p = -1;
    TRY(fields_number(f, "top_p", 0, 1, &top_p));
    if (top_p >= 0) r->rule.top_p = draw_top_p(top_p);
    TRY(fields_number(f, "min_p", 0, 1, &r->rule.min_p));
    struct whole_number top_k = {0}, seed = {0};
    TRY(fields_whole(f, "top_k", &top_k));
    if (top_k.given) r->rule.top_k = top_k.negative ? 0 : top_k.size < UINT32_MAX ? (uint32_t)top_k.size : UINT32_MAX;
    TRY(fields_whole(f, "seed", &seed));
    if (seed.negative && seed.size > (uint64_t)1 << 63) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "seed", "it does not fit into 64 bits");
    }
    r->rule.seed = seed.negative ? 0 - seed.size : seed.size;
    r->seeded = seed.given;
    return STATUS_OK;
}

static enum status add_stop(const struct fields *f, struct request *r, const char *key, yyjson_val *v) {
    if (!yyjson_is_str(v)) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, key, "expected a string, got %s", fields_kind(v));
    }
    size_t n = yyjson_get_len(v);
    if (n == 0) return fields_refuse(f, FIELDS_INVALID_VALUE, key, "a stop string may not be empty");
    if (n > STOP_BYTES_MAX) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, key, "%zu bytes are over the %d of a stop string", n,
                             STOP_BYTES_MAX);
    }
    r->stops[r->n_stops] = yyjson_get_str(v);
    r->stop_bytes[r->n_stops++] = n;
    return STATUS_OK;
}

static enum status read_stops(const struct fields *f, struct request *r) {
    yyjson_val *stop = fields_value(f, "stop"), *v;
    if (!stop) return STATUS_OK;
    if (!yyjson_is_arr(stop)) return add_stop(f, r, "stop", stop);
    if (yyjson_arr_size(stop) > STOP_STRINGS_MAX) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "stop", "%zu strings are over the %d there may be",
                             yyjson_arr_size(stop), STOP_STRINGS_MAX);
    }
    size_t i, n;
    yyjson_arr_foreach(stop, i, n, v) {
        char key[32];
        snprintf(key, sizeof key, "stop[%zu]", i);
        TRY(add_stop(f, r, key, v));
    }
    return STATUS_OK;
}

static enum status read_streaming(const struct fields *f, struct request *r) {
    yyjson_val *object = NULL, *key, *value;
    TRY(fields_bool(f, "stream", &r->stream));
    TRY(fields_object(f, "stream_options", &object));
    if (!object) return STATUS_OK;
    if (!r->stream) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "stream_options", "it needs \"stream\": true");
    }
    const struct fields options = {object, "stream_options.", f->error};
    TRY(fields_bool(&options, "include_usage", &r->include_usage));
    size_t i, n;
    yyjson_obj_foreach(object, i, n, key, value) {
        bool neutral = yyjson_is_null(value) || yyjson_is_false(value);
        if (neutral || yyjson_equals_str(key, "include_usage")) continue;
        return fields_refuse(&options, FIELDS_UNSUPPORTED, yyjson_get_str(key), "not served yet; leave it out");
    }
    return STATUS_OK;
}

static enum status read_shared(const struct fields *f, struct request *r) {
    size_t n;
    bool draft = true; // honoured by every reply: drafts never change one
    TRY(fields_text(f, "model", &r->model, &n));
    TRY(fields_count(f, "max_tokens", &r->max_tokens, &r->limited));
    TRY(fields_bool(f, "ignore_eos", &r->ignore_eos));
    TRY(fields_bool(f, "draft", &draft));
    TRY(read_drawing(f, r));
    TRY(read_stops(f, r));
    return read_streaming(f, r);
}

enum status request_read(enum api_route route, yyjson_val *body, const struct draw_rule *defaults, struct request *out,
                         struct api_error *e) {
    *out = (struct request){.route = route, .rule = *defaults};
    if (!yyjson_is_obj(body)) {
        return api_error_refuse(e, FIELDS_INVALID_TYPE, NULL, "the body: expected an object, got %s",
                                fields_kind(body));
    }
    const struct fields f = {body, "", e};
    TRY(field_table_check(route, &f));
    TRY(read_shared(&f, out));
    return route == API_CHAT ? chat_request_read(&f, out) : completion_request_read(&f, out);
}
