// Byte-pair merging over a linked list of symbols and a heap of candidate pairs, behind a small cache of short words.
#include "text/bpe.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const uint32_t NO_MERGE = UINT32_MAX;
static const uint32_t NONE = UINT32_MAX; // no neighbour

// One symbol of the piece being merged. A symbol that was swallowed by its left neighbour has rank NO_MERGE.
struct bpe_symbol {
    int32_t id;
    uint32_t before, after; // indices of the neighbours
    uint32_t rank;          // of the pair with the right neighbour
    int32_t merged;         // what that pair becomes
};

// A pair that may merge, in a run of such pairs of one rank from left to right.
struct bpe_candidate {
    uint32_t at;   // index of the left symbol
    uint32_t next; // of the run, NONE at its end, or TAKEN
};

// A run in the heap, by its first candidate.
struct bpe_run {
    uint64_t key; // rank << 32 | at
    uint32_t first;
};

static const uint32_t TAKEN = UINT32_MAX - 1;
enum { OPEN_RUNS = 16, PIECE_MAX = 1 << 30 }; // three candidates a byte have to be counted in 32 bits

enum { WORD_BYTES = 15, WORD_IDS = 3, WORD_PAIRS = 32768 };

// A short piece and its ids. Each piece has a pair of places: the newest is in the first, the one before in the second.
struct bpe_word {
    uint64_t key[2]; // the bytes, zeros, and their number in the last byte; all zero = free
    uint32_t n_ids;
    int32_t ids[WORD_IDS];
};

// Threads may share a tokenizer: one takes the words out, and who comes meanwhile finds none and starts its own.
struct bpe_spare {
    _Atomic(struct bpe_word *) words;
};

static size_t slot_of(const struct bpe *b, uint64_t pair) {
    size_t mask = ((size_t)1 << (64 - b->shift)) - 1;
    size_t i = (size_t)(pair * 0x9e3779b97f4a7c15u >> b->shift);
    while (b->merges[i].rank != NO_MERGE && b->merges[i].pair != pair) i = (i + 1) & mask;
    return i;
}

static uint64_t pair_of(int32_t left, int32_t right) { return (uint64_t)(uint32_t)left << 32 | (uint32_t)right; }

static bool is_token(const struct vocabulary *v, int32_t id, const char *bytes, size_t n) {
    if ((size_t)id >= v->n_ids || v->flags[id] & VOCABULARY_VERBATIM) return false;
    if (v->begin[id + 1] - v->begin[id] != n) return false;
    return memcmp(v->bytes + v->begin[id], bytes, n) == 0;
}

// Adds the merge of that rank. *made is the id of the one before, then of this one: training numbers tokens in the
// order of their merges, so the next id is tried before it is searched for.
static enum status add_merge(struct bpe *b, const struct tokenizer_source *source, size_t rank, int32_t *made,
                             struct err *e) {
    const struct vocabulary *v = b->vocabulary;
    const char *text = source->merges[rank];
    size_t n = source->merge_bytes[rank];
    if (n > VOCABULARY_TOKEN_MAX) return err_set(e, STATUS_TOO_LARGE, "merge %zu has %zu bytes", rank, n);
    const char *space = n ? memchr(text + 1, ' ', n - 1) : NULL;
    if (source->merge_split) space = text + source->merge_split[rank];
    if (!space || space >= text + n)
        return err_set(e, STATUS_INVALID, "merge %zu, \"%.*s\", is not two tokens", rank, (int)n, text);
    char bytes[VOCABULARY_TOKEN_MAX];
    bool odd_left, odd_right;
    size_t n_left = vocabulary_from_written(v, text, (size_t)(space - text), bytes, &odd_left);
    char *second = bytes + n_left;
    size_t n_right = vocabulary_from_written(v, space + 1, (size_t)(text + n - space) - 1, second, &odd_right);
    int32_t left = vocabulary_find(v, bytes, n_left, odd_left), right = vocabulary_find(v, second, n_right, odd_right);
    bool never = odd_left || odd_right; // no text has such a symbol
    if (!is_token(v, ++*made, bytes, n_left + n_right)) *made = vocabulary_find(v, bytes, n_left + n_right, false);
    if (left < 0 || right < 0 || (*made < 0 && !never))
        return err_set(e, STATUS_INVALID, "merge %zu, \"%.*s\": %s is not in the vocabulary", rank, (int)n, text,
                       left < 0 ? "its left part" : right < 0 ? "its right part" : "what it gives");
    // Of a pair that is listed twice the later rank counts, as in `tokenizers`.
    uint64_t pair = pair_of(left, right);
    if (!never) b->merges[slot_of(b, pair)] = (struct bpe_merge){.pair = pair, .rank = (uint32_t)rank, .id = *made};
    return STATUS_OK;
}

