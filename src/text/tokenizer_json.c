// tokenizer.json, Hugging Face's format: each part is recognised by exact value or refused by name.
#include "text/tokenizer_json.h"

#include "text/vocabulary.h"

#include <string.h>

enum { MEMORY_MAX = 1 << 30 };

static enum status no_memory(struct tokenizer_json *r) {
    return err_set(r->e, STATUS_NO_MEMORY, "no memory to read it");
}

// An id from outside: a whole number below the limit.
static enum status id_of(struct tokenizer_json *r, yyjson_val *v, const char *where, int32_t *out) {
    if (!yyjson_is_uint(v)) return err_set(r->e, STATUS_INVALID, "%s: an id is no whole number", where);
    if (yyjson_get_uint(v) >= VOCABULARY_IDS_MAX)
        return err_set(r->e, STATUS_TOO_LARGE, "%s: the id %llu is over the limit", where,
                       (unsigned long long)yyjson_get_uint(v));
    *out = (int32_t)yyjson_get_uint(v);
    return STATUS_OK;
}

static enum status read_vocab(struct tokenizer_json *r, yyjson_val *vocab) {
    size_t i, n, n_ids = 0;
    yyjson_val *key, *value;
    int32_t id;
    if (!yyjson_is_obj(vocab)) return err_set(r->e, STATUS_INVALID, "model.vocab is no object");
    yyjson_obj_foreach(vocab, i, n, key, value) {
        TRY(id_of(r, value, "model.vocab", &id));
        if ((size_t)id >= n_ids) n_ids = (size_t)id + 1;
    }
    const char **tokens = arena_new(&r->arena, n_ids, sizeof *tokens);
    size_t *bytes = arena_new(&r->arena, n_ids, sizeof *bytes);
    if (!tokens || !bytes) return no_memory(r);
    yyjson_obj_foreach(vocab, i, n, key, value) {
        id = (int32_t)yyjson_get_uint(value);
        if (tokens[id]) return err_set(r->e, STATUS_INVALID, "model.vocab: two tokens have the id %d", id);
        tokens[id] = yyjson_get_str(key);
        bytes[id] = yyjson_get_len(key);
    }
    r->source.tokens = tokens;
    r->source.token_bytes = bytes;
    r->source.n_tokens = n_ids;
    return STATUS_OK;
}

struct merge {
    const char *text;
    size_t n, split;
};

// A merge is written "left right" or, in newer files, ["left", "right"].
static enum status read_merge(struct tokenizer_json *r, yyjson_val *v, struct merge *out) {
    yyjson_val *left = yyjson_arr_get(v, 0), *right = yyjson_arr_get(v, 1);
    if (yyjson_arr_size(v) == 2 && yyjson_is_str(left) && yyjson_is_str(right)) {
        size_t n_left = yyjson_get_len(left), n_right = yyjson_get_len(right);
        char *text = arena_new(&r->arena, n_left + 1 + n_right, 1);
        if (!text) return no_memory(r);
        memcpy(text, yyjson_get_str(left), n_left);
        text[n_left] = ' ';
        memcpy(text + n_left + 1, yyjson_get_str(right), n_right);
        *out = (struct merge){.text = text, .n = n_left + 1 + n_right, .split = n_left};
        return STATUS_OK;
    }
    const char *text = yyjson_get_str(v), *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' ')) return err_set(r->e, STATUS_INVALID, "model.merges: one is not two tokens");
    *out = (struct merge){.text = text, .n = yyjson_get_len(v), .split = (size_t)(space - text)};
    return STATUS_OK;
}

static enum status read_merges(struct tokenizer_json *r, yyjson_val *merges) {
    size_t i, n = yyjson_arr_size(merges);
    yyjson_val *v;
    if (!yyjson_is_arr(merges)) return err_set(r->e, STATUS_INVALID, "model.merges is no list");
    const char **texts = arena_new(&r->arena, n, sizeof *texts);
    size_t *bytes = arena_new(&r->arena, n, sizeof *bytes), *splits = arena_new(&r->arena, n, sizeof *splits);
    if (!texts || !bytes || !splits) return no_memory(r);
    yyjson_arr_foreach(merges, i, n, v) {
        struct merge m = {0};
        TRY(read_merge(r, v, &m));
        texts[i] = m.text;
        bytes[i] = m.n;
        splits[i] = m.split;
    }
    r->source.merges = texts;
    r->source.merge_bytes = bytes;
    r->source.merge_split = splits;
    r->source.n_merges = n;
    return STATUS_OK;
}

