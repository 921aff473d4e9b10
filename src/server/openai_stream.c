// Server-sent events.
#include "server/openai_stream.h"

#include "base/json.h"
#include "server/openai_reply.h"

enum { TEXT_BYTES_MAX = 1 << 30 };

// Up to the one choice's own members; close_event ends it.
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

void openai_stream_init(struct openai_stream *s, const struct reply_facts *facts) {
    *s = (struct openai_stream){.facts = facts, .part = REASONING_ANSWER};
    buf_init(&s->text, TEXT_BYTES_MAX);
}

void openai_stream_fini(struct openai_stream *s) { buf_fini(&s->text); }

void openai_stream_begin(struct openai_stream *s, const char *echo, size_t n) {
    if (s->facts->route == API_COMPLETION) {
        openai_stream_take(s, REASONING_ANSWER, echo, n);
        openai_stream_flush(s);
        return;
    }
    open_event(s->facts, s->out);
    buf_text(s->out, "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}");
    close_event(s->facts, NULL, s->out);
}

void openai_stream_take(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct openai_stream *s = context;
    if (part != s->part) openai_stream_flush(s);
    s->part = part;
    buf_append(&s->text, text, n);
}

static void write_text(const struct openai_stream *s) {
    const struct buf *text = &s->text;
    if (s->facts->route == API_COMPLETION) {
        buf_text(s->out, "\"text\":");
        json_quote(s->out, text->data, text->n);
        return;
    }
    bool answer = s->part == REASONING_ANSWER;
    buf_printf(s->out, "\"delta\":{\"%s\":", answer ? "content" : "reasoning_content");
    json_quote(s->out, text->data, text->n);
    if (!answer) {
        buf_text(s->out, ",\"reasoning\":");
        json_quote(s->out, text->data, text->n);
    }
    buf_byte(s->out, '}');
}

void openai_stream_flush(struct openai_stream *s) {
    if (s->text.failed != STATUS_OK) s->out->failed = s->text.failed;
    if (s->text.n) {
        open_event(s->facts, s->out);
        write_text(s);
        close_event(s->facts, NULL, s->out);
    }
    buf_reset(&s->text);
}

static void write_done(struct buf *out) { buf_text(out, "data: [DONE]\n\n"); }

void openai_stream_end(struct openai_stream *s) {
    const struct reply_facts *f = s->facts;
    openai_stream_flush(s);
    open_event(f, s->out);
    buf_text(s->out, f->route == API_CHAT ? "\"delta\":{}" : "\"text\":\"\"");
    close_event(f, openai_reply_finish(f), s->out);
    if (f->include_usage) {
        buf_text(s->out, "data: {");
        openai_reply_head(f, f->route == API_CHAT ? "chat.completion.chunk" : "text_completion", s->out);
        buf_text(s->out, ",\"choices\":[],");
        openai_reply_usage(f, s->out);
        buf_text(s->out, "}\n\n");
    }
    write_done(s->out);
}

void openai_stream_fail(struct openai_stream *s, const struct api_error *e) {
    openai_stream_flush(s);
    buf_text(s->out, "data: ");
    api_error_write(e, s->out);
    buf_text(s->out, "\n\n");
    write_done(s->out);
}

void openai_stream_ping(struct openai_stream *s) { buf_text(s->out, ": ping\n\n"); }