// The model's own token of these bytes, or -1.
static int32_t token_of(const struct vocabulary *v, const char *bytes, size_t n) {
    int32_t id = vocabulary_find(v, bytes, n, false);
    return id >= 0 && v->flags[id] & VOCABULARY_ADDED ? -1 : id;
}

static void init_bytes(struct bpe *b, const struct vocabulary *v, bool byte_fallback) {
    for (int c = 0; c < 256; c++) {
        char written[8];
        int n = snprintf(written, sizeof written, "<0x%02X>", (unsigned)c);
        b->fallback[c] = byte_fallback ? token_of(v, written, (size_t)n) : -1;
        b->of_byte[c] = v->plain && c > 0x7f ? -1 : token_of(v, &(char){(char)c}, 1);
    }
}

enum status bpe_init(struct bpe *b, const struct vocabulary *v, const struct tokenizer_source *source, struct err *e) {
    *b = (struct bpe){.vocabulary = v,
                      .unknown = source->has_unknown ? source->unknown : -1,
                      .fuse_unknown = source->fuse_unknown,
                      .ignore_merges = source->ignore_merges};
    if (source->n_merges > VOCABULARY_IDS_MAX)
        return err_set(e, STATUS_TOO_LARGE, "%zu merges are over the limit", source->n_merges);
    uint32_t log2_slots = 4;
    while (((size_t)1 << log2_slots) < 2 * source->n_merges) log2_slots++;
    size_t n_slots = (size_t)1 << log2_slots;
    b->shift = 64 - log2_slots;
    b->merges = mem_new(n_slots, sizeof *b->merges);
    b->spare = mem_new(1, sizeof *b->spare);
    if (!b->merges || !b->spare) return err_set(e, STATUS_NO_MEMORY, "no memory for %zu merges", source->n_merges);
    for (size_t i = 0; i < n_slots; i++) b->merges[i].rank = NO_MERGE;
    init_bytes(b, v, source->byte_fallback);
    int32_t made = -1;
    for (size_t i = 0; i < source->n_merges; i++) TRY(add_merge(b, source, i, &made, e));
    return STATUS_OK;
}

void bpe_fini(struct bpe *b) {
    if (b->spare) mem_free(atomic_load(&b->spare->words));
    mem_free(b->spare);
    mem_free(b->merges);
    *b = (struct bpe){0};
}

static bool find_words(const struct bpe *b, struct bpe_scratch *s) {
    if (!s->words) s->words = atomic_exchange(&b->spare->words, NULL);
    if (!s->words) s->words = mem_new(2 * (size_t)WORD_PAIRS, sizeof *s->words);
    return s->words != NULL;
}

void bpe_scratch_fini(const struct bpe *b, struct bpe_scratch *s) {
    if (s->words) mem_free(atomic_exchange(&b->spare->words, s->words));
    mem_free(s->symbols);
    mem_free(s->candidates);
    mem_free(s->runs);
    *s = (struct bpe_scratch){0};
}

// Room for merging n bytes: at most n - 1 candidates at first, and each merge uses one up and adds at most two.
static bool scratch_room(struct bpe_scratch *s, size_t n) {
    if (n <= s->cap) return true;
    size_t cap = n < 256 ? 256 : n;
    struct bpe_symbol *symbols = mem_resize(s->symbols, cap, sizeof *symbols);
    if (!symbols) return false;
    s->symbols = symbols;
    struct bpe_candidate *candidates = mem_resize(s->candidates, cap, 3 * sizeof *candidates);
    if (!candidates) return false;
    s->candidates = candidates;
    struct bpe_run *runs = mem_resize(s->runs, cap, 2 * sizeof *runs);
    if (!runs) return false;
    s->runs = runs;
    s->cap = cap;
    return true;
}

// --- the queue of candidates: the lowest rank first, and of equal ranks the leftmost ---
//
// Candidates of one rank mostly come from left to right, so they are kept as runs, and the heap holds one entry a run.
// A text of one repeated letter is then a few long runs read in order, instead of a heap as long as the text.

struct queue {
    struct bpe_candidate *candidates; // all there ever were in this piece
    struct bpe_run *heap;
    uint32_t n_candidates, n_runs;
    struct {
        uint32_t rank, tail;
    } open[OPEN_RUNS]; // by rank: the run that may grow, and its last candidate
};

