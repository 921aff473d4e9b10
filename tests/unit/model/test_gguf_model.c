// A llama GGUF file gives the logits of the checkpoint it was made from: permuted rows, rope factors, names, ties.
#include "tests/support/model_bytes.h"
#include "tests/support/npy.h"
#include "tests/support/temp.h"
#include "tests/unit/model/session.h"

#include <math.h>
#include <stdio.h>

enum { GGUF_BF16 = 30, GGUF_F32 = 0, GGUF_TYPE_F32 = 6, HEAD = 32, PAIRS = HEAD / 2 };
static const char *const folder = "tests/golden/llama_scaled_bias";

struct name_pair {
    const char *hf, *gguf;
    uint32_t permuted;
};

static const struct name_pair top_names[] = {
    {"model.embed_tokens", "token_embd", 0}, {"model.norm", "output_norm", 0}, {"lm_head", "output", 0}};
static const struct name_pair layer_names[] = {{"input_layernorm", "attn_norm", 0},
                                               {"self_attn.q_proj", "attn_q", 1},
                                               {"self_attn.k_proj", "attn_k", 1},
                                               {"self_attn.v_proj", "attn_v", 0},
                                               {"self_attn.o_proj", "attn_output", 0},
                                               {"mlp.gate_proj", "ffn_gate", 0},
                                               {"mlp.up_proj", "ffn_up", 0},
                                               {"mlp.down_proj", "ffn_down", 0},
                                               {"post_attention_layernorm", "ffn_norm", 0}};

// The converter's order: head row j + s * 16 goes to place 2j + s.
static void append_rows(struct buf *data, const struct tensor *t, bool permuted) {
    size_t row_bytes = t->bytes / t->shape[0];
    for (uint64_t r = 0; r < t->shape[0]; r++) {
        uint64_t in_head = r % HEAD, from = permuted ? r - in_head + in_head % 2 * PAIRS + in_head / 2 : r;
        buf_append(data, t->data + from * row_bytes, row_bytes);
    }
}

struct image {
    struct buf infos, data;
    uint64_t n_tensors;
};

static void add_tensor(struct image *m, const struct checkpoint *c, const char *hf, const char *gguf, bool permuted) {
    const struct tensor *t = checkpoint_find(c, hf);
    if (!t) return; // a module without a bias
    uint64_t dims[2] = {t->n_dims == 2 ? t->shape[1] : t->shape[0], t->shape[0]};
    put_gguf_tensor(&m->infos, gguf, t->n_dims, dims, GGUF_BF16, m->data.n);
    append_rows(&m->data, t, permuted);
    while (m->data.n % 32) buf_byte(&m->data, 0);
    m->n_tensors++;
}

static void add_module(struct image *m, const struct checkpoint *c, const struct name_pair *names,
                       const char *hf_layer, const char *gguf_layer) {
    static const char *const parts[] = {"weight", "bias"};
    char hf[128], gguf[128];
    for (int i = 0; i < 2; i++) {
        snprintf(hf, sizeof hf, "%s%s.%s", hf_layer, names->hf, parts[i]);
        snprintf(gguf, sizeof gguf, "%s%s.%s", gguf_layer, names->gguf, parts[i]);
        add_tensor(m, c, hf, gguf, names->permuted);
    }
}

// What llama3 scaling (factor 4, low 1, high 4, original 128, theta 500000) divides each frequency by, times `times`.
static void add_rope_factors(struct image *m, double times) {
    const uint64_t dims[1] = {PAIRS};
    put_gguf_tensor(&m->infos, "rope_freqs.weight", 1, dims, GGUF_F32, m->data.n);
    for (int i = 0; i < PAIRS; i++) {
        double length = 2 * 3.14159265358979323846 * pow(500000, 2.0 * i / HEAD), smooth = (128 / length - 1) / 3;
        double scale = length < 128.0 / 4 ? 1 : length > 128 ? 0.25 : (1 - smooth) / 4 + smooth;
        float factor = (float)(times / scale);
        buf_append(&m->data, &factor, sizeof factor);
    }
    m->n_tensors++;
}

