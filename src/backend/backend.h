// The device seam: memory, order, and one entry an op. Everything above it works on any device.
#ifndef TF_BACKEND_BACKEND_H
#define TF_BACKEND_BACKEND_H

#include "base/cpu.h"
#include "base/dtype.h"
#include "base/err.h"
#include "kernels/draw/draw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An address in the device's memory. An integer, so that nothing outside a backend can dereference it by mistake.
typedef struct dptr {
    uint64_t address; // 0 = none
} dptr;

static inline dptr dptr_at(dptr p, size_t bytes) { return (dptr){p.address + bytes}; }

// A linear weight as the backend packed it.
struct backend_weight {
    uint32_t n, k;     // outputs, inputs
    uint32_t format;   // the backend's own number
    dptr packed, bias; // bias: [n] float, or none
    size_t bytes;      // of the packed form
};

// What a weight is packed from: one stored tensor [n, k], mapped and maybe misaligned.
struct backend_pack_source {
    enum dtype dtype;
    uint32_t n, k;
    const uint8_t *rows;
    const uint32_t *row_map; // [n] output o is stored row row_map[o]; NULL = as stored
};

// One row's place in the paged caches (see attention.h: the same words).
struct backend_row {
    int32_t table;             // which stream's page table
    uint32_t slot;             // where its key and value go
    uint32_t n_prefix, n_path; // visible: slots 0 .. n_prefix-1, then paths[path_at ..]
    uint32_t path_at;
};

// The rows of one forward, resident on the device for all its ops.
struct backend_rows {
    uint32_t n;
    const struct backend_row *rows;     // [n] host memory
    const int32_t *const *page_tables;  // [tables] host memory
    const uint32_t *paths;              // path slots of tree rows, host memory
    const int64_t *positions;           // [n] host memory
};

struct op_embed { // y[r] = row ids[r] of w
    const struct backend_weight *w;
    const int32_t *ids; // [rows] host memory
    uint32_t rows, ldy;
    dptr y;
};
struct op_norm { // RMS norm of rows, or of each of the `groups` vectors that lie side by side in a row
    dptr x, y, w;
    uint32_t rows, n, ldx, ldy;
    uint32_t groups; // vectors of n values a row, all normed with the same w; 0 counts as 1
    float eps;
};
struct op_norm_gated { // y = norm(x) * silu(gate) for each of the `groups` vectors of a row
    dptr x, gate, y, w;
    uint32_t rows, n, groups, ldx, ldgate, ldy;
    float eps;
};
struct op_gate { // y = x * sigmoid(gate)
    dptr x, gate, y;
    uint32_t rows, n, ldx, ldgate, ldy;
};
enum { OP_LINEAR_MAX = 4 };
struct op_linear { // up to four products of one input: y[i] = x w[i]^T (+ bias) (+ residual)
    dptr x;
    uint32_t rows, ldx, n_products;
    struct {
        const struct backend_weight *w;
        dptr y, residual; // residual: none, or same shape and stride as y; may be y
        uint32_t ldy;
    } product[OP_LINEAR_MAX];
};
struct op_rope_rows { // cosine, sine [rows][n] of positions * inverse, once a forward
    const int64_t *positions; // [rows] host memory
    const double *inverse;    // [n] host memory
    uint32_t rows, n;
    float scale;
    dptr cosine, sine;
};
struct op_rope { // turns x in place
    dptr x, cosine, sine;
    uint32_t rows, ldx, heads, head_dim, dims;
};
struct backend_cache { // one layer's paged keys and values (attention.h has the layout)
    dptr keys, values;
    uint32_t kv_heads, head_dim, value_dim;
};
struct op_store { // the rows' keys and values go to their slots
    const struct backend_cache *cache;
    const struct backend_rows *rows;
    dptr keys, values;
    uint32_t ldk, ldv;
};
struct op_load { // the tokens in slots first .. first + n - 1 of one stream, one a row, as op_store took them
    const struct backend_cache *cache;
    const int32_t *pages; // host memory
    uint32_t first, n;
    dptr keys, values;
    uint32_t ldk, ldv;
};
struct op_attention {
    const struct backend_cache *cache;
    const struct backend_rows *rows;
    dptr q, y;
    uint32_t ldq, ldy, heads;
    float scale;
};
struct op_move { // copies one stored token of one stream from a slot to another
    const struct backend_cache *cache;
    const int32_t *pages;
    uint32_t from, to;
};
struct op_swiglu {
    dptr gate, up, y;
    uint32_t rows, n, ld;
};
// One layer's recurrent memory of every slot: a short convolution's newest inputs and the delta rule's state.
// channels = 2 * k_heads * k_dim + v_heads * v_dim, in the order q, k, v; v_heads is a multiple of k_heads.
struct backend_delta {
    dptr conv;  // [slots][taps - 1][channels] inputs of the newest committed rows, oldest first
    dptr state; // [slots][v_heads][k_dim][v_dim]
    dptr held;  // [slots][held_rows][channels + 2 * v_heads] u, a, b of a window's rows behind the committed ones
    uint32_t taps, k_heads, v_heads, k_dim, v_dim, held_rows;
};