static void queue_begin(struct queue *q, const struct bpe_scratch *s) {
    *q = (struct queue){.candidates = s->candidates, .heap = s->runs};
    for (size_t i = 0; i < OPEN_RUNS; i++) q->open[i].rank = NO_MERGE;
}

static uint64_t key_of(uint32_t rank, uint32_t at) { return (uint64_t)rank << 32 | at; }

static void queue_push(struct queue *q, uint32_t rank, uint32_t at) {
    uint32_t new = q->n_candidates++, *tail = &q->open[rank % OPEN_RUNS].tail;
    q->candidates[new] = (struct bpe_candidate){.at = at, .next = NONE};
    bool grows = q->open[rank % OPEN_RUNS].rank == rank && q->candidates[*tail].next == NONE &&
                 q->candidates[*tail].at < at;
    if (grows) q->candidates[*tail].next = new;
    q->open[rank % OPEN_RUNS].rank = rank;
    *tail = new;
    if (grows) return;
    struct bpe_run run = {.key = key_of(rank, at), .first = new};
    uint32_t i = q->n_runs++;
    for (uint32_t up; i > 0 && q->heap[up = (i - 1) / 2].key > run.key; i = up) q->heap[i] = q->heap[up];
    q->heap[i] = run;
}

// Takes the first candidate; there has to be one.
static void queue_pop(struct queue *q, uint32_t *rank, uint32_t *at) {
    struct bpe_run run = q->heap[0];
    struct bpe_candidate *taken = &q->candidates[run.first];
    *rank = (uint32_t)(run.key >> 32);
    *at = taken->at;
    if (taken->next != NONE) run = (struct bpe_run){key_of(*rank, q->candidates[taken->next].at), taken->next};
    else run = q->heap[--q->n_runs];
    taken->next = TAKEN;
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < q->n_runs; i = child) {
        if (child + 1 < q->n_runs && q->heap[child + 1].key < q->heap[child].key) child++;
        if (q->heap[child].key >= run.key) break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = run;
}

// --- merging ---

// Looks the symbol's pair up and makes it a candidate if it may merge.
static void consider(const struct bpe *b, struct bpe_symbol *symbols, uint32_t at, struct queue *q) {
    struct bpe_symbol *left = &symbols[at];
    left->rank = NO_MERGE;
    if (left->after == NONE) return;
    const struct bpe_merge *m = &b->merges[slot_of(b, pair_of(left->id, symbols[left->after].id))];
    left->rank = m->rank;
    left->merged = m->id;
    if (m->rank != NO_MERGE) queue_push(q, m->rank, at);
}

static void merge_at(struct bpe_symbol *symbols, uint32_t at) {
    struct bpe_symbol *left = &symbols[at], *right = &symbols[left->after];
    left->id = left->merged;
    left->after = right->after;
    right->rank = NO_MERGE;
    if (left->after != NONE) symbols[left->after].before = at;
}

// Has every byte of a character its fallback?
static bool falls_back(const struct bpe *b, const char *c, size_t n) {
    size_t i = 0;
    while (i < n && b->fallback[(uint8_t)c[i]] >= 0) i++;
    return i == n;
}

static void add_symbol(struct bpe_symbol *symbols, uint32_t *count, int32_t id) {
    symbols[*count] = (struct bpe_symbol){.id = id, .rank = NO_MERGE, .before = *count - 1, .after = *count + 1};
    ++*count;
}

// A symbol without a token. As in `tokenizers`, an unknown one waits for the next symbol that has a token.
static void add_unknown(const struct bpe *b, const char *c, size_t n, struct bpe_symbol *symbols, uint32_t *count,
                        bool *waiting) {
    if (falls_back(b, c, n)) {
        for (size_t i = 0; i < n; i++) add_symbol(symbols, count, b->fallback[(uint8_t)c[i]]);
        return;
    }
    if (b->unknown < 0) return;
    if (*waiting && !b->fuse_unknown) add_symbol(symbols, count, b->unknown);
    *waiting = true;
}

// Symbols of a piece: bytes, or characters of a plain vocabulary; returns how many, never more than bytes.
static uint32_t split(const struct bpe *b, const char *piece, size_t n, struct bpe_symbol *symbols) {
    uint32_t count = 0;
    bool waiting = false;
    for (size_t i = 0, length; i < n; i += length) {
        int32_t id = b->of_byte[(uint8_t)piece[i]];
        length = 1;
        if (b->vocabulary->plain && (uint8_t)piece[i] > 0x7f) {
            uint32_t c;
            bool bad;
            length = utf8_next(piece + i, n - i, &c, &bad);
            id = token_of(b->vocabulary, piece + i, length);
        }
        if (id < 0) {
            add_unknown(b, piece + i, length, symbols, &count, &waiting);
            continue;
        }
        if (waiting) add_symbol(symbols, &count, b->unknown);
        waiting = false;
        add_symbol(symbols, &count, id);
    }
    if (waiting) add_symbol(symbols, &count, b->unknown);
    if (count) symbols[count - 1].after = NONE; // the first one's `before` wrapped round to NONE
    return count;
}

