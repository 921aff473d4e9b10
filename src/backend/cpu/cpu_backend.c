// Opening the CPU backend, its memory, and the plan of its scratch.
#include "backend/cpu/cpu_backend.h"

#include "base/checked.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_DEFAULT = 512, ALIGN = 64 };

static const char *const use_names[BACKEND_USE_COUNT] = {"weights", "the cache", "work"};

static void close_backend(struct backend *b) {
    struct cpu_backend *c = cpu_of(b);
    pool_close(c->pool);
    mem_unmap(c->scratch, c->scratch_bytes);
    mem_free(c);
}

static void describe(const struct backend *b, char *text, size_t n) {
    const struct cpu_backend *c = (const struct cpu_backend *)b;
    snprintf(text, n, "cpu, %u thread%s, %s", c->threads, c->threads == 1 ? "" : "s", isa_name(c->isa));
}

static uint64_t memory_available(const struct backend *b) {
    (void)b;
    return mem_available();
}

static enum status alloc_memory(struct backend *b, size_t bytes, enum backend_use use, dptr *out, struct err *e) {
    (void)b;
    void *p = mem_map(bytes);
    if (!p) return err_set(e, STATUS_NO_MEMORY, "no memory for %s: %zu bytes", use_names[use], bytes);
    if (use == BACKEND_USE_WEIGHTS) mem_prefer_large_pages(p, bytes);
    *out = (dptr){(uint64_t)(uintptr_t)p};
    return STATUS_OK;
}

static void release_memory(struct backend *b, dptr p, size_t bytes) {
    (void)b;
    mem_unmap(cpu_pointer(p), bytes);
}

static enum status upload(struct backend *b, dptr to, const void *from, size_t bytes, struct err *e) {
    (void)b;
    (void)e;
    memcpy(cpu_pointer(to), from, bytes);
    return STATUS_OK;
}

static enum status read_back(struct backend *b, void *to, dptr from, size_t bytes, struct err *e) {
    (void)b;
    (void)e;
    memcpy(to, cpu_pointer(from), bytes);
    return STATUS_OK;
}

// Adds n * size bytes to *total at the next aligned offset, which goes to *at.
static bool add_piece(size_t *total, size_t *at, size_t n, size_t size) {
    size_t bytes;
    if (!checked_round_up(*total, ALIGN, at) || !checked_mul(n, size, &bytes)) return false;
    return checked_add(*at, bytes, total);
}

// Offsets of the pieces of scratch.
struct scratch_plan {
    size_t q, scale, scaled_sum, rows, attention, draw;
    size_t delta_windows, delta_rows, delta_c, delta_gates, delta_zeros, delta;
    size_t attention_floats, draw_bytes, delta_floats; // a thread's
    size_t bytes;
};

static bool plan_delta(const struct cpu_backend *c, const struct backend_limits *l, struct scratch_plan *s) {
    struct cpu_delta_sizes d;
    if (!cpu_delta_count(c, l, &d)) return false;
    s->delta_floats = d.scratch;
    return add_piece(&s->bytes, &s->delta_windows, d.rows ? l->slots : 0, sizeof *c->delta_windows) &&
           add_piece(&s->bytes, &s->delta_rows, d.rows, sizeof *c->delta_rows) &&
           add_piece(&s->bytes, &s->delta_c, d.c, sizeof(float)) &&
           add_piece(&s->bytes, &s->delta_gates, d.gates, sizeof(float)) &&
           add_piece(&s->bytes, &s->delta_zeros, d.channels, sizeof(float)) &&
           add_piece(&s->bytes, &s->delta, c->threads, s->delta_floats * sizeof(float));
}

static bool plan_scratch(const struct cpu_backend *c, const struct backend_limits *l, struct scratch_plan *s) {
    struct attention_cache cache = {
        .kv_heads = l->cache.kv_heads, .head_dim = l->cache.head_dim, .value_dim = l->cache.value_dim};
    size_t codes, scales;
    *s = (struct scratch_plan){.attention_floats = attention_scratch_floats(&cache, l->heads, l->n_keys, l->rows)};
    if (!checked_round_up(s->attention_floats, ALIGN / sizeof(float), &s->attention_floats)) return false;
    if (!checked_round_up(draw_scratch_bytes(l->n_ids), ALIGN, &s->draw_bytes)) return false;
    if (!checked_mul(l->rows, l->k, &codes) || !checked_mul(l->rows, ceil_div(l->k, LINEAR_GROUP), &scales))
        return false;
    return add_piece(&s->bytes, &s->q, codes, sizeof *c->q) && //
           add_piece(&s->bytes, &s->scale, scales, sizeof(float)) &&
           add_piece(&s->bytes, &s->scaled_sum, scales, sizeof(float)) &&
           add_piece(&s->bytes, &s->rows, l->rows, sizeof *c->rows) &&
           add_piece(&s->bytes, &s->attention, c->threads, s->attention_floats * sizeof(float)) &&
           add_piece(&s->bytes, &s->draw, c->threads, s->draw_bytes) && plan_delta(c, l, s);
}

static bool scratch_bytes(const struct backend *b, const struct backend_limits *limits, size_t *bytes) {
    struct scratch_plan s;
    if (!plan_scratch((const struct cpu_backend *)b, limits, &s)) return false;
    *bytes = s.bytes;
    return true;
}

