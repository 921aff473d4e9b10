// Added tokens in a trie, matched leftmost-longest; what the flags mean is defined by Hugging Face's `tokenizers`.
#include "text/added_tokens.h"

#include "base/mem.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

// Children of a node are neighbours in the array, sorted by byte.
struct added_node {
    uint32_t children; // index of the first child
    uint16_t n_children;
    uint8_t byte;  // that leads here
    int32_t token; // index of the token that ends here, or -1
};

// While the trie is built: the tokens (in sorted order) that pass through a node, all alike for `depth` bytes.
struct span {
    size_t begin, end, depth;
};

static int compare_tokens(const void *a, const void *b) {
    const struct added_token *x = *(const struct added_token *const *)a, *y = *(const struct added_token *const *)b;
    int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    if (order) return order;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    return x < y ? -1 : 1; // the earlier one first
}

static enum status copy_tokens(struct added_matcher *m, const struct added_token *tokens, size_t n, size_t *n_bytes,
                               struct err *e) {
    m->tokens = mem_new(n, sizeof *m->tokens);
    for (*n_bytes = 0; m->tokens && m->n_tokens < n; m->n_tokens++) {
        const struct added_token *t = &tokens[m->n_tokens];
        if (t->n == 0 || t->n > ADDED_TOKEN_MAX)
            return err_set(e, STATUS_INVALID, "added token %d has %zu bytes; 1 to %d are supported", t->id, t->n,
                           ADDED_TOKEN_MAX);
        m->tokens[m->n_tokens] = *t;
        m->tokens[m->n_tokens].text = mem_string(t->text, t->n);
        if (!m->tokens[m->n_tokens].text) break;
        *n_bytes += t->n;
    }
    return m->n_tokens == n ? STATUS_OK : err_set(e, STATUS_NO_MEMORY, "no memory for %zu added tokens", n);
}

// Appends the children of node `at` and the spans of tokens that go on through them.
static void add_children(struct added_matcher *m, struct added_token *const *sorted, struct span *spans, size_t at) {
    struct span s = spans[at];
    struct added_node *node = &m->nodes[at];
    *node = (struct added_node){.byte = node->byte, .children = (uint32_t)m->n_nodes, .token = -1};
    size_t i = s.begin;
    for (; i < s.end && sorted[i]->n == s.depth; i++)
        if (node->token < 0) node->token = (int32_t)(sorted[i] - m->tokens);
    while (i < s.end) {
        char byte = sorted[i]->text[s.depth];
        size_t end = i + 1;
        while (end < s.end && sorted[end]->text[s.depth] == byte) end++;
        m->nodes[m->n_nodes].byte = (uint8_t)byte;
        spans[m->n_nodes++] = (struct span){.begin = i, .end = end, .depth = s.depth + 1};
        node->n_children++;
        i = end;
    }
}

static bool build(struct added_matcher *m, size_t n_bytes) {
    struct added_token **sorted = mem_new(m->n_tokens, sizeof *sorted);
    struct span *spans = mem_new(n_bytes + 1, sizeof *spans);
    m->nodes = mem_new(n_bytes + 1, sizeof *m->nodes);
    bool enough = sorted && spans && m->nodes;
    if (enough) {
        for (size_t i = 0; i < m->n_tokens; i++) {
            sorted[i] = &m->tokens[i];
            m->begins[(uint8_t)m->tokens[i].text[0]] = true;
        }
        qsort(sorted, m->n_tokens, sizeof *sorted, compare_tokens);
        spans[0] = (struct span){.end = m->n_tokens};
        m->n_nodes = 1;
        for (size_t at = 0; at < m->n_nodes; at++) add_children(m, sorted, spans, at);
    }
    mem_free(sorted);
    mem_free(spans);
    return enough;
}

enum status added_matcher_init(struct added_matcher *m, const struct added_token *tokens, size_t n, struct err *e) {
    *m = (struct added_matcher){0};
    if (n == 0) return STATUS_OK;
    size_t n_bytes;
    TRY(copy_tokens(m, tokens, n, &n_bytes, e));
    return build(m, n_bytes) ? STATUS_OK : err_set(e, STATUS_NO_MEMORY, "no memory for %zu added tokens", n);
}

