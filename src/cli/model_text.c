// Finding tokenizer, chat template and end ids in the files of a checkpoint.
#include "cli/model_text.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/gguf_text.h"
#include "model/load.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES_MAX = 8192, TOKENIZER_BYTES_MAX = 256 << 20, SETTINGS_BYTES_MAX = 16 << 20 };

// "folder/name". False when there is no such file.
static bool find_file(const char *folder, const char *name, struct buf *path) {
    buf_reset(path);
    buf_printf(path, "%s/%s", folder, name);
    return path->failed == STATUS_OK && file_exists(path->data);
}

static enum status folder_tokenizer(const char *folder, struct tokenizer **out, struct err *e) {
    struct buf path;
    buf_init(&path, PATH_BYTES_MAX);
    char *text = NULL;
    size_t n;
    enum status s;
    if (find_file(folder, "tokenizer.json", &path)) {
        s = file_read(path.data, TOKENIZER_BYTES_MAX, &text, &n, e);
    } else {
        s = err_set(e, STATUS_NOT_FOUND, "%s: has no tokenizer.json", folder);
    }
    if (s == STATUS_OK) {
        s = tokenizer_from_json(text, n, out, e);
        if (s != STATUS_OK) err_prefix(e, "%s", path.data);
    }
    mem_free(text);
    buf_fini(&path);
    return s;
}

enum status model_text_tokenizer(const char *path, struct tokenizer **out, struct err *e) {
    if (file_is_folder(path)) return folder_tokenizer(path, out, e);
    struct checkpoint *c;
    TRY(checkpoint_open(path, &c, e));
    enum status s = gguf_text_tokenizer(checkpoint_config(c), out, e);
    checkpoint_close(c);
    return s;
}

// A token in tokenizer_config.json: its text, or an object that holds it under "content". NULL when absent.
static const char *token_text(yyjson_val *v) {
    if (yyjson_is_obj(v)) v = yyjson_obj_get(v, "content");
    return yyjson_get_str(v);
}

// The template in tokenizer_config.json: a string, or a list of named ones. NULL when there is none.
static yyjson_val *settings_template(yyjson_val *settings) {
    yyjson_val *v = yyjson_obj_get(settings, "chat_template"), *row;
    size_t i, n;
    if (!yyjson_is_arr(v)) return yyjson_is_str(v) ? v : NULL;
    yyjson_arr_foreach(v, i, n, row) {
        if (yyjson_equals_str(yyjson_obj_get(row, "name"), "default")) return yyjson_obj_get(row, "template");
    }
    return NULL;
}

// tokenizer_config.json of a folder; *out NULL when there is none.
static enum status read_settings(const char *folder, yyjson_doc **out, struct err *e) {
    struct buf path;
    buf_init(&path, PATH_BYTES_MAX);
    *out = NULL;
    enum status s = STATUS_OK;
    if (find_file(folder, "tokenizer_config.json", &path)) s = json_read(path.data, SETTINGS_BYTES_MAX, out, e);
    buf_fini(&path);
    return s;
}

static enum status compile(const char *where, const char *text, size_t n, const char *bos, const char *eos,
                           struct chat_template **out, struct err *e) {
    enum status s = chat_template_new(text, n, bos ? bos : "", eos ? eos : "", out, e);
    if (s != STATUS_OK) err_prefix(e, "%s", where);
    return s;
}

static enum status folder_template(const char *folder, struct chat_template **out, struct err *e) {
    yyjson_doc *doc;
    TRY(read_settings(folder, &doc, e));
    yyjson_val *settings = yyjson_doc_get_root(doc), *stored = settings_template(settings);
    const char *bos = token_text(yyjson_obj_get(settings, "bos_token"));
    const char *eos = token_text(yyjson_obj_get(settings, "eos_token"));
    struct buf path;
    buf_init(&path, PATH_BYTES_MAX);
    enum status s = STATUS_OK;
    if (find_file(folder, "chat_template.jinja", &path)) {
        char *text;
        size_t n;
        s = file_read(path.data, SETTINGS_BYTES_MAX, &text, &n, e);
        if (s == STATUS_OK) {
            s = compile(path.data, text, n, bos, eos, out, e);
            mem_free(text);
        }
    } else if (stored) {
        s = compile("tokenizer_config.json: chat_template", yyjson_get_str(stored), yyjson_get_len(stored), bos, eos,
                    out, e);
    }
    buf_fini(&path);
    yyjson_doc_free(doc);
    return s;
}

