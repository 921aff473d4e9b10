// tokenizer.json, Hugging Face's format: each part is recognised by exact value or refused by name.
#include "text/tokenizer.h"

#include "base/arena.h"
#include "base/json.h"
#include "text/pretokenize.h"
#include "text/vocabulary.h"

#include <string.h>

enum { MEMORY_MAX = 1 << 30 };

struct reading {
    struct tokenizer_source source;
    struct arena arena;
    struct ids before, after;
    bool has_template;
    struct err *e;
};

static bool text_is(yyjson_val *v, const char *text) { return yyjson_equals_str(v, text); }

static bool is_type(yyjson_val *object, const char *type) { return text_is(yyjson_obj_get(object, "type"), type); }

static bool is_absent(yyjson_val *v) { return !v || yyjson_is_null(v); }

// The type of a part for a message, never NULL.
static const char *type_of(yyjson_val *object) {
    const char *type = yyjson_get_str(yyjson_obj_get(object, "type"));
    return type ? type : "(without a type)";
}

static enum status no_memory(struct reading *r) { return err_set(r->e, STATUS_NO_MEMORY, "no memory to read it"); }

// A flag of `where`; absent means `fallback`.
static enum status flag(struct reading *r, yyjson_val *object, const char *where, const char *key, bool fallback,
                        bool *out) {
    yyjson_val *v = yyjson_obj_get(object, key);
    *out = v ? yyjson_is_true(v) : fallback;
    if (v && !yyjson_is_bool(v)) return err_set(r->e, STATUS_INVALID, "%s.%s is neither true nor false", where, key);
    return STATUS_OK;
}

// An id from outside: a whole number below the limit.
static enum status id_of(struct reading *r, yyjson_val *v, const char *where, int32_t *out) {
    if (!yyjson_is_uint(v)) return err_set(r->e, STATUS_INVALID, "%s: an id is no whole number", where);
    if (yyjson_get_uint(v) >= VOCABULARY_IDS_MAX)
        return err_set(r->e, STATUS_TOO_LARGE, "%s: the id %llu is over the limit", where,
                       (unsigned long long)yyjson_get_uint(v));
    *out = (int32_t)yyjson_get_uint(v);
    return STATUS_OK;
}

static enum status read_vocab(struct reading *r, yyjson_val *vocab) {
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
static enum status read_merge(struct reading *r, yyjson_val *v, struct merge *out) {
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

static enum status read_merges(struct reading *r, yyjson_val *merges) {
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

static enum status read_model(struct reading *r, yyjson_val *model) {
    if (!is_type(model, "BPE"))
        return err_set(r->e, STATUS_UNSUPPORTED, "the model %s is not supported, only BPE", type_of(model));
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_val *v = yyjson_obj_get(model, affixes[i]);
        if (!is_absent(v) && !text_is(v, ""))
            return err_set(r->e, STATUS_UNSUPPORTED, "model.%s is not supported", affixes[i]);
    }
    yyjson_val *dropout = yyjson_obj_get(model, "dropout");
    if (!is_absent(dropout) && !(yyjson_is_num(dropout) && yyjson_get_num(dropout) == 0))
        return err_set(r->e, STATUS_UNSUPPORTED, "model.dropout is not supported");
    bool byte_fallback;
    TRY(flag(r, model, "model", "byte_fallback", false, &byte_fallback));
    TRY(flag(r, model, "model", "ignore_merges", false, &r->source.ignore_merges));
    if (!is_absent(yyjson_obj_get(model, "unk_token"))) r->source.fallback = "model.unk_token";
    if (byte_fallback) r->source.fallback = "model.byte_fallback";
    TRY(read_vocab(r, yyjson_obj_get(model, "vocab")));
    return read_merges(r, yyjson_obj_get(model, "merges"));
}

static enum status read_added(struct reading *r, yyjson_val *list) {
    size_t i, n = yyjson_arr_size(list);
    yyjson_val *v;
    if (is_absent(list)) return STATUS_OK;
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
        TRY(flag(r, v, "added_tokens", "special", false, &a->special));
        TRY(flag(r, v, "added_tokens", "lstrip", false, &a->lstrip));
        TRY(flag(r, v, "added_tokens", "rstrip", false, &a->rstrip));
        TRY(flag(r, v, "added_tokens", "single_word", false, &a->single_word));
        TRY(flag(r, v, "added_tokens", "normalized", !a->special, &a->normalized));
    }
    r->source.added = added;
    r->source.n_added = n;
    return STATUS_OK;
}

static enum status read_normalizer(struct reading *r, yyjson_val *v) {
    yyjson_val *parts = yyjson_obj_get(v, "normalizers");
    if (is_type(v, "Sequence") && yyjson_is_arr(parts) && yyjson_arr_size(parts) < 2) v = yyjson_arr_get_first(parts);
    if (is_absent(v)) return STATUS_OK;
    r->source.normalizer = NORMALIZER_NFC;
    if (is_type(v, "NFC")) return STATUS_OK;
    return err_set(r->e, STATUS_UNSUPPORTED, "the normalizer %s is not supported", type_of(v));
}

// The pre-tokenizer whose pattern a Split step has, or PRETOKENIZER_COUNT.
static enum pretokenizer find_pattern(yyjson_val *split) {
    yyjson_val *pattern = yyjson_obj_get(yyjson_obj_get(split, "pattern"), "Regex");
    bool isolated = text_is(yyjson_obj_get(split, "behavior"), "Isolated");
    if (!isolated || yyjson_is_true(yyjson_obj_get(split, "invert"))) return PRETOKENIZER_COUNT;
    enum pretokenizer kind = PRETOKENIZER_GPT2;
    while (kind < PRETOKENIZER_COUNT && !text_is(pattern, pretokenize_pattern(kind))) kind++;
    return kind;
}

// Known forms: ByteLevel alone, Digits or Split before a ByteLevel.
static enum status read_pretokenizer(struct reading *r, yyjson_val *v) {
    yyjson_val *steps = yyjson_obj_get(v, "pretokenizers");
    yyjson_val *last = is_type(v, "Sequence") ? yyjson_arr_get_last(steps) : v;
    yyjson_val *first = is_type(v, "Sequence") && yyjson_arr_size(steps) == 2 ? yyjson_arr_get_first(steps) : NULL;
    bool known = is_type(last, "ByteLevel") && (last == v || yyjson_arr_size(steps) <= 2);
    bool use_regex, one_by_one;
    TRY(flag(r, last, "pre_tokenizer", "use_regex", true, &use_regex));
    TRY(flag(r, last, "pre_tokenizer", "add_prefix_space", true, &r->source.add_prefix_space));
    TRY(flag(r, first, "pre_tokenizer", "individual_digits", false, &one_by_one));
    enum pretokenizer kind = PRETOKENIZER_COUNT;
    if (!first && use_regex) kind = PRETOKENIZER_GPT2;
    if (is_type(first, "Digits") && one_by_one && use_regex) kind = PRETOKENIZER_SMOLLM;
    if (is_type(first, "Split") && !use_regex) kind = find_pattern(first);
    if (!known || kind == PRETOKENIZER_COUNT) {
        const char *pattern = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(first, "pattern"), "Regex"));
        return err_set(r->e, STATUS_UNSUPPORTED, "the pre_tokenizer %s is none of the known ones%s%s", type_of(v),
                       pattern ? "; its pattern is " : "", pattern ? pattern : "");
    }
    r->source.pretokenizer = kind;
    return STATUS_OK;
}

