// Fuzz target: the body of a request to both generating routes; what is accepted becomes a prompt, else an envelope.
#include "base/utf8.h"
#include "server/prompt.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { N_BYTES = 256, ENVELOPE_MAX = 1 << 16 };

static const char template_text[] =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}"
    "{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}{% if enable_thinking is false %}</think>{% endif %}"
    "{{ reasoning_effort }}{{ strftime_now('%Y') }}";

// Bytes as tokens, made once.
static const struct serving *serving(void) {
    static struct serving s;
    static const char *const names[] = {"m"};
    if (s.tokenizer) return &s;
    static char written[N_BYTES][4];
    static const char *tokens[N_BYTES];
    static size_t bytes[N_BYTES];
    uint32_t beyond = 256;
    for (uint32_t b = 0; b < N_BYTES; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        bytes[b] = utf8_put(printable ? b : beyond++, written[b]);
        tokens[b] = written[b];
    }
    const struct tokenizer_source source = {.tokens = tokens, .token_bytes = bytes, .n_tokens = N_BYTES};
    struct tokenizer *tokenizer;
    struct chat_template *chat;
    if (tokenizer_new(&source, &tokenizer, NULL) != STATUS_OK) abort();
    if (chat_template_new(template_text, sizeof template_text - 1, "", "", &chat, NULL) != STATUS_OK) abort();
    s = (struct serving){.names = names, .n_names = 1, .tokenizer = tokenizer, .chat = chat, .date = "2026-01-02",
                         .context = 1000, .vocab = N_BYTES};
    return &s;
}

// A refusal is an envelope that any client can read.
static void check_envelope(const struct api_error *e) {
    struct buf out;
    yyjson_doc *doc;
    struct err err = {0};
    buf_init(&out, ENVELOPE_MAX);
    api_error_write(e, &out);
    if (e->http < 400 || !e->message[0] || out.failed != STATUS_OK) abort();
    if (json_parse("envelope", out.data, out.n, &doc, &err) != STATUS_OK) abort();
    yyjson_doc_free(doc);
    buf_fini(&out);
}

static void run(enum api_route route, yyjson_val *body) {
    const struct serving *s = serving();
    struct request request;
    struct prompt prompt;
    struct api_error e = {0};
    enum status status = request_read(route, body, &s->defaults, &request, &e);
    if (status == STATUS_OK) status = prompt_make(s, &request, &prompt, &e);
    if ((status == STATUS_OK) != (e.http == 0)) abort();
    if (status != STATUS_OK) {
        check_envelope(&e);
        return;
    }
    for (size_t i = 0; i < prompt.ids.n; i++) {
        if (prompt.ids.at[i] < 0 || prompt.ids.at[i] >= N_BYTES) abort();
    }
    if (!(request.rule.temperature >= 0) || !(request.rule.top_p >= 0 && request.rule.top_p <= 1)) abort();
    prompt_fini(&prompt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    yyjson_doc *doc;
    struct err err = {0};
    if (json_parse("the body", (const char *)data, n, &doc, &err) != STATUS_OK) {
        struct api_error e = {0};
        api_error_from(&e, &err, NULL);
        check_envelope(&e);
        return 0;
    }
    run(API_CHAT, yyjson_doc_get_root(doc));
    run(API_COMPLETION, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return 0;
}
