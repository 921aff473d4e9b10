// Sizes first, all of them checked; model_inspect and model_open read the same plan.
#include "model/plan.h"

#include "base/checked.h"
#include "base/mem.h"

enum { ALIGN = 64, OUTPUTS_MAX = 64 };

// Reserves n * size bytes behind *total at an aligned offset.
static bool add(size_t *total, size_t *at, uint64_t n, size_t size) {
    size_t bytes;
    return checked_round_up(*total, ALIGN, at) && checked_mul(n, size, &bytes) && checked_add(*at, bytes, total);
}

static enum status check_vector(const struct checkpoint *c, const struct tensor *t, struct err *e) {
    if (t->dtype == DTYPE_F32 || t->dtype == DTYPE_F16 || t->dtype == DTYPE_BF16) return STATUS_OK;
    return err_set(e, STATUS_UNSUPPORTED, "tensor %s in %s: %s cannot hold a vector here", t->name,
                   checkpoint_file_name(c, t->file), dtype_name(t->dtype));
}

static enum status place_weight(const struct checkpoint *c, const struct bound *bound, struct backend *b,
                                struct plan *p, struct plan_place *place, struct err *e) {
    const struct tensor *t = bound->weight;
    if (bind_is_vector(bound->spec)) {
        TRY(check_vector(c, t, e));
        place->weight_bytes = (size_t)bind_n_values(t) * sizeof(float);
    } else {
        enum status status =
            b->ops->weight_bytes(b, t->dtype, t->shape[0], t->shape[1], t->name, &place->weight_bytes, e);
        if (status != STATUS_OK) {
            err_prefix(e, "%s", checkpoint_file_name(c, t->file));
            return status;
        }
    }
    if (bound->bias) {
        TRY(check_vector(c, bound->bias, e));
        place->bias_bytes = (size_t)bound->bias->shape[0] * sizeof(float);
    }
    if (add(&p->weight_bytes, &place->weight_at, place->weight_bytes, 1) &&
        add(&p->weight_bytes, &place->bias_at, place->bias_bytes, 1)) {
        return STATUS_OK;
    }
    return err_set(e, STATUS_TOO_LARGE, "tensor %s: the weights are too large to count", t->name);
}

static bool has_step(const struct arch *a, enum step step) {
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        const struct arch_layer *l = &a->family->layers[kind];
        for (uint32_t i = 0; i < l->n_steps; i++) {
            if (l->steps[i] == step) return true;
        }
    }
    return false;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool plan_work(const struct arch *a, struct plan *p) {
    struct plan_work *w = &p->work;
    const uint64_t rows = p->rows_max, outputs = p->outputs_max, *d = a->dim;
    const struct {
        size_t *to;
        uint64_t rows, columns;
    } pieces[] = {
        {&w->hidden, rows, d[DIM_HIDDEN]},
        {&w->normed, rows, d[DIM_HIDDEN]},
        {&w->q, rows, has_step(a, STEP_OUT_GATE) ? d[DIM_Q_GATED] : d[DIM_Q]},
        {&w->k, rows, d[DIM_KV]},
        {&w->v, rows, d[DIM_KV]},
        {&w->u, rows, d[DIM_DELTA_CHANNELS]},
        {&w->z, rows, d[DIM_DELTA_VALUES]},
        {&w->a, rows, d[DIM_DELTA_V_HEADS]},
        {&w->b, rows, d[DIM_DELTA_V_HEADS]},
        {&w->mixed, rows, larger(d[DIM_Q], d[DIM_DELTA_VALUES])},
        {&w->gate, rows, d[DIM_INTERMEDIATE]},
        {&w->up, rows, d[DIM_INTERMEDIATE]},
        {&w->cosine, rows, d[DIM_ROPE_PAIRS]},
        {&w->sine, rows, d[DIM_ROPE_PAIRS]},
        {&w->gathered, outputs, d[DIM_HIDDEN]},
        {&w->logits, outputs, d[DIM_VOCAB]},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        uint64_t n;
        if (__builtin_mul_overflow(pieces[i].rows, pieces[i].columns, &n)) return false;
        if (!add(&w->bytes, pieces[i].to, n, sizeof(float))) return false;
    }
    return add(&w->bytes, &w->ids, outputs, sizeof(int32_t));
}

