// Scripted replies as streams and as whole answers, byte for byte against the files in tests/http/replies.
//
// One id is one call, as a fast client sees it. With WRITE_REPLIES set in the environment the files are written anew.
#include "base/file.h"
#include "base/mem.h"
#include "server/openai_reply.h"
#include "server/openai_stream.h"
#include "server/reply_text.h"
#include "tests/unit/text/tiny_tokenizer.h"

#include <stdlib.h>

enum { END_ID = 300, BYTES_MAX = 1 << 16 };

struct script {
    const char *name;
    enum api_route route;
    const char *text;    // its bytes are the reply's ids; '$' is the end id
    const char *stop;    // or NULL
    const char *echo;    // or NULL
    const char *date;    // or NULL
    const char *effort;  // or NULL
    const char *failure; // what fails behind the text, or NULL
    enum end_reason reason;
    bool reasons, inside, usage, pings;
};

static const struct script scripts[] = {
    {.name = "chat", .route = API_CHAT, .text = "Hi.$"},
    {.name = "chat_usage", .route = API_CHAT, .text = "Hi.$", .usage = true},
    {.name = "chat_length", .route = API_CHAT, .text = "Hi", .reason = END_LENGTH},
    {.name = "chat_context", .route = API_CHAT, .text = "Hi", .reason = END_CONTEXT},
    {.name = "chat_empty", .route = API_CHAT, .text = "$", .usage = true},
    {.name = "chat_pings", .route = API_CHAT, .text = "Hi$", .pings = true},
    {.name = "chat_escapes", .route = API_CHAT, .text = "\"\\\n\r\t\x01\x7f/</script>$"},
    {.name = "chat_stop_spread",
     .route = API_CHAT,
     .text = "okuvwxyz",
     .stop = "uvwxyz",
     .reason = END_STOP_TEXT},
    {.name = "chat_stop_first",
     .route = API_CHAT,
     .text = "okuv",
     .stop = "o",
     .reason = END_STOP_TEXT},
    {.name = "chat_stop_missed", .route = API_CHAT, .text = "uvwx!$", .stop = "uvwxyz"},
    {.name = "chat_emoji", .route = API_CHAT, .text = "\xf0\x9f\x98\x80 x$"},
    {.name = "chat_half_character", .route = API_CHAT, .text = "a\xe2\x82", .reason = END_LENGTH},
    {.name = "chat_reasoning",
     .route = API_CHAT,
     .text = "<think>\nhm\n</think>\n\nHi$",
     .reasons = true,
     .usage = true},
    {.name = "chat_reasoning_open",
     .route = API_CHAT,
     .text = "hm</think>Hi$",
     .reasons = true,
     .inside = true,
     .effort = "high"},
    {.name = "chat_reasoning_cut",
     .route = API_CHAT,
     .text = "hm",
     .reasons = true,
     .inside = true,
     .reason = END_LENGTH},
    {.name = "chat_marker_missed",
     .route = API_CHAT,
     .text = "hm</thinx</think>Hi <think>$",
     .reasons = true,
     .inside = true},
    {.name = "chat_date", .route = API_CHAT, .text = "Hi$", .date = "2026-03-04"},
    {.name = "chat_failure", .route = API_CHAT, .text = "Hi", .failure = "the \"engine\" failed"},
    {.name = "completion", .route = API_COMPLETION, .text = "Hi.$", .usage = true},
    {.name = "completion_echo", .route = API_COMPLETION, .text = "lo$", .echo = "Hel"},
    {.name = "completion_stop",
     .route = API_COMPLETION,
     .text = "a\nb",
     .stop = "\n",
     .reason = END_STOP_TEXT},
};

static const int32_t end_ids[] = {END_ID};
static const uint32_t widths[] = {128, 3};

static struct tokenizer *make_tokenizer(void) {
    static const struct added_token added = {"<end>", 5, END_ID, true, false, false, false, false};
    struct tiny tiny;
    tiny_init(&tiny, 0, NULL);
    tiny.source.added = &added;
    tiny.source.n_added = 1;
    return tiny_new(&tiny);
}

struct reply {
    int32_t ids[256];
    size_t n;
    size_t stop_bytes;
    struct reply_rule rule;
    struct reply_facts facts;
};

