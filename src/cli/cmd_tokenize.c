// tokenize: JSON lines of text to ids and back.
#include "cli/commands.h"

#include "base/json.h"
#include "cli/id_list.h"
#include "cli/lines.h"
#include "cli/model_text.h"
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES_MAX = 256 << 20 };

struct work {
    const struct tokenizer *tokenizer;
    bool decode;
    unsigned flags;
    struct ids ids;
    struct buf line, text, out;
};

enum { ID_BYTES = 12 }; // of an id in decimal, and what stands before it

// The ids as a JSON list. A long text has millions, for which format strings are slow.
static void put_ids(struct buf *out, const struct ids *ids) {
    char *begin = buf_reserve(out, ids->n * ID_BYTES + 2), *at = begin;
    if (!begin) return;
    *at++ = '[';
    for (size_t i = 0; i < ids->n; i++) {
        char digits[ID_BYTES];
        size_t k = sizeof digits;
        for (uint32_t left = (uint32_t)ids->at[i]; k == sizeof digits || left; left /= 10)
            digits[--k] = (char)('0' + left % 10);
        if (i) *at++ = ',', *at++ = ' ';
        memcpy(at, digits + k, sizeof digits - k);
        at += sizeof digits - k;
    }
    *at++ = ']';
    out->n += (size_t)(at - begin);
}

static enum status encode(struct work *w, yyjson_val *v, struct err *e) {
    if (!yyjson_is_str(v)) return err_set(e, STATUS_INVALID, "not a JSON string");
    TRY(tokenizer_encode(w->tokenizer, yyjson_get_str(v), yyjson_get_len(v), w->flags, &w->ids, e));
    put_ids(&w->out, &w->ids);
    return STATUS_OK;
}

static enum status decode(struct work *w, yyjson_val *v, struct err *e) {
    TRY(id_list_from_json(v, "the line", &w->ids, e));
    buf_reset(&w->text);
    TRY(tokenizer_decode(w->tokenizer, w->ids.at, w->ids.n, false, &w->text, e));
    if (w->text.failed != STATUS_OK) return err_set(e, w->text.failed, "the text is too long");
    json_quote(&w->out, w->text.n ? w->text.data : "", w->text.n);
    return STATUS_OK;
}

// Leaves the answer to `line` in `out`.
static enum status answer(struct work *w, struct err *e) {
    yyjson_doc *doc;
    w->ids.n = 0;
    if (w->line.failed != STATUS_OK) {
        return err_set(e, w->line.failed, "the line is longer than %d bytes", LINE_BYTES_MAX);
    }
    TRY(json_parse("JSON", w->line.n ? w->line.data : "", w->line.n, &doc, e));
    yyjson_val *root = yyjson_doc_get_root(doc);
    enum status s = w->decode ? decode(w, root, e) : encode(w, root, e);
    yyjson_doc_free(doc);
    if (s == STATUS_OK && w->out.failed != STATUS_OK) s = err_set(e, w->out.failed, "the answer is too long");
    return s;
}

static enum status answer_all(struct work *w, struct err *e) {
    size_t lines = 0, failed = 0;
    for (; lines_next(stdin, &w->line); lines++) {
        struct err line_err = {0};
        buf_reset(&w->out);
        if (answer(w, &line_err) != STATUS_OK) {
            failed++;
            buf_reset(&w->out);
            buf_text(&w->out, "{\"error\": ");
            json_quote(&w->out, line_err.message, strlen(line_err.message));
            buf_byte(&w->out, '}');
        }
        buf_byte(&w->out, '\n');
        fwrite(w->out.data, 1, w->out.n, stdout);
    }
    if (ferror(stdin)) return err_set(e, STATUS_IO, "cannot read standard input");
    if (failed) return err_set(e, STATUS_INVALID, "%zu of %zu lines could not be answered", failed, lines);
    return STATUS_OK;
}

enum status cmd_tokenize(const struct options *o, struct command_error *e) {
    struct tokenizer *t;
    enum isa isa; // text needs none; a name that is wrong is refused all the same
    TRY(session_isa(o, &isa, e));
    TRY(model_text_tokenizer(o->operands[0], &t, &e->err));
    struct work w = {.tokenizer = t, .decode = options_has(o, FLAG_DECODE)};
    if (options_has(o, FLAG_PLAIN)) w.flags |= TOKENIZE_PLAIN;
    if (options_has(o, FLAG_SPECIAL)) w.flags |= TOKENIZE_SPECIAL;
    struct buf *const buffers[] = {&w.line, &w.text, &w.out};
    for (size_t i = 0; i < 3; i++) buf_init(buffers[i], (size_t)LINE_BYTES_MAX * 8);
    w.line.limit = LINE_BYTES_MAX;
    setvbuf(stdout, NULL, _IOLBF, 1 << 16); // who writes a line waits for its answer
    enum status s = answer_all(&w, &e->err);
    for (size_t i = 0; i < 3; i++) buf_fini(buffers[i]);
    ids_fini(&w.ids);
    tokenizer_free(t);
    return s;
}
