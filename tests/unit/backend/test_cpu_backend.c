// The CPU backend's ops against their meaning, equal on any number of threads and rows, and what it tells of itself.
#include "backend/backend.h"
#include "base/mem.h"
#include "kernels/linear/linear.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 96, N1 = 40, N2 = 20, ROWS = 37, LAYER_PAGES = 3, HEADS = 4, KV_HEADS = 2, HEAD = 16 };

static struct backend *open_backend(uint32_t threads, enum isa isa) {
    struct err e = {0};
    struct backend *b = NULL;
    if (backend_open_cpu(&(struct backend_options){.threads = threads, .isa = isa}, &b, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
        return NULL;
    }
    const struct backend_limits limits = {.rows = 64,
                                          .k = K,
                                          .n_keys = 256,
                                          .heads = HEADS,
                                          .n_ids = 1000,
                                          .cache = {.kv_heads = KV_HEADS, .head_dim = HEAD, .value_dim = HEAD}};
    if (b->ops->reserve(b, &limits, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    return b;
}

static dptr take(struct backend *b, size_t bytes, const void *from) {
    struct err e = {0};
    dptr p = {0};
    if (b->ops->alloc(b, bytes, BACKEND_USE_WORK, &p, &e) != STATUS_OK ||
        (from && b->ops->upload(b, p, from, bytes, &e) != STATUS_OK)) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
    }
    return p;
}

static void fetch(struct backend *b, void *to, dptr from, size_t bytes) {
    struct err e = {0};
    CHECK_INT(STATUS_OK, b->ops->read(b, to, from, bytes, &e));
}

static void fill(float *x, size_t n, uint64_t seed) {
    struct test_random r = {seed};
    for (size_t i = 0; i < n; i++) x[i] = test_random_float(&r);
}

// Blocks of Q8_0: a scale in binary16 (1/64 as bits), then 32 codes.
static void fill_q8_0(uint8_t *rows, size_t n_blocks) {
    struct test_random r = {9};
    for (size_t i = 0; i < n_blocks; i++) {
        rows[34 * i] = 0x00;
        rows[34 * i + 1] = 0x24;
        for (int j = 0; j < 32; j++) rows[34 * i + 2 + (size_t)j] = (uint8_t)test_random_u64(&r);
    }
}

static struct backend_weight pack(struct backend *b, enum dtype dtype, uint32_t n, const void *rows, dptr *at) {
    struct err e = {0};
    struct backend_weight w = {0};
    size_t bytes = 0;
    CHECK_INT(STATUS_OK, b->ops->weight_bytes(b, dtype, n, K, "w", &bytes, &e));
    *at = take(b, bytes, NULL);
    const struct backend_pack_source source = {.dtype = dtype, .n = n, .k = K, .rows = rows};
    CHECK_INT(STATUS_OK, b->ops->pack(b, &source, *at, &w, &e));
    CHECK_INT(bytes, w.bytes);
    return w;
}

struct products {
    float y1[ROWS * N1], y2[ROWS * N2]; // y2 += x w2^T + bias
};

// Two products of one input, an F32 one and a Q8_0 one, in calls of `step` rows.
static void run_products(uint32_t threads, enum isa isa, uint32_t step, struct products *out) {
    static float x[ROWS * K], w1[N1 * K], bias[N2];
    static uint8_t w2[N2 * K / 32 * 34];
    struct backend *b = open_backend(threads, isa);
    if (!b) return;
    fill(x, ROWS * K, 1);
    fill(w1, N1 * K, 2);
    fill(bias, N2, 3);
    fill_q8_0(w2, N2 * K / 32);
    fill(out->y2, ROWS * N2, 4);
    dptr p1, p2, dx = take(b, sizeof x, x), y1 = take(b, sizeof out->y1, NULL), y2 = take(b, sizeof out->y2, out->y2);
    struct backend_weight a = pack(b, DTYPE_F32, N1, w1, &p1), q = pack(b, DTYPE_Q8_0, N2, w2, &p2);
    q.bias = take(b, sizeof bias, bias);
    for (uint32_t r = 0; r < ROWS; r += step) {
        dptr part1 = dptr_at(y1, r * N1 * sizeof(float)), part2 = dptr_at(y2, r * N2 * sizeof(float));
        struct op_linear op = {
            .x = dptr_at(dx, r * K * sizeof(float)),
            .rows = ROWS - r < step ? ROWS - r : step,
            .ldx = K,
            .n_products = 2,
            .product = {{.w = &a, .y = part1, .ldy = N1}, {.w = &q, .y = part2, .residual = part2, .ldy = N2}}};
        b->ops->linear(b, &op);
    }
    fetch(b, out->y1, y1, sizeof out->y1);
    fetch(b, out->y2, y2, sizeof out->y2);
    b->ops->release(b, p1, a.bytes);
    b->ops->release(b, p2, q.bytes);
    b->ops->release(b, q.bias, sizeof bias);
    b->ops->release(b, dx, sizeof x);
    b->ops->release(b, y1, sizeof out->y1);
    b->ops->release(b, y2, sizeof out->y2);
    b->ops->close(b);
}

static void multiplies_as_defined(void) {
    static struct products got;
    static float x[ROWS * K], w1[N1 * K], bias[N2], residual[ROWS * N2];
    static uint8_t w2[N2 * K / 32 * 34];
    run_products(2, isa_best(), ROWS, &got);
    fill(x, ROWS * K, 1);
    fill(w1, N1 * K, 2);
    fill(bias, N2, 3);
    fill(residual, ROWS * N2, 4);
    fill_q8_0(w2, N2 * K / 32);
    double worst = 0;
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t o = 0; o < N1; o++) {
            float y = 0; // the float formats' own order, so the bits are known
            for (size_t k = 0; k < K; k++) y = fmaf(x[r * K + k], w1[o * K + k], y);
            CHECK_BYTES(&y, &got.y1[r * N1 + o], sizeof y);
        }
        for (size_t o = 0; o < N2; o++) {
            double y = (double)bias[o] + (double)residual[r * N2 + o];
            for (size_t k = 0; k < K; k++) {
                const uint8_t *block = w2 + (o * K + k) / 32 * 34;
                y += (double)x[r * K + k] * (double)(int8_t)block[2 + k % 32] / 64;
            }
            worst = test_worse(worst, fabs(y - (double)got.y2[r * N2 + o]));
        }
    }
    if (!(worst < 2e-3)) test_fail(__FILE__, __LINE__, "Q8_0: expected within 2e-3, got %g", worst);
}

