// Inspecting and opening: settings, binding and plan are the same for both; opening then takes the memory and loads.
#include "model/load.h"

#include "base/mem.h"
#include "kernels/rope/rope.h"
#include "model/loaded.h"
#include "model/settings.h"
#include "model/weights.h"

#include <stdio.h>
#include <string.h>

enum { RADIANS_MAX = 2 }; // that a pair turns a token: angles are exact up to 2^31, contexts go up to 2^30

// What headers alone decide.
struct prepared {
    struct arch arch;
    struct binding binding;
    struct plan plan;
};

// An op that the checkpoint's layers need and the device lacks is refused by the step's place in this table.
static enum status check_steps(const struct backend *b, const struct arch *a, struct err *e) {
    const struct backend_ops *o = b->ops;
    const struct {
        const char *name;
        bool has;
    } needs[STEP_COUNT] = {
        [STEP_MIXER_NORM] = {"norm", o->norm},
        [STEP_QKV] = {"linear", o->linear},
        [STEP_HEAD_NORM] = {"norm", o->norm},
        [STEP_ROPE] = {"rope", o->rope && o->rope_rows},
        [STEP_STORE] = {"store", o->store && o->move && o->load},
        [STEP_ATTEND] = {"attention", o->attention},
        [STEP_OUT_GATE] = {"gate", o->gate},
        [STEP_DELTA_PROJECT] = {"linear", o->linear},
        [STEP_DELTA] = {"delta", o->delta},
        [STEP_DELTA_NORM] = {"norm_gated", o->norm_gated},
        [STEP_OUT] = {"linear", o->linear},
        [STEP_MLP_NORM] = {"norm", o->norm},
        [STEP_GATE_UP] = {"linear", o->linear},
        [STEP_SWIGLU] = {"swiglu", o->swiglu},
        [STEP_DOWN] = {"linear", o->linear},
    };
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        const struct arch_layer *layer = &a->family->layers[kind];
        for (uint32_t i = 0; a->n_kind[kind] && i < layer->n_steps; i++) {
            if (needs[layer->steps[i]].has) continue;
            return err_set(e, STATUS_UNSUPPORTED, "the %s family needs the op %s, which the %s backend lacks",
                           a->family->name, needs[layer->steps[i]].name, o->name);
        }
    }
    return STATUS_OK;
}

static void prepared_free(struct prepared *p) {
    bind_free(&p->binding);
    plan_free(&p->plan);
}

static enum status prepare(const struct checkpoint *c, struct backend *b, const struct model_options *options,
                           struct prepared *p, struct err *e) {
    *p = (struct prepared){0};
    TRY(settings_read(c, &p->arch, e));
    TRY(check_steps(b, &p->arch, e));
    TRY(bind_tensors(c, &p->arch, &p->binding, e));
    enum status status = plan_make(c, &p->arch, &p->binding, b, options, &p->plan, e);
    if (status != STATUS_OK) prepared_free(p);
    return status;
}

static void count_tensor(const struct tensor *t, uint32_t formats[DTYPE_COUNT], struct model_info *info) {
    formats[t->dtype]++;
    info->parameters += bind_n_values(t);
    info->stored_bytes += t->bytes;
}

static void write_formats(const uint32_t formats[DTYPE_COUNT], char *text, size_t cap) {
    size_t n = 0;
    for (int t = 0; t < DTYPE_COUNT && n < cap; t++) {
        if (!formats[t]) continue;
        int written = snprintf(text + n, cap - n, "%s%s %u", n ? ", " : "", dtype_name((enum dtype)t), formats[t]);
        n += written > 0 ? (size_t)written : 0;
    }
}

static void count_binding(const struct prepared *p, struct model_info *info) {
    uint32_t formats[DTYPE_COUNT] = {0};
    for (size_t i = 0; i < p->binding.n; i++) {
        const struct bound *b = &p->binding.bound[i];
        uint64_t bytes = b->weight->bytes + (b->bias ? b->bias->bytes : 0);
        uint64_t packed = p->plan.place[i].weight_bytes + p->plan.place[i].bias_bytes;
        count_tensor(b->weight, formats, info);
        if (b->bias) count_tensor(b->bias, formats, info);
        info->packed_bytes += packed;
        if (b->spec->role == ROLE_EMBED)
            info->embed_bytes += bytes;
        else if (b->spec->role == ROLE_HEAD)
            info->head_bytes += bytes;
        else if (b->spec->role >= ROLE_LAYER_FIRST)
            info->layer_bytes += bytes;
        // A token reads one row of the embedding, or all of it where it is the head.
        if (b->spec->role != ROLE_EMBED || p->arch.tied) info->token_read_bytes += packed;
    }
    write_formats(formats, info->formats, sizeof info->formats);
}