static enum status reserve(struct backend *b, const struct backend_limits *limits, struct err *e) {
    struct cpu_backend *c = cpu_of(b);
    struct scratch_plan s;
    if (!plan_scratch(c, limits, &s)) {
        return err_set(e, STATUS_TOO_LARGE, "a forward of %u rows needs more scratch than fits", limits->rows);
    }
    uint8_t *p = mem_map(s.bytes);
    if (!p) return err_set(e, STATUS_NO_MEMORY, "no memory for scratch: %zu bytes", s.bytes);
    mem_unmap(c->scratch, c->scratch_bytes);
    c->scratch = p;
    c->scratch_bytes = s.bytes;
    c->q = (int16_t *)(p + s.q);
    c->scale = (float *)(p + s.scale);
    c->scaled_sum = (float *)(p + s.scaled_sum);
    c->rows = (struct attention_row *)(p + s.rows);
    c->attention_scratch = (float *)(p + s.attention);
    c->attention_floats = s.attention_floats;
    c->draw_scratch = p + s.draw;
    c->draw_bytes = s.draw_bytes;
    c->delta_windows = (struct delta_window *)(p + s.delta_windows);
    c->delta_rows = (struct delta_row *)(p + s.delta_rows);
    c->delta_c = (float *)(p + s.delta_c);
    c->delta_gates = (float *)(p + s.delta_gates);
    c->delta_zeros = (float *)(p + s.delta_zeros);
    c->delta_scratch = (float *)(p + s.delta);
    c->delta_scratch_floats = s.delta_floats;
    return STATUS_OK;
}

static const struct backend_ops ops = {
    .name = "cpu",
    .arithmetic = "cpu-1",
    .page_slots = ATTENTION_PAGE,
    .rows_default = ROWS_DEFAULT,
    .close = close_backend,
    .describe = describe,
    .memory_available = memory_available,
    .alloc = alloc_memory,
    .release = release_memory,
    .upload = upload,
    .read = read_back,
    .scratch_bytes = scratch_bytes,
    .reserve = reserve,
    .weight_bytes = cpu_weight_bytes,
    .pack = cpu_pack,
    .embed = cpu_embed,
    .norm = cpu_norm,
    .linear = cpu_linear,
    .rope_rows = cpu_rope_rows,
    .rope = cpu_rope,
    .store = cpu_store,
    .load = cpu_load,
    .attention = cpu_attention,
    .move = cpu_move,
    .swiglu = cpu_swiglu,
    .norm_gated = cpu_norm_gated,
    .gate = cpu_gate,
    .delta = cpu_delta,
    .gather = cpu_gather,
    .draw = cpu_draw,
    .read_bandwidth = cpu_read_bandwidth,
};

enum status backend_open_cpu(const struct backend_options *options, struct backend **out, struct err *e) {
    if (!isa_available(options->isa)) {
        return err_set(e, STATUS_UNSUPPORTED, "this processor lacks %s", isa_name(options->isa));
    }
    struct cpu_backend *c = mem_new(1, sizeof *c);
    if (!c) return err_set(e, STATUS_NO_MEMORY, "no memory for the cpu backend");
    c->base.ops = &ops;
    c->threads = options->threads ? options->threads : cpu_count();
    c->isa = options->isa;
    for (int f = 0; f < LINEAR_FORMAT_COUNT; f++) c->linear[f] = linear_select((enum linear_format)f, c->isa);
    c->quantise = linear_quantise_select(c->isa);
    c->norm = norm_rms_select(c->isa);
    c->norm_gated = norm_gated_select(c->isa);
    c->gate = gate_sigmoid_select(c->isa);
    c->conv = conv_silu_select(c->isa);
    c->delta_prepare = delta_prepare_select(c->isa);
    c->delta_step = delta_step_select(c->isa);
    c->rope = rope_select(c->isa);
    c->swiglu = swiglu_select(c->isa);
    c->attention = attention_select(c->isa);
    enum status status = pool_open(c->threads, &c->pool, e);
    if (status != STATUS_OK) {
        mem_free(c);
        return status;
    }
    *out = &c->base;
    return STATUS_OK;
}

struct rows_job {
    cpu_rows_fn *fn;
    void *context;
    uint32_t rows;
};

static void rows_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    const struct rows_job *j = context;
    uint32_t begin = (uint32_t)((uint64_t)j->rows * part / parts);
    uint32_t end = (uint32_t)((uint64_t)j->rows * (part + 1) / parts);
    j->fn(j->context, begin, end, worker);
}

void cpu_for_rows(struct cpu_backend *c, cpu_rows_fn *fn, void *context, uint32_t rows, uint64_t row_cost) {
    enum { WORTH_WAKING = 4000, PARTS_A_THREAD = 4 }; // nanoseconds that a job saves at least on two threads
    if (c->threads == 1 || rows == 1 || rows * row_cost < WORTH_WAKING) {
        if (rows) fn(context, 0, rows, 0);
        return;
    }
    struct rows_job job = {fn, context, rows};
    uint32_t parts = c->threads * PARTS_A_THREAD;
    pool_run(c->pool, rows_part, &job, parts < rows ? parts : rows);
}
