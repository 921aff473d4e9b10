// Server-sent events.
#include "server/openai_stream.h"

#include "base/json.h"
#include "server/openai_reply.h"

// Up to the one choice's own members; close_event ends what it begins.
static void open_event(const struct reply_facts *f, struct buf *out) {
    buf_text(out, "data: {");
    openai_reply_head(f, f->route == API_CHAT ? "chat.completion.chunk" : "text_completion", out);
    buf_text(out, ",\"choices\":[{\"index\":0,");
}

static void close_event(const struct reply_facts *f, const char *finish, struct buf *out) {
    buf_text(out, ",\"logprobs\":null,\"finish_reason\":");
    buf_printf(out, finish ? "\"%s\"}]" : "null}]", finish);
    if (f->include_usage) buf_text(out, ",\"usage\":null");
    if (finish) {
        buf_byte(out, ',');
        openai_reply_extras(f, out);
    }
    buf_text(out, "}\n\n");
}

void openai_stream_begin(const struct reply_facts *f, const char *echo, size_t n, struct buf *out) {
    if (f->route == API_COMPLETION) {
        if (n) openai_stream_text(f, REASONING_ANSWER, echo, n, out);
        return;
    }
    open_event(f, out);
    buf_text(out, "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}");
    close_event(f, NULL, out);
}

void openai_stream_text(const struct reply_facts *f, enum reasoning_part part, const char *text, size_t n,
                        struct buf *out) {
    open_event(f, out);
    if (f->route == API_COMPLETION) {
        buf_text(out, "\"text\":");
        json_quote(out, text, n);
    } else if (part == REASONING_ANSWER) {
        buf_text(out, "\"delta\":{\"content\":");
        json_quote(out, text, n);
        buf_byte(out, '}');
    } else {
        buf_text(out, "\"delta\":{\"reasoning_content\":");
        json_quote(out, text, n);
        buf_text(out, ",\"reasoning\":");
        json_quote(out, text, n);
        buf_byte(out, '}');
    }
    close_event(f, NULL, out);
}

static void write_done(struct buf *out) { buf_text(out, "data: [DONE]\n\n"); }

void openai_stream_end(const struct reply_facts *f, struct buf *out) {
    open_event(f, out);
    buf_text(out, f->route == API_CHAT ? "\"delta\":{}" : "\"text\":\"\"");
    close_event(f, openai_reply_finish(f), out);
    if (f->include_usage) {
        buf_text(out, "data: {");
        openai_reply_head(f, f->route == API_CHAT ? "chat.completion.chunk" : "text_completion", out);
        buf_text(out, ",\"choices\":[],");
        openai_reply_usage(f, out);
        buf_text(out, "}\n\n");
    }
    write_done(out);
}

void openai_stream_fail(const struct api_error *e, struct buf *out) {
    buf_text(out, "data: ");
    api_error_write(e, out);
    buf_text(out, "\n\n");
    write_done(out);
}

void openai_stream_ping(struct buf *out) { buf_text(out, ": ping\n\n"); }