// bytes = n * size, rounded up so that what follows is aligned.
static bool region(uint64_t n, size_t size, size_t *bytes) {
    return checked_mul(n, size, bytes) && checked_round_up(*bytes, ALIGN, bytes);
}

// Recurrent memory, in the shapes of struct backend_delta.
static bool plan_state(const struct arch *a, struct plan *p) {
    const uint64_t *d = a->dim, slots = p->n_slots, channels = d[DIM_DELTA_CHANNELS];
    size_t layer;
    if (!a->n_kind[LAYER_DELTA]) return true;
    if (!region(slots * (d[DIM_DELTA_TAPS] - 1), channels * sizeof(float), &p->conv_bytes)) return false;
    if (!checked_mul(d[DIM_DELTA_VALUES], d[DIM_DELTA_K] * sizeof(float), &layer)) return false;
    if (!region(slots, layer, &p->delta_bytes)) return false;
    size_t held_row = (channels + 2 * d[DIM_DELTA_V_HEADS]) * sizeof(float);
    if (!region(slots * p->limits.delta.held_rows, held_row, &p->held_bytes)) return false;
    if (!checked_add(p->conv_bytes, p->delta_bytes, &layer) || !checked_add(layer, p->held_bytes, &layer)) return false;
    return checked_mul(layer, a->n_kind[LAYER_DELTA], &p->state_bytes);
}

// Fills what depends on the context. False when it cannot even be counted.
static bool plan_context(const struct arch *a, struct backend *b, uint64_t context, struct plan *p) {
    size_t page, layers, slots, cache, total;
    uint64_t pages = ceil_div(context, b->ops->page_slots);
    if (pages == 0 || pages > INT32_MAX / p->n_slots) return false;
    p->context = context;
    p->n_pages = (uint32_t)pages * p->n_slots;
    p->limits.n_keys = (uint32_t)pages * b->ops->page_slots;
    slots = b->ops->page_slots;
    if (!checked_mul(a->dim[DIM_KV] * slots, sizeof(float), &p->key_page_bytes)) return false;
    p->value_page_bytes = p->key_page_bytes;
    if (!checked_add(p->key_page_bytes, p->value_page_bytes, &page)) return false;
    if (!checked_mul(page, a->n_kind[LAYER_ATTENTION], &layers)) return false;
    if (!checked_mul(layers, p->n_pages, &cache)) return false;
    p->cache_bytes = cache;
    if (!b->ops->scratch_bytes(b, &p->limits, &p->scratch_bytes)) return false;
    if (!checked_add(p->weight_bytes, p->work.bytes, &total) || !checked_add(total, cache, &total)) return false;
    if (!checked_add(total, p->state_bytes, &total)) return false;
    return checked_add(total, p->scratch_bytes, &p->total_bytes);
}

static bool fits(const struct arch *a, struct backend *b, uint64_t context, uint64_t available, struct plan *p) {
    return plan_context(a, b, context, p) && p->total_bytes <= available;
}

// The largest context up to `most` that fits; 0 when none does. A larger budget never gives a smaller one.
static uint64_t largest_context(const struct arch *a, struct backend *b, uint64_t most, uint64_t available,
                                struct plan *p) {
    if (fits(a, b, most, available, p)) return most;
    uint64_t low = 0, high = ceil_div(most, b->ops->page_slots); // pages; high is known not to fit
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (fits(a, b, middle * b->ops->page_slots, available, p))
            low = middle;
        else
            high = middle;
    }
    return low * b->ops->page_slots;
}

static enum status choose_context(const struct checkpoint *c, const struct arch *a, struct backend *b,
                                  const struct model_options *options, struct plan *p, struct err *e) {
    uint64_t own = a->dim[DIM_CONTEXT], wanted = options->context ? options->context : own;
    uint64_t available = options->memory_limit_bytes ? options->memory_limit_bytes : b->ops->memory_available(b);
    if (available == 0) available = UINT64_MAX;
    if (wanted > own) {
        return err_set(e, STATUS_INVALID, "a context of %llu tokens: %s has %llu", (unsigned long long)wanted,
                       checkpoint_path(c), (unsigned long long)own);
    }
    uint64_t most = options->context ? 0 : largest_context(a, b, own, available, p);
    if (most) wanted = most;
    if (fits(a, b, wanted, available, p)) return STATUS_OK;
    uint64_t least = options->context ? wanted : b->ops->page_slots;
    if (!plan_context(a, b, least, p))
        return err_set(e, STATUS_TOO_LARGE, "%llu tokens are too many to plan for", (unsigned long long)least);
    return err_set(e, STATUS_NO_MEMORY, "%s needs %llu MB for %llu tokens of context, %llu MB are available",
                   checkpoint_path(c), (unsigned long long)(p->total_bytes >> 20), (unsigned long long)least,
                   (unsigned long long)(available >> 20));
}