enum status model_inspect(const struct checkpoint *c, struct backend *b, const struct model_options *options,
                          struct model_info *info, struct err *e) {
    struct prepared p;
    TRY(prepare(c, b, options, &p, e));
    const uint64_t *d = p.arch.dim;
    *info = (struct model_info){.family = p.arch.family->name,
                                .vocab = d[DIM_VOCAB],
                                .hidden = d[DIM_HIDDEN],
                                .layers = d[DIM_LAYERS],
                                .heads = d[DIM_HEADS],
                                .kv_heads = d[DIM_KV_HEADS],
                                .head_dim = d[DIM_HEAD],
                                .intermediate = d[DIM_INTERMEDIATE],
                                .attention_layers = p.arch.n_kind[LAYER_ATTENTION],
                                .delta_layers = p.arch.n_kind[LAYER_DELTA],
                                .delta_k_heads = d[DIM_DELTA_K_HEADS],
                                .delta_v_heads = d[DIM_DELTA_V_HEADS],
                                .delta_k_dim = d[DIM_DELTA_K],
                                .delta_v_dim = d[DIM_DELTA_V],
                                .delta_taps = d[DIM_DELTA_TAPS],
                                .context = d[DIM_CONTEXT],
                                .tied = p.arch.tied,
                                .cache_token_bytes = plan_cache_token_bytes(&p.plan, &p.arch, b),
                                .state_bytes = p.plan.state_bytes / p.plan.n_slots,
                                .planned_context = p.plan.context,
                                .cache_bytes = p.plan.cache_bytes,
                                .scratch_bytes = p.plan.work.bytes + p.plan.scratch_bytes,
                                .total_bytes = p.plan.total_bytes,
                                .n_unknown = p.binding.n_unknown,
                                .unknown = p.binding.unknown};
    count_binding(&p, info);
    p.binding.unknown = NULL; // the info's now
    prepared_free(&p);
    return STATUS_OK;
}

void model_info_fini(struct model_info *info) {
    mem_free((void *)info->unknown);
    info->unknown = NULL;
    info->n_unknown = 0;
}

static void set_geometry(struct loaded *m) {
    const struct plan *p = &m->plan;
    m->base.geometry = (struct model_geometry){.vocab = (uint32_t)m->arch.dim[DIM_VOCAB],
                                               .context = (uint32_t)p->context,
                                               .page_tokens = m->backend->ops->page_slots,
                                               .n_pages = p->n_pages,
                                               .n_slots = p->n_slots,
                                               .rows_max = p->rows_max,
                                               .outputs_max = p->outputs_max,
                                               .window_rows = p->window_rows,
                                               .recurrent = m->arch.n_kind[LAYER_DELTA] > 0};
}

static enum status take_region(struct loaded *m, size_t bytes, enum backend_use use, dptr *out, struct err *e) {
    return bytes ? m->backend->ops->alloc(m->backend, bytes, use, out, e) : STATUS_OK;
}

