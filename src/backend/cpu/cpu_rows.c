// The CPU ops in which every row stands alone: norms, rotary positions, gates, gathering and drawing.
#include "backend/cpu/cpu_backend.h"

#include <string.h>

// Rough costs a value in nanoseconds, only to decide whether waking the pool pays.
enum { COST_NORM = 1, COST_ROPE = 1, COST_ANGLE = 60, COST_SIGMOID = 2, COST_DRAW = 1 };

// Units are the vectors of all rows: `begin` becomes the next row's first, and what is left of this row is counted.
struct stretch {
    size_t row;
    uint32_t first, n; // vectors of the row
};

static struct stretch stretch_next(uint32_t *begin, uint32_t end, uint32_t groups) {
    struct stretch s = {.row = *begin / groups, .first = *begin % groups};
    s.n = groups - s.first < end - *begin ? groups - s.first : end - *begin;
    *begin += s.n;
    return s;
}

struct norm_job {
    norm_rms_fn *fn;
    struct norm_rms_args args; // of row 0; vectors lie n apart
    uint32_t groups, ldx, ldy;
};

static void norm_units(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct norm_job *j = context;
    (void)worker;
    while (begin < end) {
        struct stretch s = stretch_next(&begin, end, j->groups);
        struct norm_rms_args args = j->args;
        args.x += s.row * j->ldx;
        args.y += s.row * j->ldy;
        j->fn(&args, s.first, s.first + s.n);
    }
}

void cpu_norm(struct backend *b, const struct op_norm *op) {
    struct cpu_backend *c = cpu_of(b);
    struct norm_job j = {.fn = c->norm,
                         .args = {.x = cpu_pointer(op->x),
                                  .y = cpu_pointer(op->y),
                                  .w = cpu_pointer(op->w),
                                  .n = op->n,
                                  .ldx = op->n,
                                  .ldy = op->n,
                                  .eps = op->eps},
                         .groups = op->groups ? op->groups : 1,
                         .ldx = op->ldx,
                         .ldy = op->ldy};
    cpu_for_rows(c, norm_units, &j, op->rows * j.groups, (uint64_t)op->n * COST_NORM);
}

struct norm_gated_job {
    norm_gated_fn *fn;
    struct norm_gated_args args; // of row 0; vectors lie n apart
    uint32_t groups, ldx, ldgate, ldy;
};

static void norm_gated_units(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct norm_gated_job *j = context;
    (void)worker;
    while (begin < end) {
        struct stretch s = stretch_next(&begin, end, j->groups);
        struct norm_gated_args args = j->args;
        args.x += s.row * j->ldx;
        args.gate += s.row * j->ldgate;
        args.y += s.row * j->ldy;
        j->fn(&args, s.first, s.first + s.n);
    }
}

void cpu_norm_gated(struct backend *b, const struct op_norm_gated *op) {
    struct cpu_backend *c = cpu_of(b);
    struct norm_gated_job j = {.fn = c->norm_gated,
                               .args = {.x = cpu_pointer(op->x),
                                        .gate = cpu_pointer(op->gate),
                                        .y = cpu_pointer(op->y),
                                        .w = cpu_pointer(op->w),
                                        .n = op->n,
                                        .ldx = op->n,
                                        .ldgate = op->n,
                                        .ldy = op->n,
                                        .eps = op->eps},
                               .groups = op->groups ? op->groups : 1,
                               .ldx = op->ldx,
                               .ldgate = op->ldgate,
                               .ldy = op->ldy};
    cpu_for_rows(c, norm_gated_units, &j, op->rows * j.groups, (uint64_t)op->n * COST_SIGMOID);
}

struct gate_job {
    gate_sigmoid_fn *fn;
    struct gate_sigmoid_args args;
};

static void gate_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct gate_job *j = context;
    (void)worker;
    j->fn(&j->args, begin, end);
}

