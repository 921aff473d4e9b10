// Gates for ops that turn each row of floats into a row of floats by itself.
#include "kernels/check_rows.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5, GAP = 3 };

static const uint32_t widths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 100, 576, 1021};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

// A whole problem; the last row ends where the guarded memory does.
static struct check_rows_call problem_new(struct check *c, const struct check_rows_op *op, uint32_t n, uint32_t rows) {
    uint32_t in = op->in_per * n + op->plus, out = op->out_per * n + op->plus;
    uint32_t ld = (in > out ? in : out) + GAP;
    float *x = check_new(c, ((size_t)(rows - 1) * ld + in) * sizeof(float), 4);
    float *y = check_new(c, ((size_t)(rows - 1) * ld + out) * sizeof(float), 4);
    return (struct check_rows_call){n, ld, 0, rows, x, y};
}

static struct check_rows_call problem_other(struct check *c, const struct check_rows_op *op,
                                            const struct check_rows_call *p) {
    struct check_rows_call other = *p;
    size_t floats = (size_t)(p->end - 1) * p->ld + op->out_per * p->n + op->plus;
    other.out = check_new(c, floats * sizeof(float), 4);
    return other;
}

static void fill(struct check *c, const struct check_rows_op *op, const struct check_rows_call *p, int kind) {
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 88.7f, -87.4f, 1e-45f, -3e38f, 127.0f};
    for (uint32_t r = p->begin; r < p->end; r++) {
        float *x = (float *)p->in + (size_t)r * p->ld;
        uint32_t in = op->in_per * p->n + op->plus;
        check_fill(c, x, in, (enum check_data)(kind % CHECK_DATA_COUNT));
        if (kind == CHECK_DATA_COUNT) x[check_below(c, in)] = special[check_below(c, 10)];
    }
}

static void same_rows(struct check *c, const struct check_rows_op *op, const struct check_rows_call *want,
                      const struct check_rows_call *got, const char *what) {
    for (uint32_t r = want->begin; r < want->end; r++) {
        size_t at = (size_t)r * want->ld;
        check_same(c, want->out + at, got->out + at, op->out_per * want->n + op->plus, "%s: width %u, row %u ", what,
                   want->n, r);
    }
}

void check_rows_bits(struct check *c, const struct check_rows_op *op, const void *variant) {
    for (int i = 0; i < WIDTHS * (CHECK_DATA_COUNT + 1) && !check_failed(c); i++) {
        struct check_rows_call want = problem_new(c, op, widths[i % WIDTHS], ROWS), got = problem_other(c, op, &want);
        if (check_failed(c)) return;
        fill(c, op, &want, i / WIDTHS);
        op->run(op->reference, &want);
        op->run(variant, &got);
        same_rows(c, op, &want, &got, "against the reference");
        check_forget(c);
    }
}

void check_rows_alone(struct check *c, const struct check_rows_op *op, const void *variant) {
    for (int i = 0; i < WIDTHS * ROWS && !check_failed(c); i++) {
        uint32_t n = widths[i % WIDTHS], at = (uint32_t)(i / WIDTHS);
        struct check_rows_call alone = problem_new(c, op, n, 1), among = problem_new(c, op, n, ROWS);
        if (check_failed(c)) return;
        fill(c, op, &alone, CHECK_DATA_WIDE);
        float *row = (float *)among.in + (size_t)at * among.ld; // the other rows hold poison, which is NaN
        memcpy(row, alone.in, (op->in_per * n + op->plus) * sizeof *row);
        op->run(variant, &alone);
        op->run(variant, &among);
        check_same(c, alone.out, among.out + (size_t)at * among.ld, op->out_per * n + op->plus,
                   "width %u, row alone and at place %u among NaN rows: y", n, at);
        check_forget(c);
    }
}

struct parts {
    const struct check_rows_op *op;
    const void *variant;
    const struct check_rows_call *call;
    uint32_t border[9]; // rising; part i is rows border[i] .. border[i + 1]
};

static void run_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    (void)parts, (void)worker;
    const struct parts *p = context;
    struct check_rows_call call = *p->call;
    call.begin = p->border[part];
    call.end = p->border[part + 1];
    p->op->run(p->variant, &call);
}

void check_rows_partition(struct check *c, const struct check_rows_op *op, const void *variant) {
    enum { MANY = 29, PARTS = 8 };
    for (int i = 0; i < WIDTHS && !check_failed(c); i++) {
        struct check_rows_call whole = problem_new(c, op, widths[i], MANY), cut = problem_other(c, op, &whole);
        if (check_failed(c)) return;
        fill(c, op, &whole, CHECK_DATA_WIDE);
        op->run(variant, &whole);
        struct parts parts = {.op = op, .variant = variant, .call = &cut};
        parts.border[PARTS] = MANY;
        for (uint32_t b = PARTS - 1; b > 0; b--) parts.border[b] = check_below(c, parts.border[b + 1] + 1);
        check_parallel(c, run_part, &parts, PARTS);
        same_rows(c, op, &whole, &cut, "cut into ranges");
        check_forget(c);
    }
}

void check_rows_edges(struct check *c, const struct check_rows_op *op, const void *variant) {
    for (int i = 0; i < WIDTHS && !check_failed(c); i++) {
        struct check_rows_call p = problem_new(c, op, widths[i], ROWS);
        if (check_failed(c)) return;
        fill(c, op, &p, CHECK_DATA_PLAIN);
        struct check_rows_call middle = p;
        middle.begin = 1, middle.end = 3;
        op->run(variant, &middle);
        uint32_t out = op->out_per * p.n + op->plus;
        check_untouched(c, p.out, p.ld, "width %u, before the range: y", p.n);
        check_untouched(c, p.out + p.ld + out, p.ld - out, "width %u, between two rows: y", p.n);
        check_untouched(c, p.out + (size_t)2 * p.ld + out, (size_t)2 * p.ld - out, "width %u, after the range: y", p.n);
        middle.begin = ROWS - 1, middle.end = ROWS;
        op->run(variant, &middle); // the last row ends at a page that cannot be touched
        check_forget(c);
    }
}

void check_rows_clear(float *y, uint32_t n, uint32_t ld, uint32_t begin, uint32_t end) {
    for (uint32_t r = begin; r < end; r++) memset(y + (size_t)r * ld, 0, n * sizeof *y);
}

void check_rows_spill(float *y, uint32_t n, uint32_t ld, uint32_t begin, uint32_t end) {
    for (uint32_t r = begin; r < end; r++)
        for (uint32_t i = n; i % 8; i++) y[(size_t)r * ld + i] = 0.0f;
}
