// The forward: walks the steps of every layer over the backend's ops, then the head for rows with outputs.
#include "model/loaded.h"

#include <math.h>

// What a step works on.
struct pass {
    struct loaded *m;
    struct backend *b;
    uint32_t layer;
    uint32_t rows;
    uint32_t hidden, q, kv, intermediate, heads, kv_heads, head, pairs;
    uint32_t values, v_heads, v_head; // of the delta rule
};

typedef void step_fn(const struct pass *p);

static dptr work_at(const struct pass *p, size_t offset) { return dptr_at(p->m->work, offset); }

static const struct weight *weight_of(const struct pass *p, enum role role) {
    return &p->m->weight[bind_slot(role, p->layer)];
}

static void norm(const struct pass *p, enum role role, size_t from, size_t to, uint32_t rows) {
    p->b->ops->norm(p->b, &(struct op_norm){.x = work_at(p, from),
                                            .y = work_at(p, to),
                                            .w = weight_of(p, role)->vector,
                                            .rows = rows,
                                            .n = p->hidden,
                                            .ldx = p->hidden,
                                            .ldy = p->hidden,
                                            .eps = p->m->arch.norm_eps});
}

static void mixer_norm(const struct pass *p) {
    norm(p, ROLE_MIXER_NORM, p->m->plan.work.hidden, p->m->plan.work.normed, p->rows);
}

static void mlp_norm(const struct pass *p) {
    norm(p, ROLE_MLP_NORM, p->m->plan.work.hidden, p->m->plan.work.normed, p->rows);
}

// A query row: the queries of all heads, behind them their gates where the family has gates.
static uint32_t ldq(const struct pass *p) { return weight_of(p, ROLE_Q)->linear.n; }

static void qkv(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->linear(
        p->b, &(struct op_linear){.x = work_at(p, w->normed),
                                  .rows = p->rows,
                                  .ldx = p->hidden,
                                  .n_products = 3,
                                  .product = {
                                      {.w = &weight_of(p, ROLE_Q)->linear, .y = work_at(p, w->q), .ldy = ldq(p)},
                                      {.w = &weight_of(p, ROLE_K)->linear, .y = work_at(p, w->k), .ldy = p->kv},
                                      {.w = &weight_of(p, ROLE_V)->linear, .y = work_at(p, w->v), .ldy = p->kv},
                                  }});
}

static void head_norm(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    struct op_norm op = {.x = work_at(p, w->q),
                         .y = work_at(p, w->q),
                         .w = weight_of(p, ROLE_Q_NORM)->vector,
                         .rows = p->rows,
                         .n = p->head,
                         .groups = p->heads,
                         .ldx = ldq(p),
                         .ldy = ldq(p),
                         .eps = p->m->arch.norm_eps};
    p->b->ops->norm(p->b, &op);
    op.x = op.y = work_at(p, w->k);
    op.w = weight_of(p, ROLE_K_NORM)->vector;
    op.groups = p->kv_heads;
    op.ldx = op.ldy = p->kv;
    p->b->ops->norm(p->b, &op);
}

static void rope(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    struct op_rope op = {.x = work_at(p, w->q),
                         .cosine = work_at(p, w->cosine),
                         .sine = work_at(p, w->sine),
                         .rows = p->rows,
                         .ldx = ldq(p),
                         .heads = p->heads,
                         .head_dim = p->head,
                         .dims = 2 * p->pairs};
    p->b->ops->rope(p->b, &op);
    op.x = work_at(p, w->k);
    op.ldx = p->kv;
    op.heads = p->kv_heads;
    p->b->ops->rope(p->b, &op);
}

// The paged cache of the layer.
static const struct backend_cache *cache_of(const struct pass *p) {
    return &p->m->layer_cache[p->m->arch.layer_place[p->layer]];
}

static void store(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->store(p->b, &(struct op_store){.cache = cache_of(p),
                                              .rows = &p->m->round.rows,
                                              .keys = work_at(p, w->k),
                                              .values = work_at(p, w->v),
                                              .ldk = p->kv,
                                              .ldv = p->kv});
}