// The token that stands for what has no token. A model of bytes that knows them all never needs it.
static enum status read_unknown(struct tokenizer_json *r, yyjson_val *model) {
    yyjson_val *name = yyjson_obj_get(model, "unk_token");
    if (tokenizer_json_absent(name)) return STATUS_OK;
    if (!yyjson_is_str(name)) return err_set(r->e, STATUS_INVALID, "model.unk_token is no text");
    yyjson_val *id = yyjson_obj_getn(yyjson_obj_get(model, "vocab"), yyjson_get_str(name), yyjson_get_len(name));
    if (!id) return err_set(r->e, STATUS_INVALID, "model.unk_token is not in the vocabulary");
    r->source.has_unknown = true;
    return id_of(r, id, "model.unk_token", &r->source.unknown);
}

static enum status read_bpe(struct tokenizer_json *r, yyjson_val *model) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_val *v = yyjson_obj_get(model, affixes[i]);
        if (!tokenizer_json_absent(v) && !yyjson_equals_str(v, ""))
            return err_set(r->e, STATUS_UNSUPPORTED, "model.%s is not supported", affixes[i]);
    }
    yyjson_val *dropout = yyjson_obj_get(model, "dropout");
    if (!tokenizer_json_absent(dropout) && !(yyjson_is_num(dropout) && yyjson_get_num(dropout) == 0))
        return err_set(r->e, STATUS_UNSUPPORTED, "model.dropout is not supported");
    TRY(tokenizer_json_flag(r, model, "model", "byte_fallback", false, &r->source.byte_fallback));
    TRY(tokenizer_json_flag(r, model, "model", "ignore_merges", false, &r->source.ignore_merges));
    TRY(tokenizer_json_flag(r, model, "model", "fuse_unk", false, &r->source.fuse_unknown));
    TRY(read_vocab(r, yyjson_obj_get(model, "vocab")));
    TRY(read_unknown(r, model));
    return read_merges(r, yyjson_obj_get(model, "merges"));
}

static enum status read_wordpiece(struct tokenizer_json *r, yyjson_val *model) {
    size_t n;
    r->source.model = TOKENIZER_WORDPIECE;
    TRY(tokenizer_json_text(r, model, "model", "continuing_subword_prefix", &r->source.word_prefix, &n));
    TRY(tokenizer_json_number(r, model, "model", "max_input_chars_per_word", 100, &r->source.word_chars_max));
    TRY(read_vocab(r, yyjson_obj_get(model, "vocab")));
    return read_unknown(r, model);
}

// The vocabulary of Unigram is a list of [token, score].
static enum status read_unigram_vocab(struct tokenizer_json *r, yyjson_val *vocab) {
    size_t i, n = yyjson_arr_size(vocab);
    yyjson_val *row;
    if (!yyjson_is_arr(vocab)) return err_set(r->e, STATUS_INVALID, "model.vocab is no list");
    if (n > VOCABULARY_IDS_MAX) return err_set(r->e, STATUS_TOO_LARGE, "model.vocab has %zu tokens", n);
    const char **tokens = arena_new(&r->arena, n, sizeof *tokens);
    size_t *bytes = arena_new(&r->arena, n, sizeof *bytes);
    double *scores = arena_new(&r->arena, n, sizeof *scores);
    if (!tokens || !bytes || !scores) return no_memory(r);
    yyjson_arr_foreach(vocab, i, n, row) {
        yyjson_val *token = yyjson_arr_get(row, 0), *score = yyjson_arr_get(row, 1);
        if (!yyjson_is_str(token) || !yyjson_is_num(score))
            return err_set(r->e, STATUS_INVALID, "model.vocab[%zu] is no token with a score", i);
        tokens[i] = yyjson_get_str(token);
        bytes[i] = yyjson_get_len(token);
        scores[i] = yyjson_get_num(score);
    }
    r->source.tokens = tokens;
    r->source.token_bytes = bytes;
    r->source.scores = scores;
    r->source.n_tokens = n;
    return STATUS_OK;
}

