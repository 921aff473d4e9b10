// info: what a checkpoint is and what it needs, from its headers.
#include "cli/session.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Every figure of struct model_info, under the name it has in both outputs.
struct figure {
    const char *name;
    uint64_t value;
    bool bytes;
};

enum { FIGURES_MAX = 32 };

// Figures of recurrent layers are left out where there are none.
static size_t list_recurrent(const struct model_info *i, struct figure f[FIGURES_MAX], size_t n) {
    const struct figure all[] = {
        {"attention_layers", i->attention_layers, false},
        {"delta_layers", i->delta_layers, false},
        {"delta_k_heads", i->delta_k_heads, false},
        {"delta_v_heads", i->delta_v_heads, false},
        {"delta_k_dim", i->delta_k_dim, false},
        {"delta_v_dim", i->delta_v_dim, false},
        {"delta_taps", i->delta_taps, false},
        {"state_bytes", i->state_bytes, true},
    };
    if (!i->delta_layers) return n;
    memcpy(f + n, all, sizeof all);
    return n + sizeof all / sizeof all[0];
}

static size_t list_figures(const struct model_info *i, struct figure f[FIGURES_MAX]) {
    const struct figure all[] = {
        {"vocab", i->vocab, false},
        {"hidden", i->hidden, false},
        {"layers", i->layers, false},
        {"heads", i->heads, false},
        {"kv_heads", i->kv_heads, false},
        {"head_dim", i->head_dim, false},
        {"intermediate", i->intermediate, false},
        {"context", i->context, false},
        {"parameters", i->parameters, false},
        {"stored_bytes", i->stored_bytes, true},
        {"embed_bytes", i->embed_bytes, true},
        {"head_bytes", i->head_bytes, true},
        {"layer_bytes", i->layer_bytes, true},
        {"packed_bytes", i->packed_bytes, true},
        {"token_read_bytes", i->token_read_bytes, true},
        {"cache_token_bytes", i->cache_token_bytes, true},
        {"planned_context", i->planned_context, false},
        {"cache_bytes", i->cache_bytes, true},
        {"scratch_bytes", i->scratch_bytes, true},
        {"total_bytes", i->total_bytes, true},
    };
    memcpy(f, all, sizeof all);
    return list_recurrent(i, f, sizeof all / sizeof all[0]);
}

static void write_pair(struct buf *out, const char *key, const char *text) {
    buf_printf(out, "\"%s\": ", key);
    json_quote(out, text, strlen(text));
    buf_text(out, ", ");
}

static void write_json(const struct session *s, const struct model_info *info, const char *lack, struct buf *out) {
    struct figure figures[FIGURES_MAX];
    size_t n = list_figures(info, figures);
    buf_byte(out, '{');
    write_pair(out, "path", s->path);
    write_pair(out, "format", checkpoint_kind(s->checkpoint) == CHECKPOINT_GGUF ? "gguf" : "safetensors");
    write_pair(out, "family", info->family);
    write_pair(out, "formats", info->formats);
    buf_printf(out, "\"fits\": %s, \"tied\": %s", lack ? "false" : "true", info->tied ? "true" : "false");
    for (size_t i = 0; i < n; i++) buf_printf(out, ", \"%s\": %" PRIu64, figures[i].name, figures[i].value);
    buf_text(out, ", \"unknown_tensors\": [");
    for (size_t i = 0; i < info->n_unknown; i++) {
        if (i) buf_text(out, ", ");
        json_quote(out, info->unknown[i], strlen(info->unknown[i]));
    }
    buf_text(out, "]}\n");
}

static void write_text(const struct session *s, const struct model_info *info, const char *lack, struct buf *out) {
    struct figure figures[FIGURES_MAX];
    size_t n = list_figures(info, figures);
    buf_printf(out, "%-18s %s\n%-18s %s\n%-18s %s\n%-18s %s\n", "path", s->path, "family", info->family, "formats",
               info->formats, "output matrix", info->tied ? "the embedding (tied)" : "its own");
    for (size_t i = 0; i < n; i++) {
        const struct figure *f = &figures[i];
        buf_printf(out, "%-18s %" PRIu64, f->name, f->value);
        if (f->bytes && f->value >= 1000000) buf_printf(out, " (%.1f MB)", (double)f->value * 1e-6);
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < info->n_unknown; i++) buf_printf(out, "%-18s %s\n", "unknown tensor", info->unknown[i]);
    if (lack) buf_printf(out, "%-18s %s\n", "does not fit", lack);
}

enum { OUTPUT_BYTES_MAX = 64 << 20 };

// What does not fit here is described as if it did, and *lack then says what is wanting.
static enum status inspect(struct session *s, const struct options *o, struct model_info *info, struct err *lack,
                           struct err *e) {
    struct model_options options = session_model_options(o);
    enum status status = model_inspect(s->checkpoint, s->backend, &options, info, lack);
    if (status == STATUS_NO_MEMORY) {
        options.memory_limit_bytes = UINT64_MAX;
        return model_inspect(s->checkpoint, s->backend, &options, info, e);
    }
    if (status != STATUS_OK) *e = *lack;
    return status;
}

static enum status print_info(struct session *s, const struct options *o, struct err *e) {
    struct err wanting = {0};
    struct model_info info;
    TRY(inspect(s, o, &info, &wanting, e));
    const char *lack = wanting.message[0] ? wanting.message : NULL;
    struct buf out;
    buf_init(&out, OUTPUT_BYTES_MAX);
    if (options_has(o, FLAG_JSON)) {
        write_json(s, &info, lack, &out);
    } else {
        write_text(s, &info, lack, &out);
    }
    model_info_fini(&info);
    enum status status = out.failed == STATUS_OK ? STATUS_OK : err_set(e, out.failed, "the list is too long");
    if (status == STATUS_OK) fwrite(out.data, 1, out.n, stdout);
    buf_fini(&out);
    return status;
}

enum status cmd_info(const struct options *o, struct command_error *e) {
    struct session s = {0};
    enum status status = session_open(&s, o, o->operands[0], e);
    if (status == STATUS_OK) status = print_info(&s, o, &e->err);
    session_close(&s);
    return status;
}