static void splits_without_changing_a_bit(void) {
    static const uint32_t threads[] = {1, 2, 3, 7}, steps[] = {1, 2, 7, ROWS};
    static struct products base, got;
    run_products(1, ISA_REF, ROWS, &base);
    for (size_t t = 0; t < 4; t++) {
        for (size_t s = 0; s < 4; s++) {
            run_products(threads[t], isa_best(), steps[s], &got);
            CHECK_BYTES(&base, &got, sizeof base);
        }
    }
}

static void embeds_gathers_and_draws(void) {
    struct backend *b = open_backend(2, isa_best());
    if (!b) return;
    static float w[N1 * K], y[3 * K];
    const int32_t ids[3] = {7, 0, 39};
    const uint32_t rows_at[2] = {2, 0};
    fill(w, N1 * K, 5);
    dptr p, dy = take(b, sizeof y, NULL), dz = take(b, sizeof y, NULL), drawn = take(b, 16, NULL);
    struct backend_weight table = pack(b, DTYPE_F32, N1, w, &p);
    b->ops->embed(b, &(struct op_embed){.w = &table, .ids = ids, .rows = 3, .ldy = K, .y = dy});
    fetch(b, y, dy, sizeof y);
    for (int i = 0; i < 3; i++) CHECK_BYTES(w + ids[i] * K, y + i * K, K * sizeof(float));
    b->ops->gather(b,
                   &(struct op_gather){.x = dy, .y = dz, .rows_at = rows_at, .rows = 2, .n = K, .ldx = K, .ldy = K});
    fetch(b, y, dz, sizeof y);
    CHECK_BYTES(w + 39 * K, y, K * sizeof(float));
    CHECK_BYTES(w + 7 * K, y + K, K * sizeof(float));
    const struct draw_rule greedy = {.n_ids = K};
    const struct draw_rule *const rules[2] = {&greedy, &greedy};
    const uint64_t index[2] = {1, 2};
    int32_t got[2];
    b->ops->draw(
        b, &(struct op_draw){.logits = dz, .ids = drawn, .rows = 2, .ld = K, .rules = rules, .token_index = index});
    fetch(b, got, drawn, sizeof got);
    for (int i = 0; i < 2; i++) {
        int32_t best = 0;
        for (int32_t j = 1; j < K; j++) best = y[i * K + j] > y[i * K + best] ? j : best;
        CHECK_INT(best, got[i]);
    }
    b->ops->release(b, p, table.bytes);
    b->ops->release(b, dy, sizeof y);
    b->ops->release(b, dz, sizeof y);
    b->ops->release(b, drawn, 16);
    b->ops->close(b);
}