void cpu_gate(struct backend *b, const struct op_gate *op) {
    struct cpu_backend *c = cpu_of(b);
    struct gate_job j = {c->gate,
                         {.x = cpu_pointer(op->x),
                          .gate = cpu_pointer(op->gate),
                          .y = cpu_pointer(op->y),
                          .n = op->n,
                          .ldx = op->ldx,
                          .ldgate = op->ldgate,
                          .ldy = op->ldy}};
    cpu_for_rows(c, gate_rows, &j, op->rows, (uint64_t)op->n * COST_SIGMOID);
}

static void angle_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct op_rope_rows *op = context;
    float *cosine = cpu_pointer(op->cosine), *sine = cpu_pointer(op->sine);
    (void)worker;
    for (uint32_t r = begin; r < end; r++) {
        size_t at = (size_t)r * op->n;
        rope_row(op->positions[r], op->inverse, op->n, op->scale, cosine + at, sine + at);
    }
}

void cpu_rope_rows(struct backend *b, const struct op_rope_rows *op) {
    struct op_rope_rows job = *op;
    cpu_for_rows(cpu_of(b), angle_rows, &job, op->rows, (uint64_t)op->n * COST_ANGLE);
}

struct rope_job {
    rope_fn *fn;
    struct rope_args args;
};

static void rope_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct rope_job *j = context;
    (void)worker;
    j->fn(&j->args, begin, end);
}

void cpu_rope(struct backend *b, const struct op_rope *op) {
    struct cpu_backend *c = cpu_of(b);
    struct rope_job j = {c->rope,
                         {.x = cpu_pointer(op->x),
                          .ldx = op->ldx,
                          .heads = op->heads,
                          .head_dim = op->head_dim,
                          .dims = op->dims,
                          .cosine = cpu_pointer(op->cosine),
                          .sine = cpu_pointer(op->sine)}};
    cpu_for_rows(c, rope_rows, &j, op->rows, (uint64_t)op->heads * op->dims * COST_ROPE);
}

struct swiglu_job {
    swiglu_fn *fn;
    struct swiglu_args args;
};

static void swiglu_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct swiglu_job *j = context;
    (void)worker;
    j->fn(&j->args, begin, end);
}

void cpu_swiglu(struct backend *b, const struct op_swiglu *op) {
    struct cpu_backend *c = cpu_of(b);
    struct swiglu_job j = {c->swiglu,
                           {.gate = cpu_pointer(op->gate),
                            .up = cpu_pointer(op->up),
                            .y = cpu_pointer(op->y),
                            .n = op->n,
                            .ld = op->ld}};
    cpu_for_rows(c, swiglu_rows, &j, op->rows, (uint64_t)op->n * COST_SIGMOID);
}

void cpu_gather(struct backend *b, const struct op_gather *op) {
    const float *x = cpu_pointer(op->x);
    float *y = cpu_pointer(op->y);
    (void)b;
    for (uint32_t i = 0; i < op->rows; i++) {
        memcpy(y + (size_t)i * op->ldy, x + (size_t)op->rows_at[i] * op->ldx, op->n * sizeof *y);
    }
}

struct draw_job {
    const struct cpu_backend *c;
    struct op_draw op;
};

static void draw_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct draw_job *j = context;
    const float *logits = cpu_pointer(j->op.logits);
    int32_t *ids = cpu_pointer(j->op.ids);
    void *scratch = j->c->draw_scratch + worker * j->c->draw_bytes;
    for (uint32_t r = begin; r < end; r++) {
        ids[r] = draw_token(j->op.rules[r], logits + (size_t)r * j->op.ld, j->op.token_index[r], scratch);
    }
}

void cpu_draw(struct backend *b, const struct op_draw *op) {
    struct draw_job j = {cpu_of(b), *op};
    cpu_for_rows(cpu_of(b), draw_rows, &j, op->rows, (uint64_t)op->ld * COST_DRAW);
}
