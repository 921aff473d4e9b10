// JSON of whole replies.
#include "server/openai_reply.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

static void quote(struct buf *out, const char *text) { json_quote(out, text, strlen(text)); }

void openai_reply_head(const struct reply_facts *f, const char *object, struct buf *out) {
    buf_printf(out, "\"id\":\"%s\",\"object\":\"%s\",\"created\":%" PRId64 ",\"model\":", f->id, object, f->created);
    quote(out, f->model);
}

const char *openai_reply_finish(const struct reply_facts *f) {
    return f->reason == END_LENGTH || f->reason == END_CONTEXT ? "length" : "stop";
}

void openai_reply_usage(const struct reply_facts *f, struct buf *out) {
    uint64_t n = f->stats.reply_tokens;
    buf_printf(out, "\"usage\":{\"prompt_tokens\":%" PRIu64 ",\"completion_tokens\":%" PRIu64, f->prompt_tokens, n);
    buf_printf(out, ",\"total_tokens\":%" PRIu64, f->prompt_tokens + n);
    buf_printf(out, ",\"prompt_tokens_details\":{\"cached_tokens\":0}");
    buf_printf(out, ",\"completion_tokens_details\":{\"reasoning_tokens\":%" PRIu64 "}}", f->thought_tokens);
}

static void write_reasoning(const struct reply_facts *f, struct buf *out) {
    buf_printf(out, "\"enable_thinking\":%s,\"reasoning_effort\":", f->thinking ? "true" : "false");
    const char *effort = f->thinking ? f->effort : "none";
    if (effort) {
        quote(out, effort);
    } else {
        buf_text(out, "null");
    }
}

static void write_times(const struct reply_facts *f, struct buf *out) {
    const struct engine_stats *s = &f->stats;
    double rate = s->reply_tokens > 1 && s->decode_ms > 0 ? (double)(s->reply_tokens - 1) * 1e3 / s->decode_ms : 0;
    buf_printf(out, ",\"tokens_per_second\":%.3f,\"seconds\":%.6f,\"prefill_seconds\":%.6f", rate, f->seconds,
               s->prompt_ms * 1e-3);
    buf_printf(out, ",\"time_to_first_token\":%.6f,\"prefill_widths\":[", f->first_s);
    for (size_t i = 0; i < s->n_prefill_widths; i++) buf_printf(out, i ? ",%u" : "%u", s->prefill_widths[i]);
    buf_byte(out, ']');
}

void openai_reply_extras(const struct reply_facts *f, struct buf *out) {
    buf_text(out, "\"exact_mode\":\"exact\",");
    if (f->stop) {
        buf_text(out, "\"stop_sequence\":");
        json_quote(out, f->stop, f->stop_bytes);
        buf_byte(out, ',');
    }
    buf_text(out, "\"tensorfold\":{");
    write_reasoning(f, out);
    buf_text(out, ",\"engine\":");
    quote(out, f->arithmetic);
    write_times(f, out);
    buf_printf(out, ",\"sampling\":\"%s\",\"drafts\":false,\"token_sha\":\"%s\"", f->sampled ? "exact" : "greedy",
               f->stats.token_sha);
    buf_printf(out, ",\"context_window\":%" PRIu32 ",\"context_used\":%" PRIu64, f->context,
               f->prompt_tokens + f->stats.reply_tokens);
    if (f->date) {
        buf_text(out, ",\"date\":");
        quote(out, f->date);
    }
    buf_byte(out, '}');
}

static void write_message(const struct openai_text *text, struct buf *out) {
    buf_text(out, "\"message\":{\"role\":\"assistant\",\"content\":");
    json_quote(out, text->answer, text->n_answer);
    buf_text(out, ",\"refusal\":null");
    static const char *const names[] = {"reasoning_content", "reasoning"};
    for (size_t i = 0; i < 2 && text->n_thought; i++) {
        buf_printf(out, ",\"%s\":", names[i]);
        json_quote(out, text->thought, text->n_thought);
    }
    buf_byte(out, '}');
}

void openai_reply_write(const struct reply_facts *f, const struct openai_text *text, struct buf *out) {
    buf_byte(out, '{');
    openai_reply_head(f, f->route == API_CHAT ? "chat.completion" : "text_completion", out);
    buf_text(out, ",\"choices\":[{\"index\":0,");
    if (f->route == API_CHAT) {
        write_message(text, out);
    } else {
        buf_text(out, "\"text\":");
        json_quote(out, text->answer, text->n_answer);
    }
    buf_printf(out, ",\"logprobs\":null,\"finish_reason\":\"%s\"}],", openai_reply_finish(f));
    openai_reply_usage(f, out);
    buf_byte(out, ',');
    openai_reply_extras(f, out);
    buf_byte(out, '}');
}
