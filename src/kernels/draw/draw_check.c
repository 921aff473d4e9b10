// Checks of drawing: the quick way against the plain one, frequencies against softmax, planted faults and speed.
#include "kernels/check.h"
#include "kernels/draw/draw_steps.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef int32_t draw_fn(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch);

struct variant {
    draw_fn *fn;
};

static draw_fn *fn_of(const void *variant) { return ((const struct variant *)variant)->fn; }

// Logits as models give them, and hard ones: many ties, huge and tiny gaps, masked ids, NaN and infinities.
static void fill_logits(struct check *c, float *x, uint32_t n, uint32_t kind) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 3e38f, -3e38f, 1e-40f};
    for (uint32_t i = 0; i < n; i++) {
        x[i] = 8.0f * check_real(c);
        if (kind == 1) x[i] = rintf(x[i]) * 0.25f;
        if (kind == 2) x[i] *= 1e4f;
        if (kind == 3) x[i] *= 1e-6f;
        if (kind == 4 && check_below(c, 3)) x[i] = -INFINITY;
        if (kind == 5 && !check_below(c, 4)) x[i] = odd[check_below(c, 8)];
        if (kind == 6) x[i] = 1.5f;
    }
}

static struct draw_rule random_rule(struct check *c, uint32_t n) {
    static const double temperatures[] = {0, 0.1, 0.7, 1, 1.5, 20, 1e-30, 1e30};
    struct draw_rule r = {.temperature = temperatures[check_below(c, 8)], .n_ids = n, .seed = check_random(c)};
    if (check_below(c, 2)) r.top_k = 1 + check_below(c, n + 3);
    if (check_below(c, 2)) r.top_p = ldexp((double)check_below(c, 1u << 20), -20);
    if (check_below(c, 8) == 0) r.top_p = check_below(c, 2) ? 1e-12 : 0.9999999;
    if (check_below(c, 3) == 0) r.min_p = ldexp((double)check_below(c, 1u << 10), -(int)check_below(c, 20) - 9);
    return r;
}

static void bits(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < 6000 && !check_failed(c); i++) {
        uint32_t n = 1 + check_below(c, i % 3 ? 60 : 700), kind = check_below(c, 7);
        float *logits = check_new(c, n * sizeof *logits, 4);
        void *scratch = check_new(c, draw_scratch_bytes(n), 16);
        if (check_failed(c)) return;
        fill_logits(c, logits, n, kind);
        struct draw_rule r = random_rule(c, n);
        int32_t want = draw_token_ref(&r, logits, i, scratch), got = fn_of(variant)(&r, logits, i, scratch);
        if (want != got)
            check_fail(c,
                       "%u ids, kind %u, temperature %g, top_k %u, top_p %g, min_p %g: expected "
                       "%d, got %d",
                       n, kind, r.temperature, r.top_k, r.top_p, r.min_p, want, got);
        check_forget(c);
    }
}

// Pearson's sum over 16 ids against softmax; with 15 degrees of freedom it passes 75 once in 10^9 runs.
static void frequencies(struct check *c, draw_fn *fn) {
    enum { N = 16, DRAWS = 40000 };
    float logits[N];
    struct draw_candidate scratch[2 * N];
    double weight[N], total = 0, off = 0;
    uint32_t seen[N] = {0};
    struct draw_rule r = {.temperature = 0.8, .n_ids = N, .seed = check_random(c)};
    for (int i = 0; i < N; i++) {
        logits[i] = check_real(c);
        total += weight[i] = exp((double)logits[i] / r.temperature);
    }
    for (uint64_t p = 0; p < DRAWS; p++) seen[fn(&r, logits, p, scratch)]++;
    for (int i = 0; i < N; i++) {
        double want = DRAWS * weight[i] / total;
        off += (seen[i] - want) * (seen[i] - want) / want;
    }
    if (off > 75) check_fail(c, "frequencies of 16 ids over %d tokens: chi-square %.1f, at most 75", DRAWS, off);
}

// Among many ids, one that holds all but 10^-8 of the probability is always drawn: noise has no wild values.
static void sure_token(struct check *c, draw_fn *fn) {
    enum { N = 60000, DRAWS = 3000 };
    float *logits = check_new(c, N * sizeof *logits, 4);
    void *scratch = check_new(c, draw_scratch_bytes(N), 16);
    if (check_failed(c)) return;
    for (int i = 0; i < N; i++) logits[i] = check_real(c);
    const int32_t sure = 777;
    logits[sure] = 32.0f;
    struct draw_rule r = {.temperature = 1, .n_ids = N, .seed = check_random(c)};
    for (uint64_t p = 0; p < DRAWS && !check_failed(c); p++) {
        int32_t got = fn(&r, logits, p, scratch);
        if (got != sure) check_fail(c, "token %d drawn at index %u, where %d is sure", got, (unsigned)p, sure);
    }
    check_forget(c);
}

