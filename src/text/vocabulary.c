// Vocabulary: the byte alphabet of GPT-2 undone at load, so that text is looked up as plain bytes.
#include "text/vocabulary.h"

#include "base/checked.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

enum { SHOWN = 80 };

// The alphabet writes printable Latin-1 as itself and the 68 other bytes, in order, as U+0100 and on.
static bool is_printable(uint32_t c) { return (c >= 33 && c <= 126) || (c >= 161 && c <= 255 && c != 173); }

// The byte that a character of the alphabet stands for, or -1.
static int byte_of(uint32_t c) {
    if (is_printable(c)) return (int)c;
    if (c < 256 || c >= 256 + 68) return -1;
    uint32_t k = c - 256;
    if (k < 33) return (int)k;
    if (k < 33 + 34) return (int)(127 + (k - 33));
    return 173;
}

size_t vocabulary_write_byte(uint8_t byte, char out[4]) {
    uint32_t c = byte;
    if (!is_printable(c)) c = 256 + (c < 33 ? c : c < 161 ? c - 127 + 33 : 67u);
    return utf8_put(c, out);
}

size_t vocabulary_from_alphabet(const char *written, size_t n, char *out, bool *verbatim) {
    size_t n_out = 0;
    for (size_t i = 0; i < n;) {
        uint32_t c = (uint8_t)written[i];
        bool bad = false;
        i += c < 0x80 ? 1 : utf8_next(written + i, n - i, &c, &bad);
        int byte = bad ? -1 : byte_of(c);
        if (byte < 0) {
            memcpy(out, written, n);
            *verbatim = true;
            return n;
        }
        out[n_out++] = (char)byte;
    }
    *verbatim = false;
    return n_out;
}

size_t vocabulary_from_written(const struct vocabulary *v, const char *written, size_t n, char *out,
                               bool *verbatim) {
    if (!v->plain) return vocabulary_from_alphabet(written, n, out, verbatim);
    memcpy(out, written, n);
    *verbatim = false;
    return n;
}

static uint64_t load(const char *bytes, size_t n) {
    uint64_t word = 0;
    memcpy(&word, bytes, n);
    return word;
}

// Multiply and fold, eight bytes a step; only its spread matters.
static uint64_t hash(const char *bytes, size_t n, bool verbatim) {
    uint64_t h = 0x9e3779b97f4a7c15u * (n + 1) + verbatim;
    for (; n >= 8; bytes += 8, n -= 8) h = (h ^ load(bytes, 8)) * 0xff51afd7ed558ccdu, h ^= h >> 32;
    h = (h ^ load(bytes, n)) * 0xff51afd7ed558ccdu;
    return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
}

// Index of the slot that holds these bytes, or of the free one where they would go. h is their hash.
static size_t slot_of(const struct vocabulary *v, uint64_t h, const char *bytes, size_t n, bool verbatim) {
    size_t mask = ((size_t)1 << (64 - v->shift)) - 1;
    for (size_t i = (size_t)(h >> v->shift);; i = (i + 1) & mask) {
        const struct vocabulary_slot *s = &v->slots[i];
        if (s->id < 0) return i;
        if (s->tag != (uint32_t)h) continue;
        uint32_t begin = v->begin[s->id];
        if (v->begin[s->id + 1] - begin != n || !(v->flags[s->id] & VOCABULARY_VERBATIM) == verbatim) continue;
        if (memcmp(v->bytes + begin, bytes, n) == 0) return i;
    }
}

int32_t vocabulary_find(const struct vocabulary *v, const char *bytes, size_t n, bool verbatim) {
    return v->slots[slot_of(v, hash(bytes, n, verbatim), bytes, n, verbatim)].id;
}

int32_t vocabulary_find_written(const struct vocabulary *v, const char *written, size_t n) {
    char bytes[VOCABULARY_TOKEN_MAX];
    bool verbatim;
    if (n > sizeof bytes) return -1;
    size_t n_bytes = vocabulary_from_written(v, written, n, bytes, &verbatim);
    return vocabulary_find(v, bytes, n_bytes, verbatim);
}

static enum status take_memory(struct vocabulary *v, const size_t *token_bytes, size_t n_ids, struct err *e) {
    size_t total = 0;
    bool fits = n_ids <= VOCABULARY_IDS_MAX;
    for (size_t i = 0; i < n_ids && fits; i++)
        fits = checked_add(total, token_bytes[i], &total) && total <= UINT32_MAX;
    if (!fits) return err_set(e, STATUS_TOO_LARGE, "the vocabulary of %zu ids is over the limit", n_ids);
    uint32_t log2_slots = 4;
    while (((size_t)1 << log2_slots) < 2 * n_ids) log2_slots++;
    size_t n_slots = (size_t)1 << log2_slots;
    v->n_ids = n_ids;
    v->shift = 64 - log2_slots;
    v->bytes = mem_new(total, 1);
    v->begin = mem_new(n_ids + 1, sizeof *v->begin);
    v->flags = mem_new(n_ids, 1);
    v->slots = mem_new(n_slots, sizeof *v->slots);
    if (!v->bytes || !v->begin || !v->flags || !v->slots)
        return err_set(e, STATUS_NO_MEMORY, "no memory for a vocabulary of %zu ids", n_ids);
    for (size_t i = 0; i < n_slots; i++) v->slots[i].id = -1;
    return STATUS_OK;
}

static enum status add(struct vocabulary *v, int32_t id, const char *written, size_t n_written, struct err *e) {
    bool verbatim;
    if (n_written > VOCABULARY_TOKEN_MAX) return err_set(e, STATUS_TOO_LARGE, "token %d has %zu bytes", id, n_written);
    char *bytes = v->bytes + v->begin[id];
    size_t n = vocabulary_from_written(v, written, n_written, bytes, &verbatim);
    v->begin[id + 1] = v->begin[id] + (uint32_t)n;
    if (n > v->longest) v->longest = n;
    v->flags[id] = verbatim ? VOCABULARY_KNOWN | VOCABULARY_VERBATIM : VOCABULARY_KNOWN;
    uint64_t h = hash(bytes, n, verbatim);
    struct vocabulary_slot *s = &v->slots[slot_of(v, h, bytes, n, verbatim)];
    if (s->id >= 0)
        return err_set(e, STATUS_INVALID, "token \"%.*s\" has two ids, %d and %d",
                       (int)(n_written < SHOWN ? n_written : SHOWN), written, s->id, id);
    *s = (struct vocabulary_slot){.tag = (uint32_t)h, .id = id};
    return STATUS_OK;
}

enum status vocabulary_init(struct vocabulary *v, const char *const *tokens, const size_t *token_bytes, size_t n_ids,
                            bool plain, struct err *e) {
    *v = (struct vocabulary){.plain = plain};
    TRY(take_memory(v, token_bytes, n_ids, e));
    for (size_t i = 0; i < n_ids; i++) {
        if (tokens[i]) TRY(add(v, (int32_t)i, tokens[i], token_bytes[i], e));
        else v->begin[i + 1] = v->begin[i];
    }
    return STATUS_OK;
}

void vocabulary_fini(struct vocabulary *v) {
    mem_free(v->bytes);
    mem_free(v->begin);
    mem_free(v->flags);
    mem_free(v->slots);
    *v = (struct vocabulary){0};
}
