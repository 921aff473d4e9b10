// Random products for the checks of the linear kernels.
#include "kernels/linear/linear_check.h"

#include "base/float16.h"
#include "kernels/linear/linear_tile.h"

#include <math.h>
#include <string.h>

static void store16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }

// A random binary16 number of ordinary size, or when `odd`, once in eight times a special one.
static uint16_t random_f16(struct check *c, bool odd) {
    static const uint16_t special[] = {0x7e00, 0x7c00, 0xfc00, 0x0000, 0x8000, 0x0001, 0x83ff, 0x7bff};
    if (odd && check_below(c, 8) == 0) return special[check_below(c, 8)];
    return (uint16_t)(check_below(c, 2) << 15 | (8 + check_below(c, 10)) << 10 | check_below(c, 1024));
}

static float random_f32(struct check *c, bool odd) {
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-40f, -1e-45f, 3e38f};
    if (odd && check_below(c, 64) == 0) return special[check_below(c, 8)];
    return check_real(c);
}

static void fill_row(struct check *c, enum dtype t, uint8_t *row, uint32_t k, bool odd) {
    uint32_t block = dtype_block(t), bytes = dtype_block_bytes(t);
    for (uint32_t i = 0; i < k / block; i++) {
        uint8_t *p = row + (size_t)i * bytes;
        float value = random_f32(c, odd);
        switch (t) {
        case DTYPE_F32: memcpy(p, &value, sizeof value); break;
        case DTYPE_BF16: store16(p, float_to_bf16(value)); break;
        case DTYPE_F16: store16(p, random_f16(c, odd)); break;
        default: // a block: binary16 scales first, then codes
            for (uint32_t b = 0; b < bytes; b++) p[b] = (uint8_t)check_random(c);
            store16(p, random_f16(c, odd));
            if (t == DTYPE_Q4_1) store16(p + 2, random_f16(c, odd));
        }
    }
}

static enum dtype dtype_of(enum linear_format f) {
    int t = 0;
    enum linear_format found;
    while (!linear_format_of((enum dtype)t, &found) || found != f) t++;
    return (enum dtype)t;
}

static bool has_groups(enum linear_format f) { return f > LINEAR_BF16; }

static void make_weight(struct check *c, struct linear_weight *w, bool odd) {
    enum dtype t = dtype_of(w->format);
    size_t row_bytes = (size_t)w->k / dtype_block(t) * dtype_block_bytes(t), bytes;
    if (!linear_packed_bytes(w->format, w->n, w->k, &bytes)) {
        check_fail(c, "%s cannot have %u inputs", linear_format_name(w->format), w->k);
        return;
    }
    uint8_t *rows = check_new(c, w->n * row_bytes, 4), *tiles = check_new(c, bytes, 64);
    if (check_failed(c)) return;
    for (uint32_t o = 0; o < w->n; o++) fill_row(c, t, rows + o * row_bytes, w->k, odd);
    struct linear_pack_args pack = {w->format, w->n, w->k, rows, NULL, tiles};
    linear_pack(&pack, 0, (w->n + LINEAR_LANES - 1) / LINEAR_LANES);
    w->tiles = tiles;
}

struct linear_activations linear_problem_rows(struct check *c, const struct linear_weight *w, uint32_t n,
                                              enum check_data data) {
    size_t count = (size_t)n * w->k, groups = count / LINEAR_GROUP;
    struct linear_activations x = {.ldx = w->k};
    float *values = check_new(c, count * sizeof *values, 4);
    if (has_groups(w->format)) {
        x.q = check_new(c, count * sizeof *x.q, 4);
        x.scale = check_new(c, groups * sizeof *x.scale, 4);
        x.scaled_sum = check_new(c, groups * sizeof *x.scaled_sum, 4);
    }
    if (check_failed(c)) return x;
    check_fill(c, values, count, data);
    x.x = values;
    if (has_groups(w->format)) linear_quantise_ref(&x, w->k, 0, n);
    return x;
}

void linear_problem_copy_row(const struct linear_weight *w, const struct linear_activations *source, uint32_t from,
                             const struct linear_activations *target, uint32_t to) {
    size_t k = w->k, groups = k / LINEAR_GROUP;
    memcpy((float *)target->x + to * k, source->x + from * k, k * sizeof *source->x);
    if (!has_groups(w->format)) return;
    memcpy(target->q + to * k, source->q + from * k, k * sizeof *source->q);
    memcpy(target->scale + to * groups, source->scale + from * groups, groups * sizeof *source->scale);
    memcpy(target->scaled_sum + to * groups, source->scaled_sum + from * groups, groups * sizeof *source->scaled_sum);
}

struct linear_problem linear_problem_new(struct check *c, enum linear_format f, const struct linear_shape *s) {
    struct linear_problem p = {.w = {.format = f, .n = s->n, .k = s->k}};
    p.tiles = (s->n + LINEAR_LANES - 1) / LINEAR_LANES;
    make_weight(c, &p.w, s->odd_weights);
    p.args = (struct linear_args){.n_rows = s->rows, .ldy = s->ldy ? s->ldy : s->n};
    p.args.x = linear_problem_rows(c, &p.w, s->rows, s->data);
    p.y_floats = (size_t)s->rows * p.args.ldy;
    p.args.y = check_new(c, p.y_floats * sizeof *p.args.y, 4);
    return p;
}

struct linear_args linear_problem_other(struct check *c, const struct linear_problem *p) {
    struct linear_args other = p->args;
    other.y = check_new(c, p->y_floats * sizeof *other.y, 4);
    return other;
}

void linear_problem_scales(const struct linear_weight *w, uint32_t o, uint32_t g, float *d, float *m) {
    uint32_t t = o / LINEAR_LANES, lane = o % LINEAR_LANES;
    *m = 0;
    if (w->format == LINEAR_Q4_0) {
        *d = f16_to_float(LINEAR_TILE(struct linear_q4_0, w, t)[g].d[lane]);
        *m = -8.0f * *d;
    } else if (w->format == LINEAR_Q4_1) {
        *d = f16_to_float(LINEAR_TILE(struct linear_q4_1, w, t)[g].d[lane]);
        *m = f16_to_float(LINEAR_TILE(struct linear_q4_1, w, t)[g].m[lane]);
    } else {
        *d = f16_to_float(LINEAR_TILE(struct linear_q8_0, w, t)[g].d[lane]);
    }
}
