// The CPU backend's own state: the chosen kernels, the pool they run on, and scratch planned once.
#ifndef TF_BACKEND_CPU_CPU_BACKEND_H
#define TF_BACKEND_CPU_CPU_BACKEND_H

#include "backend/backend.h"
#include "base/pool.h"
#include "kernels/attention/attention.h"
#include "kernels/conv/conv.h"
#include "kernels/delta/delta_memory.h"
#include "kernels/gate/gate.h"
#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"
#include "kernels/norm/norm_gated.h"
#include "kernels/rope/rope.h"
#include "kernels/swiglu/swiglu.h"

struct cpu_backend {
    struct backend base;
    struct pool *pool;
    uint32_t threads;
    enum isa isa;

    linear_fn *linear[LINEAR_FORMAT_COUNT];
    linear_quantise_fn *quantise;
    norm_rms_fn *norm;
    norm_gated_fn *norm_gated;
    gate_sigmoid_fn *gate;
    conv_silu_fn *conv;
    delta_prepare_fn *delta_prepare;
    delta_step_fn *delta_step;
    rope_fn *rope;
    swiglu_fn *swiglu;
    attention_fn *attention;

    // Scratch, one mapping, planned by reserve().
    void *scratch;
    size_t scratch_bytes;
    int16_t *q;                 // [rows][k]     codes of one linear input
    float *scale, *scaled_sum;  // [rows][k / 32]
    struct attention_row *rows; // [rows]
    float *attention_scratch;   // [threads][attention_floats]
    size_t attention_floats;
    uint8_t *draw_scratch; // [threads][draw_bytes]
    size_t draw_bytes;
    struct delta_window *delta_windows; // [slots]
    struct delta_row *delta_rows;       // [rows + slots * held_rows], as are the next two
    float *delta_c, *delta_gates;       // [..][channels], [..][2 * v_heads]
    float *delta_zeros;                 // [channels]
    float *delta_scratch;               // [threads][delta_scratch_floats]
    size_t delta_scratch_floats;
};

static inline struct cpu_backend *cpu_of(struct backend *b) { return (struct cpu_backend *)b; }
static inline void *cpu_pointer(dptr p) { return (void *)(uintptr_t)p.address; }

// Computes rows [begin, end). `worker` names scratch.
typedef void cpu_rows_fn(void *context, uint32_t begin, uint32_t end, uint32_t worker);

// Splits `rows` over the pool when rows * row_cost is worth waking it; row_cost is about nanoseconds.
void cpu_for_rows(struct cpu_backend *c, cpu_rows_fn *fn, void *context, uint32_t rows, uint64_t row_cost);

void cpu_embed(struct backend *b, const struct op_embed *op);
void cpu_linear(struct backend *b, const struct op_linear *op);
void cpu_norm(struct backend *b, const struct op_norm *op);
void cpu_rope_rows(struct backend *b, const struct op_rope_rows *op);
void cpu_rope(struct backend *b, const struct op_rope *op);
void cpu_swiglu(struct backend *b, const struct op_swiglu *op);
void cpu_norm_gated(struct backend *b, const struct op_norm_gated *op);
void cpu_gate(struct backend *b, const struct op_gate *op);
void cpu_delta(struct backend *b, const struct op_delta *op);
void cpu_gather(struct backend *b, const struct op_gather *op);
void cpu_draw(struct backend *b, const struct op_draw *op);
void cpu_store(struct backend *b, const struct op_store *op);
void cpu_load(struct backend *b, const struct op_load *op);
void cpu_attention(struct backend *b, const struct op_attention *op);
void cpu_move(struct backend *b, const struct op_move *op);

// What the delta op needs of scratch, in floats unless it says rows; all 0 without such a layer.
struct cpu_delta_sizes {
    size_t rows, channels, c, gates, scratch;
};
// False when it cannot be counted.
bool cpu_delta_count(const struct cpu_backend *c, const struct backend_limits *limits, struct cpu_delta_sizes *sizes);

enum status cpu_weight_bytes(struct backend *b, enum dtype dtype, uint64_t n, uint64_t k, const char *what,
                             size_t *bytes, struct err *e) TF_MUST_CHECK;
enum status cpu_pack(struct backend *b, const struct backend_pack_source *source, dptr to, struct backend_weight *out,
                     struct err *e) TF_MUST_CHECK;
double cpu_read_bandwidth(struct backend *b, size_t bytes);

#endif