static void make_reply(const struct script *s, const struct tokenizer *t, struct reply *r) {
    memset(r, 0, sizeof *r);
    for (const char *c = s->text; *c; c++) r->ids[r->n++] = *c == '$' ? END_ID : (uint8_t)*c;
    r->stop_bytes = s->stop ? strlen(s->stop) : 0;
    r->rule = (struct reply_rule){.tokenizer = t,
                                  .token_bytes = reply_rule_token_bytes(t),
                                  .end_ids = end_ids,
                                  .n_end_ids = 1,
                                  .stops = &s->stop,
                                  .stop_bytes = &r->stop_bytes,
                                  .n_stops = s->stop != NULL,
                                  .think_open = s->reasons ? "<think>" : NULL,
                                  .think_close = s->reasons ? "</think>" : NULL,
                                  .opens_reasoning = s->inside};
    r->facts = (struct reply_facts){.route = s->route,
                                    .id = "id-1",
                                    .created = 1700000000,
                                    .model = "a/\"model\"",
                                    .arithmetic = "cpu-1",
                                    .thinking = s->reasons,
                                    .effort = s->effort,
                                    .date = s->date,
                                    .include_usage = s->usage,
                                    .context = 8192,
                                    .prompt_tokens = 131,
                                    .reason = s->reason,
                                    .stop = s->stop,
                                    .stop_bytes = r->stop_bytes,
                                    .first_s = 0.25,
                                    .seconds = 0.75};
    if (s->reason != END_STOP_TEXT) r->facts.stop = NULL;
    r->facts.stats = (struct engine_stats){.prompt_tokens = 131,
                                           .reply_tokens = r->n,
                                           .prompt_ms = 200,
                                           .decode_ms = 500,
                                           .prefill_widths = widths,
                                           .n_prefill_widths = 2};
    snprintf(r->facts.stats.token_sha, sizeof r->facts.stats.token_sha, "0123456789ab");
}

static void stream(const struct script *s, struct reply *r, struct buf *out) {
    struct openai_stream stream;
    struct reply_text *text = NULL;
    CHECK_INT(STATUS_OK, reply_text_new(&r->rule, &text, NULL));
    openai_stream_init(&stream, &r->facts);
    stream.out = out;
    openai_stream_begin(&stream, s->echo, s->echo ? strlen(s->echo) : 0);
    for (size_t i = 0; i < r->n; i++) {
        if (s->pings) openai_stream_ping(&stream);
        CHECK_INT(STATUS_OK,
                  reply_text_push(text, &r->ids[i], 1, openai_stream_take, &stream, NULL));
        openai_stream_flush(&stream);
    }
    if (s->failure) {
        struct api_error e = {0};
        const struct err err = {STATUS_INTERNAL, "the \"engine\" failed"};
        api_error_from(&e, &err, NULL);
        openai_stream_fail(&stream, &e);
    } else {
        reply_text_end(text, openai_stream_take, &stream);
        r->facts.thought_tokens = reply_text_thoughts(text);
        openai_stream_end(&stream);
    }
    openai_stream_fini(&stream);
    reply_text_free(text);
}

struct whole {
    struct buf thought, answer;
};

static void keep(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct whole *w = context;
    buf_append(part == REASONING_THOUGHT ? &w->thought : &w->answer, text, n);
}

static void write_whole(const struct script *s, struct reply *r, struct buf *out) {
    struct whole w;
    struct reply_text *text = NULL;
    buf_init(&w.thought, BYTES_MAX);
    buf_init(&w.answer, BYTES_MAX);
    if (s->echo) buf_text(&w.answer, s->echo);
    CHECK_INT(STATUS_OK, reply_text_new(&r->rule, &text, NULL));
    CHECK_INT(STATUS_OK, reply_text_push(text, r->ids, r->n, keep, &w, NULL));
    reply_text_end(text, keep, &w);
    r->facts.thought_tokens = reply_text_thoughts(text);
    const struct openai_text t = {w.thought.data, w.answer.data, w.thought.n, w.answer.n};
    openai_reply_write(&r->facts, &t, out);
    buf_byte(out, '\n');
    reply_text_free(text);
    buf_fini(&w.thought);
    buf_fini(&w.answer);
}

static void check_file(const char *name, const char *ending, const struct buf *got) {
    char path[256];
    snprintf(path, sizeof path, "tests/http/replies/%s.%s", name, ending);
    CHECK_INT(STATUS_OK, got->failed);
    if (getenv("WRITE_REPLIES")) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(got->data, 1, got->n, f) == got->n);
        if (f) fclose(f);
        return;
    }
    char *expected = NULL;
    size_t n = 0;
    struct err e = {0};
    CHECK_INT(STATUS_OK, file_read(path, BYTES_MAX, &expected, &n, &e));
    CHECK_TEXT("", e.message);
    if (expected && (n != got->n || memcmp(expected, got->data, n) != 0)) {
        test_fail(__FILE__, __LINE__, "%s: expected\n%.*s\ngot\n%.*s", path, (int)n, expected,
                  (int)got->n, got->data);
    }
    mem_free(expected);
}

static void each_script(void (*make)(const struct script *, struct reply *, struct buf *),
                        const char *ending) {
    struct tokenizer *t = make_tokenizer();
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct reply r;
        struct buf out;
        if (scripts[i].failure && ending[0] == 'j') continue;
        buf_init(&out, BYTES_MAX);
        make_reply(&scripts[i], t, &r);
        make(&scripts[i], &r, &out);
        check_file(scripts[i].name, ending, &out);
        buf_fini(&out);
    }
    tokenizer_free(t);
}

static void streams_every_script_byte_for_byte(void) { each_script(stream, "sse"); }
static void answers_every_script_byte_for_byte(void) { each_script(write_whole, "json"); }

static const struct test_case cases[] = {
    {"streams every script byte for byte", streams_every_script_byte_for_byte},
    {"answers every script byte for byte", answers_every_script_byte_for_byte},
};

TEST_MAIN("openai_stream", cases)