static void attend(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->attention(p->b, &(struct op_attention){.cache = cache_of(p),
                                                      .rows = &p->m->round.rows,
                                                      .q = work_at(p, w->q),
                                                      .y = work_at(p, w->mixed),
                                                      .ldq = ldq(p),
                                                      .ldy = p->q,
                                                      .heads = p->heads,
                                                      .scale = (float)(1.0 / sqrt((double)p->head))});
}

static void out_gate(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->gate(p->b, &(struct op_gate){.x = work_at(p, w->mixed),
                                            .gate = work_at(p, w->q + p->q * sizeof(float)),
                                            .y = work_at(p, w->mixed),
                                            .rows = p->rows,
                                            .n = p->q,
                                            .ldx = p->q,
                                            .ldgate = ldq(p),
                                            .ldy = p->q});
}

static void delta_project(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    const struct backend_weight *u = &weight_of(p, ROLE_DELTA_U)->linear, *z = &weight_of(p, ROLE_DELTA_GATE)->linear;
    const struct backend_weight *a = &weight_of(p, ROLE_DELTA_A)->linear, *b = &weight_of(p, ROLE_DELTA_B)->linear;
    p->b->ops->linear(p->b, &(struct op_linear){.x = work_at(p, w->normed),
                                                .rows = p->rows,
                                                .ldx = p->hidden,
                                                .n_products = 4,
                                                .product = {{.w = u, .y = work_at(p, w->u), .ldy = u->n},
                                                            {.w = z, .y = work_at(p, w->z), .ldy = z->n},
                                                            {.w = a, .y = work_at(p, w->a), .ldy = a->n},
                                                            {.w = b, .y = work_at(p, w->b), .ldy = b->n}}});
}

static void delta(const struct pass *p) { recurrent_run(p->m, p->layer); }

static void delta_norm(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->norm_gated(p->b, &(struct op_norm_gated){.x = work_at(p, w->mixed),
                                                        .gate = work_at(p, w->z),
                                                        .y = work_at(p, w->mixed),
                                                        .w = weight_of(p, ROLE_DELTA_NORM)->vector,
                                                        .rows = p->rows,
                                                        .n = p->v_head,
                                                        .groups = p->v_heads,
                                                        .ldx = p->values,
                                                        .ldgate = p->values,
                                                        .ldy = p->values,
                                                        .eps = p->m->arch.norm_eps});
}

// hidden += product of the rows at x
static void add_product(const struct pass *p, enum role role, size_t x) {
    const struct backend_weight *w = &weight_of(p, role)->linear;
    dptr hidden = work_at(p, p->m->plan.work.hidden);
    p->b->ops->linear(p->b,
                      &(struct op_linear){.x = work_at(p, x),
                                          .rows = p->rows,
                                          .ldx = w->k,
                                          .n_products = 1,
                                          .product = {{.w = w, .y = hidden, .residual = hidden, .ldy = p->hidden}}});
}

static void out(const struct pass *p) { add_product(p, ROLE_O, p->m->plan.work.mixed); }
static void down(const struct pass *p) { add_product(p, ROLE_DOWN, p->m->plan.work.gate); }

static void gate_up(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    uint32_t ld = p->intermediate;
    p->b->ops->linear(
        p->b, &(struct op_linear){.x = work_at(p, w->normed),
                                  .rows = p->rows,
                                  .ldx = p->hidden,
                                  .n_products = 2,
                                  .product = {
                                      {.w = &weight_of(p, ROLE_GATE)->linear, .y = work_at(p, w->gate), .ldy = ld},
                                      {.w = &weight_of(p, ROLE_UP)->linear, .y = work_at(p, w->up), .ldy = ld},
                                  }});
}

static void swiglu(const struct pass *p) {
    const struct plan_work *w = &p->m->plan.work;
    p->b->ops->swiglu(p->b, &(struct op_swiglu){.gate = work_at(p, w->gate),
                                                .up = work_at(p, w->up),
                                                .y = work_at(p, w->gate),
                                                .rows = p->rows,
                                                .n = p->intermediate,
                                                .ld = p->intermediate});
}