// One piece of a template: the text itself, or a special token that `tokens` spells out in ids.
static enum status read_template_piece(struct reading *r, yyjson_val *piece, yyjson_val *tokens, bool *after) {
    static const char where[] = "post_processor.special_tokens";
    yyjson_val *sequence = yyjson_obj_get(piece, "Sequence"), *special = yyjson_obj_get(piece, "SpecialToken");
    if (sequence) {
        if (*after || !text_is(yyjson_obj_get(sequence, "id"), "A"))
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

static enum status read_template(struct reading *r, yyjson_val *v) {
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

// ByteLevel only moves offsets, which nobody here asks for.
static enum status read_post_step(struct reading *r, yyjson_val *v) {
    if (is_absent(v) || is_type(v, "ByteLevel")) return STATUS_OK;
    if (is_type(v, "TemplateProcessing")) return read_template(r, v);
    return err_set(r->e, STATUS_UNSUPPORTED, "the post_processor %s is not supported", type_of(v));
}

static enum status read_post_processor(struct reading *r, yyjson_val *v) {
    if (!is_type(v, "Sequence")) return read_post_step(r, v);
    yyjson_val *step;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(v, "processors"), i, n, step) TRY(read_post_step(r, step));
    return STATUS_OK;
}

// Truncation and padding are left to the caller: a server never cuts a prompt silently.
static enum status read_all(struct reading *r, yyjson_val *root, struct tokenizer **out) {
    yyjson_val *decoder = yyjson_obj_get(root, "decoder");
    if (!yyjson_is_obj(root)) return err_set(r->e, STATUS_INVALID, "it is no JSON object");
    TRY(read_model(r, yyjson_obj_get(root, "model")));
    TRY(read_added(r, yyjson_obj_get(root, "added_tokens")));
    TRY(read_normalizer(r, yyjson_obj_get(root, "normalizer")));
    TRY(read_pretokenizer(r, yyjson_obj_get(root, "pre_tokenizer")));
    TRY(read_post_processor(r, yyjson_obj_get(root, "post_processor")));
    if (!is_type(decoder, "ByteLevel"))
        return err_set(r->e, STATUS_UNSUPPORTED, "the decoder %s is not supported, only ByteLevel", type_of(decoder));
    r->source.before = r->before.at;
    r->source.n_before = r->before.n;
    r->source.after = r->after.at;
    r->source.n_after = r->after.n;
    return tokenizer_new(&r->source, out, r->e);
}

enum status tokenizer_from_json(const char *text, size_t n, struct tokenizer **out, struct err *e) {
    yyjson_doc *doc;
    TRY(json_parse("tokenizer.json", text, n, &doc, e));
    struct reading r = {.e = e};
    arena_init(&r.arena, MEMORY_MAX);
    enum status status = read_all(&r, yyjson_doc_get_root(doc), out);
    if (status != STATUS_OK) err_prefix(e, "tokenizer.json");
    arena_fini(&r.arena);
    ids_fini(&r.before);
    ids_fini(&r.after);
    yyjson_doc_free(doc);
    return status;
}
