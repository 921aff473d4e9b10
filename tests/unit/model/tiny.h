// Writes tiny llama checkpoints, whole or damaged, into a scratch folder, and inspects them.
#ifndef TF_TESTS_UNIT_MODEL_TINY_H
#define TF_TESTS_UNIT_MODEL_TINY_H

#include "backend/backend.h"
#include "base/mem.h"
#include "checkpoint/checkpoint.h"
#include "model/load.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TINY_SETTINGS                                                                                                \
    "\"model_type\":\"llama\",\"hidden_size\":32,\"intermediate_size\":64,\"num_hidden_layers\":2,"                  \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"vocab_size\":48,\"max_position_embeddings\":256,"         \
    "\"rms_norm_eps\":1e-5"

struct tiny_tensor {
    char name[96];
    uint32_t rows, columns; // columns 0: a vector
    const char *dtype;      // 4 bytes an element, or "I64" of 8
};

enum { TINY_MAX = 64 };

struct tiny {
    char folder[64];
    struct tiny_tensor tensor[TINY_MAX];
    size_t n;
    const char *settings; // inside the braces of config.json
};

static inline void tiny_add(struct tiny *t, const char *name, uint32_t rows, uint32_t columns) {
    struct tiny_tensor *new = &t->tensor[t->n++];
    snprintf(new->name, sizeof new->name, "%s", name);
    new->rows = rows;
    new->columns = columns;
    new->dtype = "F32";
}

static inline struct tiny_tensor *tiny_find(struct tiny *t, const char *name) {
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->tensor[i].name, name) == 0) return &t->tensor[i];
    }
    test_fail(__FILE__, __LINE__, "no tensor %s", name);
    return &t->tensor[0];
}

static inline void tiny_remove(struct tiny *t, const char *name) { *tiny_find(t, name) = t->tensor[--t->n]; }

// A whole untied checkpoint of two layers, not written yet.
static inline void tiny_init(struct tiny *t) {
    static const struct {
        const char *name;
        uint32_t rows, columns;
    } layer[] = {{"input_layernorm", 32, 0},   {"self_attn.q_proj", 32, 32}, {"self_attn.k_proj", 16, 32},
                 {"self_attn.v_proj", 16, 32}, {"self_attn.o_proj", 32, 32}, {"post_attention_layernorm", 32, 0},
                 {"mlp.gate_proj", 64, 32},    {"mlp.up_proj", 64, 32},      {"mlp.down_proj", 32, 64}};
    *t = (struct tiny){.settings = TINY_SETTINGS};
    tiny_add(t, "model.embed_tokens.weight", 48, 32);
    tiny_add(t, "model.norm.weight", 32, 0);
    tiny_add(t, "lm_head.weight", 48, 32);
    for (int l = 0; l < 2; l++) {
        for (size_t i = 0; i < sizeof layer / sizeof layer[0]; i++) {
            char name[96];
            snprintf(name, sizeof name, "model.layers.%d.%s.weight", l, layer[i].name);
            tiny_add(t, name, layer[i].rows, layer[i].columns);
        }
    }
}

static inline void tiny_write_tensors(const struct tiny *t, FILE *f) {
    static char header[16384];
    uint64_t at = 0, n = 1;
    header[0] = '{';
    for (size_t i = 0; i < t->n; i++) {
        const struct tiny_tensor *x = &t->tensor[i];
        uint64_t bytes = (uint64_t)x->rows * (x->columns ? x->columns : 1) * (strcmp(x->dtype, "I64") ? 4 : 8);
        char shape[48];
        if (x->columns)
            snprintf(shape, sizeof shape, "%u,%u", x->rows, x->columns);
        else
            snprintf(shape, sizeof shape, "%u", x->rows);
        n += (uint64_t)snprintf(
            header + n, sizeof header - n, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}",
            i ? "," : "", x->name, x->dtype, shape, (unsigned long long)at, (unsigned long long)(at + bytes));
        at += bytes;
    }
    header[n++] = '}';
    fwrite(&n, 8, 1, f);
    fwrite(header, 1, n, f);
    for (uint64_t i = 0; i < at; i++) fputc(0, f);
}

static inline bool tiny_write(struct tiny *t) {
    char path[128];
    snprintf(t->folder, sizeof t->folder, "/tmp/tiny-llama-XXXXXX");
    if (!mkdtemp(t->folder)) return false;
    snprintf(path, sizeof path, "%s/config.json", t->folder);
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fprintf(f, "{%s}", t->settings);
    fclose(f);
    snprintf(path, sizeof path, "%s/model.safetensors", t->folder);
    f = fopen(path, "wb");
    if (!f) return false;
    tiny_write_tensors(t, f);
    return fclose(f) == 0;
}

static inline void tiny_delete(const struct tiny *t) {
    char path[128];
    snprintf(path, sizeof path, "%s/config.json", t->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/model.safetensors", t->folder);
    unlink(path);
    rmdir(t->folder);
}

// What model_inspect says of a checkpoint: its status and message, its info, and the unknown names joined by blanks.
struct tiny_result {
    enum status status;
    struct err e;
    struct model_info info; // without the names
    char unknown[512];
};

static inline struct tiny_result tiny_inspect(struct tiny *t, const struct model_options *options) {
    struct tiny_result r = {0};
    struct checkpoint *c = NULL;
    struct backend *b = NULL;
    r.status = tiny_write(t) ? STATUS_OK : err_set(&r.e, STATUS_IO, "cannot write %s", t->folder);
    if (r.status == STATUS_OK) r.status = checkpoint_open(t->folder, &c, &r.e);
    if (r.status == STATUS_OK) {
        r.status = backend_open_cpu(&(struct backend_options){.threads = 1, .isa = ISA_REF}, &b, &r.e);
    }
    if (r.status == STATUS_OK) r.status = model_inspect(c, b, options, &r.info, &r.e);
    if (r.status == STATUS_OK) {
        for (size_t i = 0; i < r.info.n_unknown; i++) {
            size_t n = strlen(r.unknown);
            snprintf(r.unknown + n, sizeof r.unknown - n, "%s%s", i ? " " : "", r.info.unknown[i]);
        }
        model_info_fini(&r.info);
    }
    if (b) b->ops->close(b);
    checkpoint_close(c);
    tiny_delete(t);
    return r;
}

#endif