static enum status gguf_template(const struct config *c, struct chat_template **out, struct err *e) {
    const char *text, *bos, *eos;
    size_t n, n_bos, n_eos;
    if (!config_has(c, "tokenizer.chat_template")) return STATUS_OK;
    TRY(config_text(c, "tokenizer.chat_template", &text, &n, e));
    TRY(gguf_text_token(c, "tokenizer.ggml.bos_token_id", &bos, &n_bos, e));
    TRY(gguf_text_token(c, "tokenizer.ggml.eos_token_id", &eos, &n_eos, e));
    char *bos_copy = mem_string(bos, n_bos), *eos_copy = mem_string(eos, n_eos);
    enum status s = bos_copy && eos_copy ? compile("tokenizer.chat_template", text, n, bos_copy, eos_copy, out, e)
                                         : err_set(e, STATUS_NO_MEMORY, "no memory for the chat template");
    mem_free(bos_copy);
    mem_free(eos_copy);
    return s;
}

enum status model_text_open(const struct checkpoint *c, struct model_text *out, struct err *e) {
    *out = (struct model_text){0};
    const char *path = checkpoint_path(c);
    bool gguf = checkpoint_kind(c) == CHECKPOINT_GGUF;
    enum status s = gguf ? gguf_text_tokenizer(checkpoint_config(c), &out->tokenizer, e)
                         : folder_tokenizer(path, &out->tokenizer, e);
    if (s == STATUS_OK) {
        s = gguf ? gguf_template(checkpoint_config(c), &out->chat, e) : folder_template(path, &out->chat, e);
    }
    if (s != STATUS_OK) model_text_close(out);
    return s;
}

void model_text_close(struct model_text *t) {
    chat_template_free(t->chat);
    tokenizer_free(t->tokenizer);
    *t = (struct model_text){0};
}

// The id that tokenizer_config.json gives a token in its added_tokens_decoder; -1 when it does not.
static int32_t settings_id(yyjson_val *settings, const char *token) {
    yyjson_val *added = yyjson_obj_get(settings, "added_tokens_decoder"), *key, *row;
    size_t i, n;
    if (!added) return -1;
    yyjson_obj_foreach(added, i, n, key, row) {
        const char *text = token_text(row);
        char *end;
        if (!text || strcmp(text, token) != 0) continue;
        unsigned long long id = strtoull(yyjson_get_str(key), &end, 10);
        return *end == '\0' && id <= INT32_MAX ? (int32_t)id : -1;
    }
    return -1;
}

enum status model_text_end_ids(const struct checkpoint *c, const struct tokenizer *t, int32_t ids[END_IDS_MAX],
                               size_t *n, struct err *e) {
    TRY(model_end_ids(c, ids, END_IDS_MAX, n, e));
    if (checkpoint_kind(c) == CHECKPOINT_GGUF) return STATUS_OK;
    yyjson_doc *doc;
    TRY(read_settings(checkpoint_path(c), &doc, e));
    yyjson_val *settings = yyjson_doc_get_root(doc);
    const char *eos = token_text(yyjson_obj_get(settings, "eos_token"));
    int32_t id = eos ? settings_id(settings, eos) : -1;
    if (eos && id < 0 && t) id = tokenizer_find(t, eos, strlen(eos));
    yyjson_doc_free(doc);
    for (size_t i = 0; i < *n; i++) {
        if (ids[i] == id) return STATUS_OK;
    }
    if (id >= 0 && *n < END_IDS_MAX) ids[(*n)++] = id;
    return STATUS_OK;
}