static void plan_limits(const struct arch *a, struct plan *p) {
    const uint64_t *d = a->dim;
    uint64_t k = larger(larger(d[DIM_HIDDEN], d[DIM_INTERMEDIATE]), larger(d[DIM_Q], d[DIM_DELTA_VALUES]));
    p->limits = (struct backend_limits){.rows = p->rows_max,
                                        .k = (uint32_t)k,
                                        .heads = (uint32_t)d[DIM_HEADS],
                                        .n_ids = (uint32_t)d[DIM_VOCAB],
                                        .cache = {.kv_heads = (uint32_t)d[DIM_KV_HEADS],
                                                  .head_dim = (uint32_t)d[DIM_HEAD],
                                                  .value_dim = (uint32_t)d[DIM_HEAD]},
                                        .slots = p->n_slots};
    if (!a->n_kind[LAYER_DELTA]) return;
    p->limits.delta = (struct backend_delta){.taps = (uint32_t)d[DIM_DELTA_TAPS],
                                             .k_heads = (uint32_t)d[DIM_DELTA_K_HEADS],
                                             .v_heads = (uint32_t)d[DIM_DELTA_V_HEADS],
                                             .k_dim = (uint32_t)d[DIM_DELTA_K],
                                             .v_dim = (uint32_t)d[DIM_DELTA_V],
                                             .held_rows = p->window_rows - 1};
}

// A state that cannot be cut back holds what it needs of a window's drafts, so that its rows are planned.
static void plan_window(const struct arch *a, const struct model_options *options, struct plan *p) {
    if (!a->n_kind[LAYER_DELTA]) return;
    p->window_rows = options->window_rows ? options->window_rows : 1;
    if (p->window_rows > p->rows_max) p->window_rows = p->rows_max;
}

enum status plan_make(const struct checkpoint *c, const struct arch *a, const struct binding *binding,
                      struct backend *b, const struct model_options *options, struct plan *out, struct err *e) {
    struct plan p = {.n_slots = options->n_slots ? options->n_slots : 1,
                     .rows_max = options->rows_max ? options->rows_max : b->ops->rows_default};
    if (p.n_slots > 4096 || p.rows_max > 1 << 16) {
        return err_set(e, STATUS_INVALID, "%u streams with %u rows a round are too many", p.n_slots, p.rows_max);
    }
    uint64_t held = p.n_slots * (options->context ? options->context : a->dim[DIM_CONTEXT]);
    if (p.rows_max > held) p.rows_max = (uint32_t)held; // a round never has more rows than all streams hold tokens
    p.outputs_max = p.rows_max < OUTPUTS_MAX ? p.rows_max : OUTPUTS_MAX;
    p.place = mem_new(binding->n, sizeof *p.place);
    if (!p.place) return err_set(e, STATUS_NO_MEMORY, "no memory to plan %zu weights", binding->n);
    plan_window(a, options, &p);
    plan_limits(a, &p);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < binding->n && status == STATUS_OK; i++) {
        status = place_weight(c, &binding->bound[i], b, &p, &p.place[i], e);
    }
    if (status == STATUS_OK && !(plan_work(a, &p) && plan_state(a, &p))) {
        status = err_set(e, STATUS_TOO_LARGE, "a round of %u rows is too large to plan for", p.rows_max);
    }
    if (status == STATUS_OK) status = choose_context(c, a, b, options, &p, e);
    if (status == STATUS_OK)
        *out = p;
    else
        plan_free(&p);
    return status;
}

void plan_free(struct plan *p) {
    mem_free(p->place);
    p->place = NULL;
}

size_t plan_cache_token_bytes(const struct plan *p, const struct arch *a, const struct backend *b) {
    return (size_t)a->n_kind[LAYER_ATTENTION] * (p->key_page_bytes + p->value_page_bytes) / b->ops->page_slots;
}