static enum status read_unigram(struct tokenizer_json *r, yyjson_val *model) {
    yyjson_val *unknown = yyjson_obj_get(model, "unk_id");
    r->source.model = TOKENIZER_UNIGRAM;
    r->source.has_unknown = !tokenizer_json_absent(unknown);
    if (r->source.has_unknown) TRY(id_of(r, unknown, "model.unk_id", &r->source.unknown));
    TRY(tokenizer_json_flag(r, model, "model", "byte_fallback", false, &r->source.byte_fallback));
    return read_unigram_vocab(r, yyjson_obj_get(model, "vocab"));
}

static enum status read_model(struct tokenizer_json *r, yyjson_val *model) {
    if (tokenizer_json_is(model, "BPE")) return read_bpe(r, model);
    if (tokenizer_json_is(model, "WordPiece")) return read_wordpiece(r, model);
    if (tokenizer_json_is(model, "Unigram")) return read_unigram(r, model);
    return err_set(r->e, STATUS_UNSUPPORTED, "the model %s is not supported; BPE, WordPiece and Unigram are",
                   tokenizer_json_type(model));
}

static enum status read_added(struct tokenizer_json *r, yyjson_val *list) {
    size_t i, n = yyjson_arr_size(list);
    yyjson_val *v;
    if (tokenizer_json_absent(list)) return STATUS_OK;
    if (!yyjson_is_arr(list)) return err_set(r->e, STATUS_INVALID, "added_tokens is no list");
    struct added_token *added = arena_new(&r->arena, n, sizeof *added);
    if (!added) return no_memory(r);
    yyjson_arr_foreach(list, i, n, v) {
        struct added_token *a = &added[i];
        yyjson_val *content = yyjson_obj_get(v, "content");
        if (!yyjson_is_str(content)) return err_set(r->e, STATUS_INVALID, "added_tokens[%zu].content is no text", i);
        a->text = yyjson_get_str(content);
        a->n = yyjson_get_len(content);
        TRY(id_of(r, yyjson_obj_get(v, "id"), "added_tokens", &a->id));
        TRY(tokenizer_json_flag(r, v, "added_tokens", "special", false, &a->special));
        TRY(tokenizer_json_flag(r, v, "added_tokens", "lstrip", false, &a->lstrip));
        TRY(tokenizer_json_flag(r, v, "added_tokens", "rstrip", false, &a->rstrip));
        TRY(tokenizer_json_flag(r, v, "added_tokens", "single_word", false, &a->single_word));
        TRY(tokenizer_json_flag(r, v, "added_tokens", "normalized", !a->special, &a->normalized));
    }
    r->source.added = added;
    r->source.n_added = n;
    return STATUS_OK;
}

// One piece of a template: the text itself, or a special token that `tokens` spells out in ids.
static enum status read_template_piece(struct tokenizer_json *r, yyjson_val *piece, yyjson_val *tokens, bool *after) {
    static const char where[] = "post_processor.special_tokens";
    yyjson_val *sequence = yyjson_obj_get(piece, "Sequence"), *special = yyjson_obj_get(piece, "SpecialToken");
    if (sequence) {
        if (*after || !yyjson_equals_str(yyjson_obj_get(sequence, "id"), "A"))
            return err_set(r->e, STATUS_UNSUPPORTED, "post_processor.single holds more than the text A");
        *after = true;
        return STATUS_OK;
    }
    const char *name = yyjson_get_str(yyjson_obj_get(special, "id"));
    yyjson_val *ids = yyjson_obj_get(yyjson_obj_get(tokens, name ? name : ""), "ids"), *v;
    if (!name || !yyjson_is_arr(ids)) return err_set(r->e, STATUS_INVALID, "%s lacks \"%s\"", where, name ? name : "");
    size_t i, n;
    yyjson_arr_foreach(ids, i, n, v) {
        int32_t id;
        TRY(id_of(r, v, where, &id));
        TRY(ids_push(*after ? &r->after : &r->before, id, r->e));
    }
    return STATUS_OK;
}