// What one stream's window asks of the recurrent memory: first the held rows of its last window that were accepted
// since, then its own leading rows are committed, one by one in order; rows behind those leave the state alone, see
// their own ancestors only, and are held.
struct backend_delta_window {
    uint32_t slot;
    bool fresh;                  // the slot's memory counts as all zero, whatever it holds; it is written in any case
    const uint32_t *replay;      // [n_replay] held rows to commit first, rising
    uint32_t n_replay;
    uint32_t first_row, n_rows;  // rows of this forward; 0 rows: only the replay (materialise)
    uint32_t n_commit;           // leading rows that are committed: a chain
};
struct op_delta { // one Gated DeltaNet mixer between its projections: convolution, gates, delta rule
    const struct backend_delta *memory;
    const struct backend_delta_window *windows; // host memory
    const int32_t *parents; // [rows] host memory: indices in this forward, -1 for the first row of a window
    dptr u, a, b;           // [rows][ldu] channels before the convolution; [rows][ldg] each v_heads
    dptr taps;              // [taps][channels] weights, the last one multiplies the row itself
    dptr decay, dt_bias;    // [v_heads] -exp(A_log); [v_heads]
    dptr y;                 // [rows][ldy] v_heads * v_dim; overlaps no input
    uint32_t n_windows, rows, ldu, ldg, ldy;
};
struct op_gather { // y[i] = x[rows_at[i]], rows of n floats
    dptr x, y;
    const uint32_t *rows_at; // [rows] host memory
    uint32_t rows, n, ldx, ldy;
};
struct op_draw { // ids[i] drawn from logits row i
    dptr logits, ids; // [rows][ld] float; [rows] int32
    uint32_t rows, ld;
    const struct draw_rule *const *rules; // [rows] host memory
    const uint64_t *token_index;          // [rows] host memory
};

struct backend_options {
    uint32_t threads; // CPU: 0 = all processors of the affinity mask
    enum isa isa;     // CPU
};

// What forwards will need at most, told once before the first op so that scratch is planned and no op allocates.
struct backend_limits {
    uint32_t rows, k, n_keys, heads, n_ids; // rows a forward, widest linear input, visible keys, query heads, ids
    struct backend_cache cache;             // geometry only
    struct backend_delta delta;             // geometry only; taps 0 = no such layer
    uint32_t slots;                         // streams resident at once
};

// What memory is for: the word that messages use, and how the device places it.
enum backend_use {
    BACKEND_USE_WEIGHTS, // written once, streamed through by every forward
    BACKEND_USE_CACHE,   // large, touched page by page as streams grow
    BACKEND_USE_WORK,    // values between ops
    BACKEND_USE_COUNT
};

struct backend;

// Ops are enqueued in order; host arrays they name must stay as they are until the next read. A backend is used by one
// thread. A NULL entry is an op that the device lacks: a family that needs it is refused by name at load.
struct backend_ops {
    const char *name;           // "cpu"
    const char *arithmetic;     // arithmetic version, "cpu-1": the same string means the same bits
    uint32_t page_slots;        // cache slots a page
    uint32_t rows_default;      // rows a forward carries unless the user says otherwise

    void (*close)(struct backend *b);
    void (*describe)(const struct backend *b, char *text, size_t n); // "cpu, 2 threads, avx2"

    // Memory. `alloc` gives zeroed bytes that count only where touched.
    uint64_t (*memory_available)(const struct backend *b); // bytes that a new model may plan with
    enum status (*alloc)(struct backend *b, size_t bytes, enum backend_use use, dptr *out, struct err *e);
    void (*release)(struct backend *b, dptr p, size_t bytes);
    enum status (*upload)(struct backend *b, dptr to, const void *from, size_t bytes, struct err *e);
    enum status (*read)(struct backend *b, void *to, dptr from, size_t bytes, struct err *e); // the only wait
    // What reserve takes; false when it cannot be counted.
    bool (*scratch_bytes)(const struct backend *b, const struct backend_limits *limits, size_t *bytes);
    enum status (*reserve)(struct backend *b, const struct backend_limits *limits, struct err *e);

    // Weights. weight_bytes refuses a dtype or shape that has no kernel (`what` is the tensor's name).
    enum status (*weight_bytes)(struct backend *b, enum dtype dtype, uint64_t n, uint64_t k, const char *what,
                                size_t *bytes, struct err *e);
    enum status (*pack)(struct backend *b, const struct backend_pack_source *source, dptr to,
                        struct backend_weight *out, struct err *e);

    void (*embed)(struct backend *b, const struct op_embed *op);
    void (*norm)(struct backend *b, const struct op_norm *op);
    void (*linear)(struct backend *b, const struct op_linear *op);
    void (*rope_rows)(struct backend *b, const struct op_rope_rows *op);
    void (*rope)(struct backend *b, const struct op_rope *op);
    void (*store)(struct backend *b, const struct op_store *op);
    void (*load)(struct backend *b, const struct op_load *op);
    void (*attention)(struct backend *b, const struct op_attention *op);
    void (*move)(struct backend *b, const struct op_move *op);
    void (*swiglu)(struct backend *b, const struct op_swiglu *op);
    void (*norm_gated)(struct backend *b, const struct op_norm_gated *op);
    void (*gate)(struct backend *b, const struct op_gate *op);
    void (*delta)(struct backend *b, const struct op_delta *op);
    void (*gather)(struct backend *b, const struct op_gather *op);
    void (*draw)(struct backend *b, const struct op_draw *op);

    // Bytes a second that all threads together read from a buffer of `bytes` (several times the last cache).
    double (*read_bandwidth)(struct backend *b, size_t bytes);
};

struct backend {
    const struct backend_ops *ops;
    // The backend's own fields follow in its own struct.
};

enum status backend_open_cpu(const struct backend_options *options, struct backend **out, struct err *e) TF_MUST_CHECK;

#endif