// The drawn id is among the likeliest that hold top_p of the probability, and of rank below top_k, by floating point.
static void candidates(struct check *c, draw_fn *fn) {
    enum { N = 300 };
    float logits[N];
    struct draw_candidate scratch[2 * N];
    for (uint64_t p = 0; p < 2000 && !check_failed(c); p++) {
        fill_logits(c, logits, N, 0);
        struct draw_rule r = {.temperature = 1.3, .n_ids = N, .seed = 5, .top_k = 1 + check_below(c, 60)};
        r.top_p = 0.05 + 0.9 * fabs((double)check_real(c));
        int32_t id = fn(&r, logits, p, scratch);
        double above = 0, total = 0;
        uint32_t rank[N] = {0};
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) rank[i] += logits[j] > logits[i] || (logits[j] == logits[i] && j < i);
        for (int i = 0; i < N; i++) {
            if (rank[i] >= r.top_k) continue;
            double e = exp(((double)logits[i] - 8) / r.temperature);
            total += e;
            if (rank[i] < rank[id]) above += e;
        }
        if (rank[id] >= r.top_k) check_fail(c, "id of rank %u drawn with top_k %u", rank[id], r.top_k);
        if (above / total > r.top_p + 1e-9)
            check_fail(c, "%g lies above the drawn id, top_p %g", above / total, r.top_p);
    }
}

static void accuracy(struct check *c, const void *variant) {
    frequencies(c, fn_of(variant));
    sure_token(c, fn_of(variant));
    candidates(c, fn_of(variant));
}

// What lies past n_ids does not matter.
static void rows(struct check *c, const void *variant) {
    enum { N = 200, WIDER = 230 };
    float logits[WIDER];
    struct draw_candidate scratch[2 * WIDER];
    for (uint32_t i = 0; i < 500 && !check_failed(c); i++) {
        struct draw_rule r = random_rule(c, N);
        fill_logits(c, logits, WIDER, i % 5);
        int32_t want = fn_of(variant)(&r, logits, i, scratch);
        for (int j = N; j < WIDER; j++) logits[j] = i % 2 ? NAN : INFINITY;
        int32_t got = fn_of(variant)(&r, logits, i, scratch);
        if (want != got) check_fail(c, "with other values past n_ids: expected %d, got %d", want, got);
    }
}

struct parts {
    draw_fn *fn;
    const float *logits;
    struct draw_rule rule;
    int32_t *drawn;
};

enum { PART_IDS = 500, PARTS = 64 };

static void run_part(void *context, uint32_t part, uint32_t n, uint32_t worker) {
    (void)n, (void)worker;
    const struct parts *p = context;
    struct draw_candidate scratch[2 * PART_IDS];
    p->drawn[part] = p->fn(&p->rule, p->logits, part, scratch);
}

// Several threads draw tokens of one text at once.
static void partition(struct check *c, const void *variant) {
    float logits[PART_IDS];
    int32_t drawn[PARTS], alone[PARTS];
    fill_logits(c, logits, PART_IDS, 0);
    struct draw_rule rule = {.temperature = 1, .n_ids = PART_IDS, .top_p = 0.9, .seed = check_random(c)};
    struct parts p = {fn_of(variant), logits, rule, drawn};
    check_parallel(c, run_part, &p, PARTS);
    p.drawn = alone;
    for (uint32_t i = PARTS; i-- > 0;) run_part(&p, i, PARTS, 0);
    for (uint32_t i = 0; i < PARTS; i++)
        if (drawn[i] != alone[i]) check_fail(c, "token %u: %d alone, %d beside others", i, alone[i], drawn[i]);
}

// Masking ids that did not win changes nothing, so a draft drawn from fewer candidates agrees with its target.
static void composition(struct check *c, const void *variant) {
    enum { N = 100 };
    float logits[N];
    struct draw_candidate scratch[2 * N];
    for (uint32_t i = 0; i < 1000 && !check_failed(c); i++) {
        struct draw_rule r = {.temperature = 0.9, .n_ids = N, .seed = check_random(c)};
        fill_logits(c, logits, N, i % 2);
        int32_t want = fn_of(variant)(&r, logits, i, scratch);
        for (int32_t j = 0; j < N; j++)
            if (j != want && check_below(c, 2)) logits[j] = -INFINITY;
        int32_t got = fn_of(variant)(&r, logits, i, scratch);
        if (want != got) check_fail(c, "with losing ids masked: expected %d, got %d", want, got);
    }
}

static void edges(struct check *c, const void *variant) {
    for (uint32_t n = 1; n < 300 && !check_failed(c); n++) {
        float *logits = check_new(c, n * sizeof *logits, 4);
        void *scratch = check_new(c, draw_scratch_bytes(n), 16);
        if (check_failed(c)) return;
        fill_logits(c, logits, n, n % 7);
        struct draw_rule r = random_rule(c, n);
        int32_t got = fn_of(variant)(&r, logits, n, scratch);
        if (got < 0 || (uint32_t)got >= n) check_fail(c, "%u ids: drew %d", n, got);
        check_forget(c);
    }
}