static step_fn *const steps[STEP_COUNT] = {
    [STEP_MIXER_NORM] = mixer_norm,
    [STEP_QKV] = qkv,
    [STEP_HEAD_NORM] = head_norm,
    [STEP_ROPE] = rope,
    [STEP_STORE] = store,
    [STEP_ATTEND] = attend,
    [STEP_OUT_GATE] = out_gate,
    [STEP_DELTA_PROJECT] = delta_project,
    [STEP_DELTA] = delta,
    [STEP_DELTA_NORM] = delta_norm,
    [STEP_OUT] = out,
    [STEP_MLP_NORM] = mlp_norm,
    [STEP_GATE_UP] = gate_up,
    [STEP_SWIGLU] = swiglu,
    [STEP_DOWN] = down,
};

static const struct weight *embedding(const struct loaded *m) { return &m->weight[bind_slot(ROLE_EMBED, 0)]; }

static void enter(const struct pass *p) {
    const struct loaded *m = p->m;
    p->b->ops->embed(p->b, &(struct op_embed){.w = &embedding(m)->linear,
                                              .ids = m->round.ids,
                                              .rows = p->rows,
                                              .ldy = p->hidden,
                                              .y = work_at(p, m->plan.work.hidden)});
    p->b->ops->rope_rows(p->b, &(struct op_rope_rows){.positions = m->round.positions,
                                                      .inverse = m->inverse,
                                                      .rows = p->rows,
                                                      .n = p->pairs,
                                                      .scale = 1,
                                                      .cosine = work_at(p, m->plan.work.cosine),
                                                      .sine = work_at(p, m->plan.work.sine)});
}

// Only rows with outputs pass the final norm, the head and the draw.
static void leave(const struct pass *p) {
    struct loaded *m = p->m;
    const struct round_state *r = &m->round;
    const struct plan_work *w = &m->plan.work;
    const struct weight *head = m->arch.tied ? embedding(m) : &m->weight[bind_slot(ROLE_HEAD, 0)];
    uint32_t vocab = m->base.geometry.vocab;
    if (r->n_outputs == 0) return;
    p->b->ops->gather(p->b, &(struct op_gather){.x = work_at(p, w->hidden),
                                                .y = work_at(p, w->gathered),
                                                .rows_at = r->output_row,
                                                .rows = r->n_outputs,
                                                .n = p->hidden,
                                                .ldx = p->hidden,
                                                .ldy = p->hidden});
    norm(p, ROLE_FINAL_NORM, w->gathered, w->gathered, r->n_outputs);
    p->b->ops->linear(
        p->b, &(struct op_linear){.x = work_at(p, w->gathered),
                                  .rows = r->n_outputs,
                                  .ldx = p->hidden,
                                  .n_products = 1,
                                  .product = {{.w = &head->linear, .y = work_at(p, w->logits), .ldy = vocab}}});
    if (r->n_drawn == 0) return;
    p->b->ops->draw(p->b, &(struct op_draw){.logits = work_at(p, w->logits),
                                            .ids = work_at(p, w->ids),
                                            .rows = r->n_drawn,
                                            .ld = vocab,
                                            .rules = r->rules,
                                            .token_index = r->token_index});
}

void forward_run(struct loaded *m) {
    const uint64_t *d = m->arch.dim;
    struct pass p = {.m = m,
                     .b = m->backend,
                     .rows = m->round.rows.n,
                     .hidden = (uint32_t)d[DIM_HIDDEN],
                     .q = (uint32_t)d[DIM_Q],
                     .kv = (uint32_t)d[DIM_KV],
                     .intermediate = (uint32_t)d[DIM_INTERMEDIATE],
                     .heads = (uint32_t)d[DIM_HEADS],
                     .kv_heads = (uint32_t)d[DIM_KV_HEADS],
                     .head = (uint32_t)d[DIM_HEAD],
                     .pairs = (uint32_t)d[DIM_ROPE_PAIRS],
                     .values = (uint32_t)d[DIM_DELTA_VALUES],
                     .v_heads = (uint32_t)d[DIM_DELTA_V_HEADS],
                     .v_head = (uint32_t)d[DIM_DELTA_V]};
    enter(&p);
    for (p.layer = 0; p.layer < d[DIM_LAYERS]; p.layer++) {
        const struct arch_layer *layer = &m->arch.family->layers[m->arch.layer_kind[p.layer]];
        for (uint32_t i = 0; i < layer->n_steps; i++) steps[layer->steps[i]](&p);
    }
    leave(&p);
}