void added_matcher_fini(struct added_matcher *m) {
    for (size_t i = 0; i < m->n_tokens; i++) mem_free((char *)m->tokens[i].text);
    mem_free(m->tokens);
    mem_free(m->nodes);
    *m = (struct added_matcher){0};
}

static const struct added_node *child(const struct added_matcher *m, const struct added_node *node, uint8_t byte) {
    const struct added_node *low = m->nodes + node->children, *high = low + node->n_children;
    while (low < high) {
        const struct added_node *middle = low + (high - low) / 2;
        if (middle->byte == byte) return middle;
        if (middle->byte < byte) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

// The longest token that text[0..n) begins with, or NULL.
static const struct added_token *longest(const struct added_matcher *m, const char *text, size_t n) {
    const struct added_token *found = NULL;
    const struct added_node *node = m->nodes;
    for (size_t i = 0; i < n && (node = child(m, node, (uint8_t)text[i])); i++)
        if (node->token >= 0) found = &m->tokens[node->token];
    return found;
}

void added_walk_begin(struct added_walk *w, const struct added_matcher *m, const char *text, size_t n) {
    *w = (struct added_walk){.matcher = m, .text = text, .n = n};
}

// Does the token at [begin, end) touch a word character on either side?
static bool inside_word(const struct added_walk *w, size_t begin, size_t end) {
    size_t length;
    if (begin > 0 && unicode_class_before(w->text, begin, &length) & UNICODE_WORD) return true;
    return end < w->n && unicode_class_at(w->text + end, w->n - end, &length) & UNICODE_WORD;
}

// Where the whitespace before `begin` starts; what was handed out already stays so.
static size_t space_before(const struct added_walk *w, size_t begin) {
    size_t length;
    while (begin > w->done && unicode_class_before(w->text, begin, &length) & UNICODE_SPACE) begin -= length;
    return begin > w->done ? begin : w->done;
}

// Where the whitespace after `end` stops. A token may itself be whitespace, so the last answer is reused where it
// covers this one: otherwise a text of such tokens would be scanned once for each.
static size_t space_after(struct added_walk *w, size_t end) {
    if (end > w->space_end) w->space_end = end;
    w->space_end += unicode_run(w->text + w->space_end, w->n - w->space_end, UNICODE_SPACE);
    return w->space_end;
}

void added_walk_avoid(struct added_walk *w, const struct text_span *data, size_t n_data, size_t origin) {
    w->data = data;
    w->n_data = n_data;
    w->origin = origin;
}

// Steps over data at the place of search, and says where the next begins.
static size_t skip_data(struct added_walk *w) {
    while (w->n_data && w->data->end <= w->origin + w->search) {
        w->data++;
        w->n_data--;
    }
    if (!w->n_data || w->data->begin >= w->origin + w->n) return w->n;
    if (w->data->begin > w->origin + w->search) return w->data->begin - w->origin;
    size_t end = w->data->end - w->origin;
    w->search = end < w->n ? end : w->n;
    return w->search;
}

struct added_match added_walk_next(struct added_walk *w) {
    const struct added_matcher *m = w->matcher;
    size_t limit = w->search;
    while (m->nodes && w->search < w->n) {
        if (w->search >= limit) {
            limit = skip_data(w);
            if (limit == w->search) continue;
        }
        if (!m->begins[(uint8_t)w->text[w->search]]) {
            w->search++;
            continue;
        }
        const struct added_token *t = longest(m, w->text + w->search, limit - w->search);
        if (!t) {
            w->search++;
            continue;
        }
        size_t begin = w->search, end = begin + t->n;
        w->search = end; // also when the token is refused: matches never overlap
        if (t->single_word && inside_word(w, begin, end)) continue;
        if (t->lstrip) begin = space_before(w, begin);
        if (t->rstrip) end = space_after(w, end);
        if (begin >= end) continue; // a token of whitespace that the one before it took
        struct added_match found = {.gap_begin = w->done, .gap_end = begin > w->done ? begin : w->done, .id = t->id};
        w->done = end;
        return found;
    }
    struct added_match rest = {.gap_begin = w->done, .gap_end = w->n > w->done ? w->n : w->done, .id = -1};
    w->done = w->n;
    return rest;
}