struct bench_job {
    draw_fn *fn;
    const float *logits;
    struct draw_rule rule;
    void *scratch;
    uint64_t token_index;
};

static void run_bench(void *context) {
    struct bench_job *j = context;
    j->fn(&j->rule, j->logits, j->token_index++, j->scratch);
}

static void bench(struct check *c, const void *variant) {
    static const struct draw_rule timed[] = {{.temperature = 0},
                                             {.temperature = 1},
                                             {.temperature = 1, .top_k = 40},
                                             {.temperature = 1, .top_p = 0.95},
                                             {.temperature = 0.7, .top_k = 40, .top_p = 0.9, .min_p = 0.05}};
    static const uint32_t sizes[] = {49152, 248320};
    for (size_t i = 0; i < 2 * COUNT(timed); i++) {
        struct bench_job j = {.fn = fn_of(variant), .rule = timed[i / 2]};
        uint32_t n = j.rule.n_ids = sizes[i % 2];
        float *logits = check_new(c, n * sizeof *logits, 64);
        j.scratch = check_new(c, draw_scratch_bytes(n), 64);
        if (check_failed(c)) return;
        for (uint32_t id = 0; id < n; id++) // a sum of four: bell-shaped, as logits are
            logits[id] = 3.0f * (check_real(c) + check_real(c) + check_real(c) + check_real(c));
        j.logits = logits;
        double ns = check_time_ns(c, run_bench, &j);
        check_line(c, "draw             %6u ids, temperature %g, top_k %2u, top_p %.2f, min_p %.2f: %.1f us", n,
                   j.rule.temperature, j.rule.top_k, j.rule.top_p, j.rule.min_p, ns * 1e-3);
        check_forget(c);
    }
}

// Wrong on purpose: the right way, with one thing changed.
static int32_t ties_to_higher(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    int32_t best = draw_token(rule, logits, p, scratch);
    if (rule->temperature > 0) return best;
    for (uint32_t id = 0; id < rule->n_ids; id++)
        if (logits[id] >= logits[best]) best = (int32_t)id;
    return best;
}

static int32_t one_candidate_more(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    struct draw_rule r = *rule;
    if (r.top_k) r.top_k++;
    return draw_token(&r, logits, p, scratch);
}

static int32_t short_nucleus(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    struct draw_rule r = *rule;
    r.top_p *= 0.98;
    return draw_token(&r, logits, p, scratch);
}

// 24 bits give 0 once in 16 million: its noise is infinite and wins.
static int32_t short_uniform(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    uint64_t stem = draw_stem(rule->seed, p);
    for (uint32_t id = 0; id < rule->n_ids; id++)
        if (draw_hash(stem, id) >> 40 == 0) return (int32_t)id;
    return draw_token(rule, logits, p, scratch);
}

static int32_t same_noise(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    return draw_token(rule, logits, p / 64, scratch);
}

static int32_t draws_padding(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    struct draw_rule r = *rule;
    r.n_ids++;
    return draw_token(&r, logits, p, scratch);
}

static int32_t noise_by_rank(const struct draw_rule *rule, const float *logits, uint64_t p, void *scratch) {
    (void)scratch;
    double best = -INFINITY;
    int32_t winner = 0;
    for (uint32_t id = 0, rank = 0; id < rule->n_ids; id++) {
        if (!isfinite(logits[id])) continue;
        double score = (double)logits[id] / rule->temperature + draw_gumbel(rule->seed, p, rank++);
        if (score > best) best = score, winner = (int32_t)id;
    }
    return winner;
}

static const struct variant quick = {draw_token};
static const struct variant wrong[] = {{ties_to_higher}, {one_candidate_more}, {short_nucleus}, {short_uniform},
                                       {same_noise},     {draws_padding},      {noise_by_rank}};

static const struct check_kernel kernels[] = {{"token", ISA_REF, &quick}};
static const struct check_fault faults[] = {
    {"ties_to_higher", "the higher id wins a tie", CHECK_GATE_BITS, &wrong[0]},
    {"one_candidate_more", "top_k keeps one more", CHECK_GATE_BITS, &wrong[1]},
    {"short_nucleus", "top_p is a fiftieth too small", CHECK_GATE_BITS, &wrong[2]},
    {"short_uniform", "noise is made from 24 bits", CHECK_GATE_ACCURACY, &wrong[3]},
    {"same_noise", "64 tokens in a row share their noise", CHECK_GATE_ACCURACY, &wrong[4]},
    {"draws_padding", "one id past n_ids may be drawn", CHECK_GATE_ROWS, &wrong[5]},
    {"draws_padding_edge", "one id past n_ids is read", CHECK_GATE_EDGES, &wrong[5]},
    {"noise_by_rank", "noise goes by the place among the candidates", CHECK_GATE_COMPOSITION, &wrong[6]},
};

const struct check_family draw_check = {
    .name = "draw",
    .domain = "n_ids >= 1, any logits and rule",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
