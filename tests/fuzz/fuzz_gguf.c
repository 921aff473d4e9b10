// Fuzz target: the image of a GGUF file, with every setting that it may hold asked for.
#include "checkpoint/gguf.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static const char *const keys[] = {"general.architecture",  "general.alignment",    "split.count", "a",
                                   "tokenizer.ggml.tokens", "tokenizer.ggml.scores"};

// Touches every byte that a setting stands for.
static uint64_t touch(const struct setting *s) {
    uint64_t sum = s->whole;
    for (size_t i = 0; s->kind == SETTING_TEXT && i < s->n; i++) sum += (uint8_t)s->text[i];
    for (size_t i = 0; s->kind == SETTING_ARRAY && s->array && i < s->n && i < 4096; i++) {
        struct setting v = gguf_meta_at(s, i);
        sum += v.whole + v.n;
        for (size_t j = 0; v.kind == SETTING_TEXT && j < v.n; j++) sum += (uint8_t)v.text[j];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct tensor_list l;
    struct gguf_meta *m;
    struct err e = {0};
    volatile uint64_t sum = 0;
    tensor_list_init(&l);
    enum status status = gguf_read(&l, "f", data, n, &m, &e);
    if ((status == STATUS_OK) != (e.message[0] == '\0') || (status == STATUS_OK) != (m != NULL)) abort();
    for (size_t i = 0; status == STATUS_OK && i < l.n; i++) {
        const struct tensor *t = &l.items[i];
        if (t->data < data || t->bytes > (uint64_t)(data + n - t->data)) abort();
    }
    for (size_t i = 0; m && i < sizeof keys / sizeof keys[0]; i++) {
        struct setting s = gguf_meta_find(m, keys[i]);
        sum += touch(&s);
    }
    gguf_meta_free(m);
    tensor_list_fini(&l);
    return 0;
}
