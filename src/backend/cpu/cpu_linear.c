// The CPU's linear products: packing weights, and splitting tiles of outputs and blocks of rows over the pool.
#include "backend/cpu/cpu_backend.h"

#include "base/checked.h"

// A block's quantised activations should stay in a core's second cache while tiles of weights pass by.
enum { BLOCK_BYTES = 256 << 10, PARTS_A_THREAD = 4, WORTH_WAKING = 6000, PARTS_MAX = 60000 };

enum status cpu_weight_bytes(struct backend *b, enum dtype dtype, uint64_t n, uint64_t k, const char *what,
                             size_t *bytes, struct err *e) {
    enum linear_format format;
    (void)b;
    if (!linear_format_of(dtype, &format)) {
        return err_set(e, STATUS_UNSUPPORTED, "tensor %s: the cpu has no kernel for %s", what, dtype_name(dtype));
    }
    if (n == 0 || n > UINT32_MAX || k > UINT32_MAX || !linear_packed_bytes(format, n, k, bytes)) {
        return err_set(e, STATUS_UNSUPPORTED, "tensor %s: no packed form of %llu x %llu in %s", what,
                       (unsigned long long)n, (unsigned long long)k, dtype_name(dtype));
    }
    return STATUS_OK;
}

static uint32_t tiles_of(uint32_t n) { return (uint32_t)ceil_div(n, LINEAR_LANES); }

static void pack_tiles(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    linear_pack(context, begin, end);
}

enum status cpu_pack(struct backend *b, const struct backend_pack_source *source, dptr to, struct backend_weight *out,
                     struct err *e) {
    enum linear_format format;
    size_t bytes;
    TRY(cpu_weight_bytes(b, source->dtype, source->n, source->k, "weight", &bytes, e));
    if (!linear_format_of(source->dtype, &format)) return STATUS_INTERNAL;
    struct linear_pack_args args = {.format = format,
                                    .n = source->n,
                                    .k = source->k,
                                    .rows = source->rows,
                                    .row_map = source->row_map,
                                    .tiles = cpu_pointer(to)};
    uint32_t tiles = tiles_of(source->n);
    cpu_for_rows(cpu_of(b), pack_tiles, &args, tiles, bytes / tiles);
    *out = (struct backend_weight){
        .n = source->n, .k = source->k, .format = (uint32_t)format, .packed = to, .bytes = bytes};
    return STATUS_OK;
}

static struct linear_weight weight_of(const struct backend_weight *w) {
    return (struct linear_weight){.format = (enum linear_format)w->format,
                                  .n = w->n,
                                  .k = w->k,
                                  .tiles = cpu_pointer(w->packed),
                                  .bias = cpu_pointer(w->bias)};
}

struct embed_job {
    struct linear_weight w;
    struct op_embed op;
};

static void embed_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct embed_job *j = context;
    float *y = cpu_pointer(j->op.y);
    (void)worker;
    for (uint32_t r = begin; r < end; r++) {
        linear_row(&j->w, (uint32_t)j->op.ids[r], y + (size_t)r * j->op.ldy);
    }
}

void cpu_embed(struct backend *b, const struct op_embed *op) {
    struct embed_job j = {weight_of(op->w), *op};
    cpu_for_rows(cpu_of(b), embed_rows, &j, op->rows, j.w.k);
}

// Products of one input: their tiles are numbered through, and parts are blocks of rows x ranges of tiles.
struct linear_job {
    const struct cpu_backend *c;
    struct linear_weight w[OP_LINEAR_MAX];
    struct linear_args args[OP_LINEAR_MAX]; // of all rows
    uint32_t first_tile[OP_LINEAR_MAX + 1]; // of each product, then the number of tiles
    uint32_t n_products, rows, blocks, ranges;
};