static enum status ready_for(struct bpe_scratch *s, size_t n, struct err *e) {
    if (n > PIECE_MAX) return err_set(e, STATUS_TOO_LARGE, "a piece of %zu bytes is over the limit", n);
    return scratch_room(s, n) ? STATUS_OK : err_set(e, STATUS_NO_MEMORY, "no memory for a piece of %zu bytes", n);
}

enum status bpe_spell(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                      struct err *e) {
    TRY(ready_for(s, n, e));
    uint32_t count = split(b, piece, n, s->symbols);
    for (uint32_t i = 0; i < count; i++) TRY(ids_push(out, s->symbols[i].id, e));
    return STATUS_OK;
}

static enum status merge(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                         struct err *e) {
    TRY(ready_for(s, n, e));
    struct bpe_symbol *symbols = s->symbols;
    struct queue q;
    uint32_t count = split(b, piece, n, symbols), rank, at;
    queue_begin(&q, s);
    for (uint32_t i = 0; i < count; i++) consider(b, symbols, i, &q);
    while (q.n_runs > 0) {
        queue_pop(&q, &rank, &at);
        if (symbols[at].rank != rank) continue; // the pair is no more
        merge_at(symbols, at);
        consider(b, symbols, at, &q);
        if (symbols[at].before != NONE) consider(b, symbols, symbols[at].before, &q);
    }
    for (uint32_t i = count ? 0 : NONE; i != NONE; i = symbols[i].after) TRY(ids_push(out, symbols[i].id, e));
    return STATUS_OK;
}

static enum status encode(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                          struct err *e) {
    int32_t id = b->ignore_merges ? token_of(b->vocabulary, piece, n) : -1;
    return id >= 0 ? ids_push(out, id, e) : merge(b, piece, n, s, out, e);
}

static uint64_t load(const char *bytes, size_t n) {
    uint64_t word = 0;
    memcpy(&word, bytes, n);
    return word;
}

// The bytes of a piece (n <= WORD_BYTES), zeros, and their number in the last byte.
static void key_word(const char *piece, size_t n, uint64_t key[2]) {
    key[0] = key[1] = 0;
    if (n >= 8) {
        key[0] = load(piece, 8);
        if (n > 8) key[1] = load(piece + n - 8, 8) >> 8 * (16 - n);
    } else if (n >= 4) {
        key[0] = load(piece, 4) | load(piece + n - 4, 4) << 8 * (n - 4);
    } else {
        for (size_t i = 0; i < n; i++) key[0] |= (uint64_t)(uint8_t)piece[i] << 8 * i;
    }
    key[1] |= (uint64_t)n << 56;
}

// Keeps the ids from `from` on as those of the word.
static void remember(struct bpe_word *pair, const uint64_t key[2], const struct ids *ids, size_t from) {
    if (ids->n == from || ids->n - from > WORD_IDS) return;
    pair[1] = pair[0];
    pair[0] = (struct bpe_word){.key = {key[0], key[1]}, .n_ids = (uint32_t)(ids->n - from)};
    memcpy(pair[0].ids, ids->at + from, pair[0].n_ids * sizeof *pair[0].ids);
}

static bool is_word(const struct bpe_word *w, const uint64_t key[2]) {
    return w->key[0] == key[0] && w->key[1] == key[1];
}

enum status bpe_encode(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                       struct err *e) {
    if (n > WORD_BYTES) return encode(b, piece, n, s, out, e);
    if (!find_words(b, s)) return err_set(e, STATUS_NO_MEMORY, "no memory for merging");
    uint64_t key[2];
    key_word(piece, n, key);
    uint64_t mixed = (key[0] ^ key[1] * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    struct bpe_word *pair = &s->words[2 * (mixed >> 32 & (WORD_PAIRS - 1))];
    const struct bpe_word *w = is_word(&pair[0], key) ? &pair[0] : is_word(&pair[1], key) ? &pair[1] : NULL;
    if (w) {
        for (uint32_t i = 0; i < w->n_ids; i++) TRY(ids_push(out, w->ids[i], e));
        return STATUS_OK;
    }
    size_t n_before = out->n;
    TRY(encode(b, piece, n, s, out, e));
    remember(pair, key, out, n_before);
    return STATUS_OK;
}