// The golden folder as a GGUF file, with its rope factors times `factors` (0: none).
static bool convert(const struct temp *t, double factors, const char *extra_key, uint32_t extra) {
    struct err e = {0};
    struct checkpoint *c = NULL;
    struct image m = {0};
    struct buf file;
    if (checkpoint_open(folder, &c, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
        return false;
    }
    buf_init(&m.infos, 1 << 20);
    buf_init(&m.data, 64 << 20);
    buf_init(&file, 64 << 20);
    for (size_t i = 0; i < 3; i++) add_module(&m, c, &top_names[i], "", "");
    for (int l = 0; l < 3; l++) {
        char hf[32], gguf[32];
        snprintf(hf, sizeof hf, "model.layers.%d.", l);
        snprintf(gguf, sizeof gguf, "blk.%d.", l);
        for (size_t i = 0; i < 9; i++) add_module(&m, c, &layer_names[i], hf, gguf);
    }
    if (factors != 0) add_rope_factors(&m, factors);
    put_gguf_head(&file, 3, m.n_tensors, 12);
    put_gguf_key_text(&file, "general.architecture", "llama");
    put_gguf_key_u32(&file, "llama.vocab_size", 512);
    put_gguf_key_u32(&file, "llama.embedding_length", 96);
    put_gguf_key_u32(&file, "llama.block_count", 3);
    put_gguf_key_u32(&file, "llama.feed_forward_length", 192);
    put_gguf_key_u32(&file, "llama.attention.head_count", 4);
    put_gguf_key_u32(&file, "llama.attention.head_count_kv", 2);
    put_gguf_key_u32(&file, "llama.attention.key_length", HEAD);
    put_gguf_key_u32(&file, "llama.context_length", 4096);
    put_gguf_key_u32(&file, extra_key, extra);
    const float theta = 500000, eps = 1e-5f;
    put_gguf_text(&file, "llama.rope.freq_base");
    put_u32(&file, GGUF_TYPE_F32);
    buf_append(&file, &theta, 4);
    put_gguf_text(&file, "llama.attention.layer_norm_rms_epsilon");
    put_u32(&file, GGUF_TYPE_F32);
    buf_append(&file, &eps, 4);
    buf_append(&file, m.infos.data, m.infos.n);
    while (file.n % 32) buf_byte(&file, 0);
    buf_append(&file, m.data.data, m.data.n);
    temp_write(t, "model.gguf", file.data, file.n);
    buf_fini(&m.infos);
    buf_fini(&m.data);
    buf_fini(&file);
    checkpoint_close(c);
    return true;
}

// The first prompt ids and positions of ref.json, read without a parser: they are its first two lists.
static size_t read_list(const char *text, const char *key, int32_t *out, size_t cap) {
    const char *p = strstr(text, key);
    size_t n = 0;
    for (p = p ? strchr(p, '[') : NULL; p && *p != ']' && n < cap; n++) {
        out[n] = (int32_t)strtol(p + 1, (char **)&p, 10);
    }
    return n;
}

static double worst_difference(struct session *s) {
    static int32_t prompt[1024], positions[64];
    static char text[1 << 16];
    struct npy ref;
    FILE *f = fopen("tests/golden/llama_scaled_bias/ref.json", "rb");
    if (!f) return INFINITY;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    size_t n = read_list(text, "\"prompt\"", prompt, 1024),
           n_positions = read_list(text, "\"positions\"", positions, 64);
    if (!npy_read("tests/golden/llama_scaled_bias/ref_logits.npy", &ref) || ref.rows != n_positions) return INFINITY;
    float *out = calloc(ref.rows * ref.columns, sizeof *out);
    double worst = 0;
    if (!session_prompt(s, prompt, n, 512, positions, n_positions, out)) worst = INFINITY;
    for (size_t i = 0; i < ref.rows * ref.columns; i++) {
        double off = fabs((double)out[i] - (double)ref.data[i]);
        if (!(off <= worst)) worst = off;
    }
    free(out);
    npy_free(&ref);
    return worst;
}

static void gives_the_logits_of_its_source(void) {
    struct temp t = temp_new();
    struct session s;
    char path[TEMP_PATH_MAX];
    if (convert(&t, 1, "llama.rope.dimension_count", HEAD) &&
        session_open(&s, temp_path(&t, "model.gguf", path), 2, isa_best())) {
        double worst = worst_difference(&s);
        if (!(worst <= 1e-3)) test_fail(__FILE__, __LINE__, "expected within 1e-3 of the reference, got %g", worst);
        session_close(&s);
    }
    // Without the factors the frequencies are wrong, and this test must see it.
    if (convert(&t, 0, "llama.rope.dimension_count", HEAD) && session_open(&s, path, 2, isa_best())) {
        CHECK(worst_difference(&s) > 1e-2);
        session_close(&s);
    }
    temp_remove(&t);
}

// Opens a converted file, which must be refused with this status and word.
static void check_refused(double factors, const char *key, uint32_t value, enum status expected, const char *says) {
    struct temp t = temp_new();
    struct err e = {0};
    struct checkpoint *c = NULL;
    struct backend *b = NULL;
    struct model *m = NULL;
    char path[TEMP_PATH_MAX];
    if (!convert(&t, factors, key, value)) return;
    CHECK_INT(STATUS_OK, checkpoint_open(temp_path(&t, "model.gguf", path), &c, &e));
    CHECK_INT(STATUS_OK, backend_open_cpu(&(struct backend_options){.threads = 1, .isa = ISA_REF}, &b, &e));
    CHECK_INT(expected, model_open(c, b, &(struct model_options){0}, NULL, &m, &e));
    if (m) m->ops->close(m);
    if (!strstr(e.message, says)) test_fail(__FILE__, __LINE__, "expected %s, got: %s", says, e.message);
    b->ops->close(b);
    checkpoint_close(c);
    temp_remove(&t);
}

static void refuses_settings_by_their_key(void) {
    static const struct {
        const char *key;
        uint32_t value;
    } faults[] = {{"llama.rope.dimension_count", 16},
                  {"llama.attention.value_length", 64},
                  {"llama.expert_count", 8},
                  {"llama.attention.sliding_window", 1024}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        check_refused(1, faults[i].key, faults[i].value, STATUS_UNSUPPORTED, faults[i].key);
    }
}

static void refuses_factors_that_turn_pairs_too_fast(void) {
    static const double times[] = {-1, 1e-40, 0.25, NAN};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        check_refused(times[i], "llama.rope.dimension_count", HEAD, STATUS_INVALID, "rope_freqs.weight: factors");
    }
}

static const struct test_case cases[] = {
    {"gives the logits of the checkpoint it was made from", gives_the_logits_of_its_source},
    {"refuses settings that are not served by their key", refuses_settings_by_their_key},
    {"refuses rope factors that turn pairs too fast", refuses_factors_that_turn_pairs_too_fast},
};
TEST_MAIN("model/gguf_model", cases)
