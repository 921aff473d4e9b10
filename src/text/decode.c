// Decoder steps over single tokens.
#include "text/decode.h"

#include "base/mem.h"

#include <string.h>

// --- building ---

static const char *const names[] = {"Replace", "Strip", "Metaspace", "WordPiece", "BPEDecoder", "ByteFallback", "Fuse",
                                    "ByteLevel"};

static bool edits_token(enum decode_kind kind) { return kind <= DECODE_BPE; }

static enum status copy(const struct decode_step *step, struct decode_step *out, struct err *e) {
    *out = *step;
    out->text = mem_string(step->n ? step->text : "", step->n);
    out->with = mem_string(step->n_with ? step->with : "", step->n_with);
    return out->text && out->with ? STATUS_OK : err_set(e, STATUS_NO_MEMORY, "no memory for a decoder");
}

// May the step come now? `fused`: a Fuse was there.
static bool in_order(const struct decoder *d, const struct decode_step *s, bool fused, bool alone) {
    if (s->kind == DECODE_BYTE_LEVEL) return alone;
    if (s->kind == DECODE_FUSE) return true;
    if (fused) return s->kind == DECODE_STRIP && s->stop == 0 && d->strip.n == 0;
    return !d->byte_fallback;
}

static enum status add(struct decoder *d, const struct decode_step *step, bool *fused, struct err *e) {
    if (step->kind == DECODE_BYTE_LEVEL) d->byte_level = true;
    if (step->kind == DECODE_BYTE_FALLBACK) d->byte_fallback = true;
    if (*fused && step->kind == DECODE_STRIP) return copy(step, &d->strip, e);
    if (step->kind == DECODE_FUSE) *fused = true;
    if (step->kind == DECODE_BPE) d->last_differs = true;
    if (!edits_token(step->kind)) return STATUS_OK;
    if (d->n == DECODE_STEPS_MAX) return err_set(e, STATUS_TOO_LARGE, "the decoder has more than %zu steps", d->n);
    return copy(step, &d->steps[d->n++], e);
}

enum status decode_init(struct decoder *d, const struct decode_step *steps, size_t n, bool plain, struct err *e) {
    *d = (struct decoder){.byte_level = n == 0 && !plain, .spaced = n == 0 && plain};
    bool fused = false;
    for (size_t i = 0; i < n; i++) {
        if (!in_order(d, &steps[i], fused, n == 1))
            return err_set(e, STATUS_UNSUPPORTED, "the decoder %s is not supported at its place in the sequence",
                           names[steps[i].kind]);
        TRY(add(d, &steps[i], &fused, e));
    }
    return STATUS_OK;
}

static void free_step(struct decode_step *s) {
    mem_free((char *)s->text);
    mem_free((char *)s->with);
}

void decode_fini(struct decoder *d) {
    for (size_t i = 0; i < d->n; i++) free_step(&d->steps[i]);
    if (d->strip.text || d->strip.with) free_step(&d->strip);
    *d = (struct decoder){0};
}

// --- decoding ---

static void replace(struct buf *out, const char *text, size_t n, const struct decode_step *s, const char *with,
                    size_t n_with) {
    const char *end = text + n, *next;
    while (s->n && (next = memmem(text, (size_t)(end - text), s->text, s->n))) {
        buf_append(out, text, (size_t)(next - text));
        buf_append(out, with, n_with);
        text = next + s->n;
    }
    buf_append(out, text, (size_t)(end - text));
}

static void strip(struct buf *out, const char *text, size_t n, const struct decode_step *s) {
    for (size_t i = 0; i < s->start && n >= s->n && memcmp(text, s->text, s->n) == 0; i++) {
        text += s->n;
        n -= s->n;
    }
    for (size_t i = 0; i < s->stop && n >= s->n && memcmp(text + n - s->n, s->text, s->n) == 0; i++) n -= s->n;
    buf_append(out, text, n);
}

// The marks and contractions of the WordPiece clean-up, in its order.
static void clean_up(struct buf *out, size_t from) {
    static const char *const pairs[][2] = {{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"},
                                           {" n't", "n't"}, {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) { // no replacement is longer than what it replaces
        size_t n = strlen(pairs[i][0]), n_with = strlen(pairs[i][1]), begin = from;
        for (char *at; out->n > begin && (at = memmem(out->data + begin, out->n - begin, pairs[i][0], n));) {
            memcpy(at, pairs[i][1], n_with);
            memmove(at + n_with, at + n, (size_t)(out->data + out->n - (at + n)));
            out->n -= n - n_with;
            begin = (size_t)(at + n_with - out->data);
        }
    }
}

static void word(struct buf *out, const char *text, size_t n, const struct decode_step *s, unsigned place) {
    size_t from = out->n;
    bool continues = s->n <= n && memcmp(text, s->text, s->n) == 0;
    if (!(place & DECODE_FIRST) && !continues) buf_byte(out, ' ');
    if (!(place & DECODE_FIRST) && continues) text += s->n, n -= s->n;
    buf_append(out, text, n);
    if (s->cleanup && out->failed == STATUS_OK) clean_up(out, from);
}

static void run_step(const struct decode_step *s, const char *text, size_t n, unsigned place, struct buf *out) {
    bool drops = s->kind == DECODE_METASPACE ? s->drop_first && place & DECODE_FIRST : place & DECODE_LAST;
    switch (s->kind) {
    case DECODE_REPLACE: replace(out, text, n, s, s->with, s->n_with); break;
    case DECODE_STRIP: strip(out, text, n, s); break;
    case DECODE_METASPACE:
    case DECODE_BPE: replace(out, text, n, s, " ", drops ? 0 : 1); break;
    default: word(out, text, n, s, place); break;
    }
}

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The byte that a token written <0x41> stands for, or -1.
static int byte_of(const char *token, size_t n) {
    if (n != 6 || memcmp(token, "<0x", 3) != 0 || token[5] != '>' || hex(token[3]) < 0 || hex(token[4]) < 0) return -1;
    return hex(token[3]) * 16 + hex(token[4]);
}

void decode_token(const struct decoder *d, const char *token, size_t n, unsigned place, struct buf *out, bool *byte) {
    struct buf made[2];
    for (size_t i = 0; i < 2; i++) buf_init(&made[i], out->limit);
    for (size_t i = 0; i < d->n; i++) {
        struct buf *next = &made[i % 2];
        buf_reset(next);
        run_step(&d->steps[i], token, n, place, next);
        if (next->failed != STATUS_OK) out->failed = next->failed;
        token = next->n ? next->data : "";
        n = next->n;
    }
    int value = d->byte_fallback ? byte_of(token, n) : -1;
    *byte = value >= 0;
    if (d->spaced && !(place & DECODE_FIRST)) buf_byte(out, ' ');
    if (*byte) buf_byte(out, (char)value);
    else buf_append(out, token, n);
    for (size_t i = 0; i < 2; i++) buf_fini(&made[i]);
}