// Stores 150 tokens, then attends with the last 40 of them at once; y [40][HEADS * HEAD].
static void run_attention(uint32_t threads, enum isa isa, float *out) {
    enum { TOKENS = 150, ASKED = 40, KV = KV_HEADS * HEAD, Q = HEADS * HEAD, PAGE_BYTES = 64 * KV * sizeof(float) };
    static float keys[TOKENS * KV], values[TOKENS * KV], q[ASKED * Q];
    static struct backend_row rows[TOKENS];
    const int32_t pages[LAYER_PAGES] = {2, 0, 1}, *const tables[1] = {pages};
    struct backend *b = open_backend(threads, isa);
    if (!b) return;
    fill(keys, TOKENS * KV, 6);
    fill(values, TOKENS * KV, 7);
    fill(q, ASKED * Q, 8);
    for (uint32_t i = 0; i < TOKENS; i++) rows[i] = (struct backend_row){.slot = i, .n_prefix = i + 1};
    dptr dk = take(b, sizeof keys, keys), dv = take(b, sizeof values, values), dq = take(b, sizeof q, q);
    dptr ck = take(b, LAYER_PAGES * PAGE_BYTES, NULL), cv = take(b, LAYER_PAGES * PAGE_BYTES, NULL);
    dptr y = take(b, sizeof q, NULL);
    const struct backend_cache cache = {
        .keys = ck, .values = cv, .kv_heads = KV_HEADS, .head_dim = HEAD, .value_dim = HEAD};
    for (uint32_t at = 0; at < TOKENS; at += 50) { // no more rows at once than were reserved
        const struct backend_rows part = {.n = 50, .rows = rows + at, .page_tables = tables};
        b->ops->store(b, &(struct op_store){.cache = &cache,
                                            .rows = &part,
                                            .keys = dptr_at(dk, at * KV * sizeof(float)),
                                            .values = dptr_at(dv, at * KV * sizeof(float)),
                                            .ldk = KV,
                                            .ldv = KV});
    }
    const struct backend_rows asked = {.n = ASKED, .rows = rows + TOKENS - ASKED, .page_tables = tables};
    b->ops->attention(
        b, &(struct op_attention){
               .cache = &cache, .rows = &asked, .q = dq, .y = y, .ldq = Q, .ldy = Q, .heads = HEADS, .scale = 0.25f});
    fetch(b, out, y, sizeof q);
    // The plain formula in double for one row and head: head 3 reads kv head 1.
    double score[TOKENS], total = 0, sum = 0;
    for (int p = 0; p < TOKENS; p++) {
        double s = 0;
        for (int d = 0; d < HEAD; d++) {
            s += (double)q[(ASKED - 1) * Q + 3 * HEAD + d] * (double)keys[p * KV + HEAD + d];
        }
        score[p] = exp(s * 0.25);
        total += score[p];
        sum += score[p] * (double)values[p * KV + HEAD + 5];
    }
    double off = fabs(sum / total - (double)out[(ASKED - 1) * Q + 3 * HEAD + 5]);
    if (!(off < 1e-5)) test_fail(__FILE__, __LINE__, "attention: expected within 1e-5, got %g", off);
    b->ops->release(b, dk, sizeof keys);
    b->ops->release(b, dv, sizeof values);
    b->ops->release(b, dq, sizeof q);
    b->ops->release(b, y, sizeof q);
    b->ops->release(b, ck, LAYER_PAGES * PAGE_BYTES);
    b->ops->release(b, cv, LAYER_PAGES * PAGE_BYTES);
    b->ops->close(b);
}

