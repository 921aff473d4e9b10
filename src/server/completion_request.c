// Completions: one string, or one list of token ids.
#include "server/completion_request.h"

#include <stdio.h>

static enum status refuse_prompt(const struct fields *f, yyjson_val *v) {
    return fields_refuse(f, FIELDS_INVALID_TYPE, "prompt", "expected a string or a list of token ids, got %s",
                         fields_kind(v));
}

// A list of ids is a prompt; a list that holds one prompt stands for it.
static enum status read_prompt(const struct fields *f, yyjson_val *v, struct request *out) {
    yyjson_val *first = yyjson_arr_get_first(v);
    if (yyjson_is_arr(v) && !first) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "prompt", "the list is empty; it needs a prompt");
    }
    if (yyjson_is_str(first) || yyjson_is_arr(first)) {
        if (yyjson_arr_size(v) > 1) {
            return fields_refuse(f, FIELDS_UNSUPPORTED, "prompt", "%zu prompts in one request are not served yet; send "
                                 "a request for each", yyjson_arr_size(v));
        }
        v = first;
    }
    if (yyjson_is_arr(v) && yyjson_arr_size(v) == 0) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "prompt", "the list of token ids is empty");
    }
    if (!yyjson_is_str(v) && !yyjson_is_arr(v)) return refuse_prompt(f, v);
    out->prompt = v;
    return STATUS_OK;
}

enum status completion_request_read(const struct fields *f, struct request *out) {
    yyjson_val *prompt = fields_value(f, "prompt");
    if (!prompt) return fields_refuse(f, FIELDS_MISSING, "prompt", "it is missing");
    out->add_special = true;
    TRY(fields_bool(f, "echo", &out->echo));
    TRY(fields_bool(f, "add_special_tokens", &out->add_special));
    return read_prompt(f, prompt, out);
}

static enum status take_id(const struct serving *s, yyjson_val *v, size_t i, struct ids *out, struct api_error *e) {
    size_t limit = tokenizer_n_ids(s->tokenizer) < s->vocab ? tokenizer_n_ids(s->tokenizer) : s->vocab, n;
    char param[32];
    snprintf(param, sizeof param, "prompt[%zu]", i);
    struct whole_number id = {0};
    if (!yyjson_is_num(v) || !fields_as_whole(v, &id)) {
        return api_error_refuse(e, FIELDS_INVALID_TYPE, param, "%s: expected a token id, got %s", param,
                                yyjson_is_num(v) ? "a number that is not whole" : fields_kind(v));
    }
    if ((id.negative && id.size) || id.size >= limit || !tokenizer_bytes(s->tokenizer, (int32_t)id.size, &n)) {
        return api_error_refuse(e, FIELDS_INVALID_VALUE, param, "%s: no token of this model; ids go from 0 to %zu",
                                param, limit - 1);
    }
    struct err err = {0};
    if (ids_push(out, (int32_t)id.size, &err) != STATUS_OK) return api_error_from(e, &err, NULL);
    return STATUS_OK;
}

static enum status echo_ids(const struct serving *s, struct prompt *out, struct api_error *e) {
    struct err err = {0};
    if (tokenizer_decode(s->tokenizer, out->ids.at, out->ids.n, true, &out->echo, &err) == STATUS_OK) return STATUS_OK;
    return api_error_from(e, &err, "prompt");
}

enum status completion_request_prompt(const struct serving *s, const struct request *r, struct prompt *out,
                                      struct api_error *e) {
    if (yyjson_is_arr(r->prompt)) {
        size_t i, n;
        yyjson_val *v;
        yyjson_arr_foreach(r->prompt, i, n, v) TRY(take_id(s, v, i, &out->ids, e));
        return r->echo ? echo_ids(s, out, e) : STATUS_OK;
    }
    const char *text = yyjson_get_str(r->prompt);
    size_t n = yyjson_get_len(r->prompt);
    struct err err = {0};
    enum status status =
        tokenizer_encode(s->tokenizer, text, n, r->add_special ? TOKENIZE_SPECIAL : 0, &out->ids, &err);
    if (status != STATUS_OK) return api_error_from(e, &err, "prompt");
    if (out->ids.n == 0) {
        return api_error_refuse(e, FIELDS_INVALID_VALUE, "prompt", "prompt: it is empty; it needs at least one token");
    }
    if (r->echo) buf_append(&out->echo, text, n);
    return STATUS_OK;
}
