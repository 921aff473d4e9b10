// Fuzz target: a tokenizer.json, a zero byte, and a text for it; what it encodes has to decode to the same text.
#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

static bool mentions(const uint8_t *json, size_t n, const char *word) { return memmem(json, n, word, strlen(word)); }

// Every byte of UTF-8 has a token, none is an added one, and nothing is normalized: then no text is lost.
static bool keeps_all_text(const struct tokenizer *t, const uint8_t *json, size_t n_json) {
    uint32_t beyond = 256;
    static const char *const losing[] = {"\"normalizers\"", "\"normalizer\":{", "\"content\"", "\"behavior\"", "Split",
                                         "\"Whitespace\"",  "Bert",             "Metaspace",   "\"unk_token\":\""};
    for (size_t i = 0; i < sizeof losing / sizeof losing[0]; i++)
        if (mentions(json, n_json, losing[i])) return false;
    if (!mentions(json, n_json, "ByteLevel")) return false;
    for (uint32_t b = 0; b < 0xf5; b++) {
        char written[4];
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        size_t n = utf8_put(printable ? b : beyond++, written);
        if (b != 0xc0 && b != 0xc1 && tokenizer_find(t, written, n) < 0) return false;
    }
    return true;
}

// `same`: the text comes back, at most with the blank before it that the file may ask for.
static void check_decode(const struct tokenizer *t, const struct ids *ids, const char *text, size_t n, bool same) {
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    if (tokenizer_decode(t, ids->at, ids->n, false, &out, NULL) != STATUS_OK) abort();
    if (!utf8_valid(out.n ? out.data : "", out.n)) abort();
    size_t prefix = out.n == n + 1 && out.data[0] == ' ';
    if (same && (out.n != n + prefix || (n && memcmp(out.data + prefix, text, n) != 0))) abort();
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const uint8_t *zero = n ? memchr(data, 0, n) : NULL;
    size_t n_json = zero ? (size_t)(zero - data) : n;
    const char *text = (const char *)data + (zero ? n_json + 1 : n);
    size_t n_text = zero ? n - n_json - 1 : 0;
    struct tokenizer *t = NULL;
    struct err e = {0};
    enum status status = tokenizer_from_json((const char *)data, n_json, &t, &e);
    if ((status == STATUS_OK) != (t != NULL) || (status == STATUS_OK) != (e.message[0] == '\0')) abort();
    if (!t) return 0;
    static const unsigned flags[] = {0, TOKENIZE_PLAIN, TOKENIZE_SPECIAL};
    bool same = utf8_valid(text, n_text) && keeps_all_text(t, data, n_json);
    for (size_t i = 0; i < 3; i++) {
        struct ids ids = {0};
        // A regular expression may take too many steps, and Unigram may lack an unknown token.
        status = tokenizer_encode(t, text, n_text, flags[i], &ids, &e);
        if (status != STATUS_OK && status != STATUS_TOO_LARGE && status != STATUS_INVALID) abort();
        if (status == STATUS_OK) check_decode(t, &ids, text, n_text, same && flags[i] != TOKENIZE_SPECIAL);
        ids_fini(&ids);
    }
    tokenizer_free(t);
    return 0;
}