static void attends_over_scattered_pages(void) {
    static float base[40 * HEADS * HEAD], got[40 * HEADS * HEAD];
    run_attention(1, ISA_REF, base);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        run_attention(threads, isa_best(), got);
        CHECK_BYTES(base, got, sizeof base);
    }
}

static void loads_tokens_as_they_were_stored(void) {
    enum { TOKENS = 40, FROM = 50, KV = KV_HEADS * HEAD, PAGE_BYTES = 64 * KV * sizeof(float), ASKED = 30 };
    static float keys[TOKENS * KV], values[TOKENS * KV], got[ASKED * 2 * KV];
    struct backend_row rows[TOKENS] = {0};
    const int32_t pages[2] = {1, 0}, *const tables[1] = {pages};
    struct backend *b = open_backend(1, isa_best());
    if (!b) return;
    fill(keys, TOKENS * KV, 6);
    fill(values, TOKENS * KV, 7);
    for (uint32_t i = 0; i < TOKENS; i++) rows[i] = (struct backend_row){.slot = FROM + i};
    dptr dk = take(b, sizeof keys, keys), dv = take(b, sizeof values, values), y = take(b, sizeof got, NULL);
    dptr ck = take(b, 2 * PAGE_BYTES, NULL), cv = take(b, 2 * PAGE_BYTES, NULL);
    const struct backend_cache cache = {
        .keys = ck, .values = cv, .kv_heads = KV_HEADS, .head_dim = HEAD, .value_dim = HEAD};
    const struct backend_rows all = {.n = TOKENS, .rows = rows, .page_tables = tables};
    b->ops->store(b, &(struct op_store){
                         .cache = &cache, .rows = &all, .keys = dk, .values = dv, .ldk = KV, .ldv = KV});
    b->ops->load(b, &(struct op_load){.cache = &cache,
                                      .pages = pages,
                                      .first = FROM + 5, // over a page's end
                                      .n = ASKED,
                                      .keys = y,
                                      .values = dptr_at(y, KV * sizeof(float)),
                                      .ldk = 2 * KV,
                                      .ldv = 2 * KV});
    fetch(b, got, y, sizeof got);
    for (size_t i = 0; i < ASKED; i++) {
        CHECK_BYTES(keys + (5 + i) * KV, got + 2 * i * KV, KV * sizeof(float));
        CHECK_BYTES(values + (5 + i) * KV, got + (2 * i + 1) * KV, KV * sizeof(float));
    }
    b->ops->release(b, dk, sizeof keys);
    b->ops->release(b, dv, sizeof values);
    b->ops->release(b, y, sizeof got);
    b->ops->release(b, ck, 2 * PAGE_BYTES);
    b->ops->release(b, cv, 2 * PAGE_BYTES);
    b->ops->close(b);
}

// More blocks of rows times kv heads than a pool takes parts. Every row sees one key, so it gets that key's value.
static void attends_with_more_units_than_parts(void) {
    enum { MANY_ROWS = 272, MANY_HEADS = 4096, WIDE = MANY_HEADS * 2, PAGE = 64 * WIDE };
    struct backend *b = open_backend(2, isa_best());
    if (!b) return;
    const struct backend_limits limits = {
        .rows = MANY_ROWS,
        .k = K,
        .n_keys = 64,
        .heads = MANY_HEADS,
        .n_ids = 1,
        .cache = {.kv_heads = MANY_HEADS, .head_dim = 2, .value_dim = 2}};
    struct err e = {0};
    CHECK_INT(STATUS_OK, b->ops->reserve(b, &limits, &e));
    static float values[WIDE], y[MANY_ROWS * WIDE];
    static struct backend_row rows[MANY_ROWS];
    const int32_t pages[1] = {0}, *const tables[1] = {pages};
    fill(values, WIDE, 11);
    for (uint32_t i = 0; i < MANY_ROWS; i++) rows[i].n_prefix = 1;
    dptr dv = take(b, sizeof values, values), dy = take(b, sizeof y, NULL);
    dptr ck = take(b, PAGE * sizeof(float), NULL), cv = take(b, PAGE * sizeof(float), NULL);
    const struct backend_cache cache = {
        .keys = ck, .values = cv, .kv_heads = MANY_HEADS, .head_dim = 2, .value_dim = 2};
    const struct backend_rows one = {.n = 1, .rows = rows, .page_tables = tables};
    const struct backend_rows all = {.n = MANY_ROWS, .rows = rows, .page_tables = tables};
    b->ops->store(
        b, &(struct op_store){.cache = &cache, .rows = &one, .keys = dv, .values = dv, .ldk = WIDE, .ldv = WIDE});
    b->ops->attention(b, &(struct op_attention){.cache = &cache, .rows = &all, .q = dy, .y = dy, .ldq = WIDE,
                                                .ldy = WIDE, .heads = MANY_HEADS, .scale = 1});
    fetch(b, y, dy, sizeof y);
    for (size_t r = 0; r < MANY_ROWS; r++) CHECK_BYTES(values, y + r * WIDE, sizeof values);
    b->ops->release(b, dv, sizeof values);
    b->ops->release(b, dy, sizeof y);
    b->ops->release(b, ck, PAGE * sizeof(float));
    b->ops->release(b, cv, PAGE * sizeof(float));
    b->ops->close(b);
}