static enum status read_template(struct tokenizer_json *r, yyjson_val *v) {
    yyjson_val *single = yyjson_obj_get(v, "single"), *piece;
    size_t i, n;
    bool after = false;
    if (r->has_template) return err_set(r->e, STATUS_UNSUPPORTED, "post_processor: two templates are not supported");
    r->has_template = true;
    if (!yyjson_is_arr(single)) return err_set(r->e, STATUS_INVALID, "post_processor.single is no list");
    yyjson_arr_foreach(single, i, n, piece)
        TRY(read_template_piece(r, piece, yyjson_obj_get(v, "special_tokens"), &after));
    return after ? STATUS_OK : err_set(r->e, STATUS_UNSUPPORTED, "post_processor.single leaves the text out");
}

// {"sep": [text, id], "cls": [text, id]}
static enum status read_pair_processor(struct tokenizer_json *r, yyjson_val *v) {
    int32_t before, after;
    if (r->has_template) return err_set(r->e, STATUS_UNSUPPORTED, "post_processor: two templates are not supported");
    r->has_template = true;
    TRY(id_of(r, yyjson_arr_get(yyjson_obj_get(v, "cls"), 1), "post_processor.cls", &before));
    TRY(id_of(r, yyjson_arr_get(yyjson_obj_get(v, "sep"), 1), "post_processor.sep", &after));
    TRY(ids_push(&r->before, before, r->e));
    return ids_push(&r->after, after, r->e);
}

// ByteLevel only moves offsets, which nobody here asks for.
static enum status read_post_step(struct tokenizer_json *r, yyjson_val *v) {
    if (tokenizer_json_absent(v) || tokenizer_json_is(v, "ByteLevel")) return STATUS_OK;
    if (tokenizer_json_is(v, "TemplateProcessing")) return read_template(r, v);
    if (tokenizer_json_is(v, "BertProcessing") || tokenizer_json_is(v, "RobertaProcessing"))
        return read_pair_processor(r, v);
    return err_set(r->e, STATUS_UNSUPPORTED, "the post_processor %s is not supported", tokenizer_json_type(v));
}

static enum status read_post_processor(struct tokenizer_json *r, yyjson_val *v) {
    if (!tokenizer_json_is(v, "Sequence")) return read_post_step(r, v);
    yyjson_val *step;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(v, "processors"), i, n, step) TRY(read_post_step(r, step));
    return STATUS_OK;
}

// Truncation and padding are left to the caller: a server never cuts a prompt silently.
static enum status read_all(struct tokenizer_json *r, yyjson_val *root, struct tokenizer **out) {
    if (!yyjson_is_obj(root)) return err_set(r->e, STATUS_INVALID, "it is no JSON object");
    TRY(read_model(r, yyjson_obj_get(root, "model")));
    TRY(read_added(r, yyjson_obj_get(root, "added_tokens")));
    TRY(tokenizer_json_normalizer(r, yyjson_obj_get(root, "normalizer")));
    TRY(tokenizer_json_pretokenizer(r, yyjson_obj_get(root, "pre_tokenizer")));
    TRY(read_post_processor(r, yyjson_obj_get(root, "post_processor")));
    TRY(tokenizer_json_decoder(r, yyjson_obj_get(root, "decoder")));
    r->source.before = r->before.at;
    r->source.n_before = r->before.n;
    r->source.after = r->after.at;
    r->source.n_after = r->after.n;
    return tokenizer_new(&r->source, out, r->e);
}

enum status tokenizer_from_json(const char *text, size_t n, struct tokenizer **out, struct err *e) {
    yyjson_doc *doc;
    TRY(json_parse("tokenizer.json", text, n, &doc, e));
    struct tokenizer_json r = {.e = e};
    arena_init(&r.arena, MEMORY_MAX);
    enum status status = read_all(&r, yyjson_doc_get_root(doc), out);
    if (status != STATUS_OK) err_prefix(e, "tokenizer.json");
    arena_fini(&r.arena);
    ids_fini(&r.before);
    ids_fini(&r.after);
    yyjson_doc_free(doc);
    return status;
}