// The arguments for rows from `row` on.
static struct linear_args args_from_row(const struct linear_args *all, uint32_t row, uint32_t n_rows) {
    struct linear_args a = *all;
    size_t k = all->w->k, groups = k / LINEAR_GROUP;
    a.x.x += (size_t)row * all->x.ldx;
    a.x.q += (size_t)row * k;
    a.x.scale += row * groups;
    a.x.scaled_sum += row * groups;
    a.y += (size_t)row * all->ldy;
    if (a.residual) a.residual += (size_t)row * all->ldy;
    a.n_rows = n_rows;
    return a;
}

static uint32_t share(uint32_t n, uint32_t part, uint32_t parts) { return (uint32_t)((uint64_t)n * part / parts); }

static void linear_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    const struct linear_job *j = context;
    uint32_t block = part % j->blocks, range = part / j->blocks; // neighbours in time share weights
    uint32_t row = share(j->rows, block, j->blocks), row_end = share(j->rows, block + 1, j->blocks);
    uint32_t tiles = j->first_tile[j->n_products];
    uint32_t begin = share(tiles, range, j->ranges), end = share(tiles, range + 1, j->ranges);
    (void)parts;
    (void)worker;
    for (uint32_t i = 0; i < j->n_products; i++) {
        uint32_t first = j->first_tile[i], last = j->first_tile[i + 1];
        uint32_t from = begin > first ? begin : first, to = end < last ? end : last;
        if (from >= to) continue;
        struct linear_args a = args_from_row(&j->args[i], row, row_end - row);
        j->c->linear[j->w[i].format](&a, from - first, to - first);
    }
}

struct quantise_job {
    linear_quantise_fn *fn;
    struct linear_activations x;
    uint32_t k;
};

static void quantise_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct quantise_job *j = context;
    (void)worker;
    j->fn(&j->x, j->k, begin, end);
}

static bool reads_codes(const struct linear_weight *w) { return w->format >= LINEAR_Q4_0; }

static void plan_split(struct linear_job *j, uint32_t k) {
    uint32_t tiles = j->first_tile[j->n_products], threads = j->c->threads;
    uint32_t block_rows = BLOCK_BYTES / (2 * k);
    if (block_rows < 16) block_rows = 16;
    j->blocks = (uint32_t)ceil_div(j->rows, block_rows);
    uint32_t wanted = (uint32_t)ceil_div((size_t)threads * PARTS_A_THREAD, j->blocks);
    if (j->blocks > 1) wanted *= 4; // ranges small enough that their weights stay cached over the blocks
    uint32_t most = PARTS_MAX / j->blocks;
    if (wanted > most) wanted = most;
    j->ranges = wanted < tiles ? wanted : tiles;
}

void cpu_linear(struct backend *b, const struct op_linear *op) {
    struct cpu_backend *c = cpu_of(b);
    struct linear_activations x = {
        .x = cpu_pointer(op->x), .ldx = op->ldx, .q = c->q, .scale = c->scale, .scaled_sum = c->scaled_sum};
    struct linear_job j = {.c = c, .n_products = op->n_products, .rows = op->rows};
    uint32_t k = op->product[0].w->k;
    bool codes = false;
    size_t bytes = 0;
    for (uint32_t i = 0; i < op->n_products; i++) {
        j.w[i] = weight_of(op->product[i].w);
        j.args[i] = (struct linear_args){.w = &j.w[i],
                                         .x = x,
                                         .n_rows = op->rows,
                                         .y = cpu_pointer(op->product[i].y),
                                         .ldy = op->product[i].ldy,
                                         .residual = cpu_pointer(op->product[i].residual)};
        j.first_tile[i + 1] = j.first_tile[i] + tiles_of(j.w[i].n);
        codes = codes || reads_codes(&j.w[i]);
        bytes += op->product[i].w->bytes;
    }
    if (codes) {
        struct quantise_job quantise = {c->quantise, x, k};
        cpu_for_rows(c, quantise_rows, &quantise, op->rows, k);
    }
    plan_split(&j, k);
    uint32_t parts = j.blocks * j.ranges;
    if (bytes * op->rows >= WORTH_WAKING) {
        pool_run(c->pool, linear_part, &j, parts);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) linear_part(&j, part, parts, 0);
}