static void refuses_weights_by_name(void) {
    struct backend *b = open_backend(1, ISA_REF);
    if (!b) return;
    static const struct {
        enum dtype dtype;
        uint64_t n, k;
    } faults[] = {{DTYPE_I32, 4, 32},
                  {DTYPE_Q4_1, 4, 40},
                  {DTYPE_F32, 0, 32},
                  {DTYPE_F32, UINT64_MAX, 32},
                  {DTYPE_F32, 1, UINT64_MAX}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct err e = {0};
        size_t bytes;
        CHECK_INT(STATUS_UNSUPPORTED,
                  b->ops->weight_bytes(b, faults[i].dtype, faults[i].n, faults[i].k, "blk.0.x", &bytes, &e));
        CHECK(strstr(e.message, "blk.0.x") != NULL);
    }
    b->ops->close(b);
}

static void describes_and_measures_itself(void) {
    struct backend *b = open_backend(2, ISA_REF);
    if (!b) return;
    char text[64];
    b->ops->describe(b, text, sizeof text);
    CHECK_TEXT("cpu, 2 threads, ref", text);
    double rate = b->ops->read_bandwidth(b, 16 << 20);
    CHECK(rate > 1e7 && rate < 1e13);
    CHECK(b->ops->memory_available(b) > 0);
    b->ops->close(b);
}

static void allocates_nothing_in_its_ops(void) {
    struct backend *b = open_backend(2, isa_best());
    if (!b) return;
    static float w[N1 * K];
    fill(w, N1 * K, 5);
    dptr p, x = take(b, 8 * K * sizeof(float), NULL), y = take(b, 8 * K * sizeof(float), NULL);
    struct backend_weight table = pack(b, DTYPE_F32, N1, w, &p);
    uint64_t before = mem_count();
    struct op_linear op = {
        .x = x, .rows = 8, .ldx = K, .n_products = 1, .product = {{.w = &table, .y = y, .ldy = N1}}};
    b->ops->linear(b, &op);
    b->ops->norm(b, &(struct op_norm){.x = x, .y = y, .w = p, .rows = 8, .n = K, .ldx = K, .ldy = K, .eps = 1e-5f});
    b->ops->swiglu(b, &(struct op_swiglu){.gate = x, .up = x, .y = y, .rows = 8, .n = K, .ld = K});
    CHECK_INT(before, mem_count());
    b->ops->release(b, p, table.bytes);
    b->ops->release(b, x, 8 * K * sizeof(float));
    b->ops->release(b, y, 8 * K * sizeof(float));
    b->ops->close(b);
}

static const struct test_case cases[] = {
    {"multiplies as defined, with bias and residual", multiplies_as_defined},
    {"splits over threads and rows without changing a bit", splits_without_changing_a_bit},
    {"embeds, gathers and draws", embeds_gathers_and_draws},
    {"attends over scattered pages", attends_over_scattered_pages},
    {"loads tokens as they were stored", loads_tokens_as_they_were_stored},
    {"attends with more blocks and heads than a pool takes parts", attends_with_more_units_than_parts},
    {"refuses weights it has no kernel for by name", refuses_weights_by_name},
    {"describes and measures itself", describes_and_measures_itself},
    {"allocates nothing in its ops", allocates_nothing_in_its_ops},
};
TEST_MAIN("backend/cpu_backend", cases)