static enum status take_memory(struct loaded *m, struct err *e) {
    const struct plan *p = &m->plan;
    uint32_t attending = m->arch.n_kind[LAYER_ATTENTION];
    m->weight = mem_new(bind_slots(&m->arch), sizeof *m->weight);
    m->layer_cache = mem_new(attending + 1, sizeof *m->layer_cache);
    m->inverse = mem_new(m->arch.dim[DIM_ROPE_PAIRS], sizeof *m->inverse);
    if (!m->weight || !m->layer_cache || !m->inverse) return err_set(e, STATUS_NO_MEMORY, "no memory for the model");
    TRY(round_init(&m->round, p, e));
    TRY(take_region(m, p->weight_bytes, BACKEND_USE_WEIGHTS, &m->weights, e));
    TRY(take_region(m, p->cache_bytes, BACKEND_USE_CACHE, &m->cache, e));
    TRY(take_region(m, p->state_bytes, BACKEND_USE_CACHE, &m->state, e));
    TRY(take_region(m, p->work.bytes, BACKEND_USE_WORK, &m->work, e));
    size_t keys = p->key_page_bytes * p->n_pages, values = p->value_page_bytes * p->n_pages;
    for (uint32_t i = 0; i < attending; i++) {
        m->layer_cache[i] = p->limits.cache;
        m->layer_cache[i].keys = dptr_at(m->cache, i * (keys + values));
        m->layer_cache[i].values = dptr_at(m->cache, i * (keys + values) + keys);
    }
    TRY(recurrent_init(m, e));
    return m->backend->ops->reserve(m->backend, &p->limits, e);
}

// The rotary frequencies: scaled by the settings' rule, divided by the factors that a GGUF file stores.
static enum status make_frequencies(struct loaded *m, const struct binding *binding, struct err *e) {
    const struct arch_rope *rope = &m->arch.rope;
    uint32_t pairs = (uint32_t)m->arch.dim[DIM_ROPE_PAIRS];
    rope_frequencies(rope->theta, rope->dims, m->inverse);
    if (rope->factor > 0) {
        struct rope_llama3 scale = {.factor = rope->factor,
                                    .low_freq_factor = rope->low_freq_factor,
                                    .high_freq_factor = rope->high_freq_factor,
                                    .original_context = rope->original_context};
        rope_scale_llama3(&scale, pairs, m->inverse);
    }
    for (size_t i = 0; i < binding->n; i++) {
        if (binding->bound[i].spec->role != ROLE_ROPE_FACTORS) continue;
        const struct tensor *t = binding->bound[i].weight;
        float *factors = mem_new(pairs, sizeof *factors);
        if (!factors) return err_set(e, STATUS_NO_MEMORY, "no memory for %u rope factors", pairs);
        weights_read_vector(t, factors);
        bool usable = true;
        for (uint32_t j = 0; j < pairs; j++) {
            m->inverse[j] /= (double)factors[j];
            usable = usable && factors[j] > 0 && m->inverse[j] <= RADIANS_MAX;
        }
        mem_free(factors);
        if (!usable) {
            return err_set(e, STATUS_INVALID, "tensor %s: factors must be positive, and not near 0", t->name);
        }
    }
    return STATUS_OK;
}

static void log_loaded(const struct loaded *m, const struct prepared *p, const struct log *log) {
    uint64_t own = m->arch.dim[DIM_CONTEXT];
    if (p->binding.n_unknown) {
        log_line(log, LOG_LEVEL_INFO, "%zu stored tensors are not used, the first is %s", p->binding.n_unknown,
                 p->binding.unknown[0]);
    }
    if (m->plan.context < own) {
        log_line(log, LOG_LEVEL_INFO, "context: %llu tokens of the checkpoint's %llu, for %llu MB of memory",
                 (unsigned long long)m->plan.context, (unsigned long long)own,
                 (unsigned long long)(m->plan.total_bytes >> 20));
    }
}

enum status model_open(const struct checkpoint *c, struct backend *b, const struct model_options *options,
                       const struct log *log, struct model **out, struct err *e) {
    struct prepared p;
    TRY(prepare(c, b, options, &p, e));
    struct loaded *m = mem_new(1, sizeof *m);
    if (!m) {
        prepared_free(&p);
        return err_set(e, STATUS_NO_MEMORY, "no memory for the model");
    }
    *m = (struct loaded){.base = {.ops = &loaded_ops}, .backend = b, .arch = p.arch, .plan = p.plan};
    p.plan.place = NULL; // the model's now
    set_geometry(m);
    enum status status = take_memory(m, e);
    if (status == STATUS_OK) status = make_frequencies(m, &p.binding, e);
    if (status == STATUS_OK) status = weights_load(m, c, &p.binding, e);
    if (status == STATUS_OK) {
        log_loaded(m, &p, log);
        plan_free(&m->plan);
        *out = &m->base;
    } else {
        m->base.ops->close(&m->base);
    }
    prepared_free(&p);
    return status;
}
