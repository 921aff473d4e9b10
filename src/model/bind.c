// Names to weights. Nothing looks a tensor up by name after this.
#include "model/bind.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct binder {
    const struct checkpoint *checkpoint;
    const struct arch *arch;
    struct binding *out;
    bool gguf;
    bool *used; // [tensors], in name order
    bool taps_seen;
};

// The index of a stored tensor, or the number of tensors when there is none of that name.
static size_t find_tensor(const struct checkpoint *c, const char *name) {
    size_t low = 0, high = checkpoint_n_tensors(c);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(checkpoint_tensor(c, middle)->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < checkpoint_n_tensors(c) && strcmp(checkpoint_tensor(c, low)->name, name) == 0;
    return found ? low : checkpoint_n_tensors(c);
}

static const char *module_of(const struct binder *b, const struct arch_tensor *spec) {
    return b->gguf ? spec->gguf : spec->hf;
}

// What stands before a module of the description in this checkpoint's names.
static const char *before_of(const struct binder *b, enum role role) {
    return b->gguf ? "" : role == ROLE_HEAD ? b->arch->names->head : b->arch->names->body;
}

// The stored name of a part of a module. The layer goes into its pattern: "%u" at most once. False when it is too long.
static bool write_name(char name[BIND_NAME_MAX], const struct binder *b, const struct arch_tensor *spec,
                       uint32_t layer, const char *suffix) {
    const char *before = before_of(b, spec->role), *pattern = module_of(b, spec), *mark = strstr(pattern, "%u");
    int n_start = (int)(mark ? (size_t)(mark - pattern) : strlen(pattern));
    int n = mark ? snprintf(name, BIND_NAME_MAX, "%s%.*s%u%s%s", before, n_start, pattern, layer, mark + 2, suffix)
                 : snprintf(name, BIND_NAME_MAX, "%s%s%s", before, pattern, suffix);
    return n > 0 && n < BIND_NAME_MAX;
}

enum part { PART_WEIGHT, PART_BIAS };

// The dimensions that a part must have. Taps may also lie converted, with the last two turned round.
static uint32_t shape_of(const struct binder *b, const struct arch_tensor *spec, enum part part, uint64_t shape[3]) {
    const uint64_t *dim = b->arch->dim;
    shape[0] = dim[spec->rows];
    if (part == PART_BIAS || spec->columns == DIM_NONE) return 1;
    bool taps = spec->flags & TENSOR_TAPS;
    shape[1] = taps ? 1 : dim[spec->columns];
    shape[2] = dim[spec->columns];
    return taps ? 3 : 2;
}

static void write_shape(char out[128], const uint64_t *shape, uint32_t n_dims) {
    size_t n = 0;
    for (uint32_t i = 0; i < n_dims; i++) {
        n += (size_t)snprintf(out + n, 128 - n, "%s%llu", i ? ", " : "[", (unsigned long long)shape[i]);
    }
    snprintf(out + n, 128 - n, "]");
}

static enum status check_shape(const struct binder *b, const struct tensor *t, const uint64_t *shape, uint32_t n_dims,
                               struct err *e) {
    bool equal = t->n_dims == n_dims;
    for (uint32_t i = 0; equal && i < n_dims; i++) equal = t->shape[i] == shape[i];
    if (equal) return STATUS_OK;
    char expected[128], got[128];
    write_shape(expected, shape, n_dims);
    write_shape(got, t->shape, t->n_dims);
    return err_set(e, STATUS_INVALID, "tensor %s in %s: expected shape %s, got %s", t->name,
                   checkpoint_file_name(b->checkpoint, t->file), expected, got);
}

// Taps of one checkpoint lie all in one order, which says whether its norms are converted too.
static enum status judge_taps(struct binder *b, const struct tensor *t, uint64_t shape[3], struct err *e) {
    bool converted = t->n_dims == 3 && t->shape[2] == 1;
    if (b->taps_seen && converted != b->out->converted) {
        return err_set(e, STATUS_INVALID, "tensor %s in %s: its taps lie in another order than those before", t->name,
                       checkpoint_file_name(b->checkpoint, t->file));
    }
    b->taps_seen = true;
    b->out->converted = converted;
    if (!converted) return STATUS_OK;
    uint64_t taps = shape[2];
    shape[2] = shape[1];
    shape[1] = taps;
    return STATUS_OK;
}

// Finds a part of a module. *out stays NULL when it is absent and may be.
static enum status take(struct binder *b, const struct arch_tensor *spec, uint32_t layer, enum part part,
                        enum presence presence, const struct tensor **out, struct err *e) {
    char name[BIND_NAME_MAX];
    uint64_t shape[3];
    const char *suffix = part == PART_BIAS ? ".bias" : spec->flags & TENSOR_BARE ? "" : ".weight";
    if (!write_name(name, b, spec, layer, suffix)) return STATUS_INTERNAL;
    size_t i = find_tensor(b->checkpoint, name);
    if (i == checkpoint_n_tensors(b->checkpoint)) {
        if (presence == PRESENCE_OPTIONAL) return STATUS_OK;
        return err_set(e, STATUS_NOT_FOUND, "tensor %s is missing from %s", name, checkpoint_path(b->checkpoint));
    }
    const struct tensor *t = checkpoint_tensor(b->checkpoint, i);
    uint32_t n_dims = shape_of(b, spec, part, shape);
    if (spec->flags & TENSOR_TAPS) TRY(judge_taps(b, t, shape, e));
    TRY(check_shape(b, t, shape, n_dims, e));
    b->used[i] = true;
    *out = t;
    return STATUS_OK;
}

static enum status bind_one(struct binder *b, const struct arch_tensor *spec, uint32_t layer, struct err *e) {
    struct bound bound = {.spec = spec, .layer = layer};
    if (!module_of(b, spec) || ((spec->flags & TENSOR_TIED) && b->arch->tied)) return STATUS_OK;
    enum presence weight = spec->flags & TENSOR_OPTIONAL ? PRESENCE_OPTIONAL : PRESENCE_REQUIRED;
    TRY(take(b, spec, layer, PART_WEIGHT, weight, &bound.weight, e));
    if (!bound.weight) return STATUS_OK;
    enum presence bias = b->arch->bias[spec->bias];
    if (bias != PRESENCE_NONE) TRY(take(b, spec, layer, PART_BIAS, bias, &bound.bias, e));
    b->out->bound[b->out->n++] = bound;
    return STATUS_OK;
}

static const struct arch_layer *layer_of(const struct arch *a, uint32_t layer) {
    return &a->family->layers[a->layer_kind[layer]];
}

static enum status bind_all(struct binder *b, struct err *e) {
    const struct family *f = b->arch->family;
    for (uint32_t i = 0; i < f->n_tensors; i++) TRY(bind_one(b, &f->tensors[i], 0, e));
    for (uint32_t layer = 0; layer < b->arch->dim[DIM_LAYERS]; layer++) {
        const struct arch_layer *l = layer_of(b->arch, layer);
        for (uint32_t i = 0; i < l->n_tensors; i++) TRY(bind_one(b, &l->tensors[i], layer, e));
    }
    return STATUS_OK;
}

static size_t most_bound(const struct arch *a) {
    size_t n = a->family->n_tensors;
    for (uint32_t layer = 0; layer < a->dim[DIM_LAYERS]; layer++) n += layer_of(a, layer)->n_tensors;
    return n;
}

static bool is_inert(const struct binder *b, const char *name) {
    size_t n = strlen(name);
    for (const char *const *end = b->gguf ? NULL : b->arch->family->hf_inert; end && *end; end++) {
        size_t m = strlen(*end);
        if (n >= m && strcmp(name + n - m, *end) == 0) return true;
    }
    return false;
}

// The rest of a name behind `start`; NULL when it begins otherwise.
static const char *behind(const char *name, const char *start, size_t n) {
    return name && strncmp(name, start, n) == 0 ? name + n : NULL;
}

// True for a name inside a layer that runs: its pattern up to the number, the number itself, then a dot.
static bool in_running_layer(const struct binder *b, const char *name) {
    const char *pattern = b->gguf ? b->arch->family->gguf_layer : b->arch->family->hf_layer;
    const char *before = before_of(b, ROLE_LAYER_FIRST), *p = behind(name, before, strlen(before));
    const char *digits = behind(p, pattern, (size_t)(strstr(pattern, "%u") - pattern));
    uint64_t layer = 0;
    for (p = digits; p && *p >= '0' && *p <= '9' && layer <= LAYERS_MAX; p++) layer = layer * 10 + (uint64_t)(*p - '0');
    return p > digits && *p == '.' && layer < b->arch->dim[DIM_LAYERS];
}

// True for a name inside a module outside the layers.
static bool in_running_module(const struct binder *b, const char *name) {
    for (uint32_t i = 0; i < b->arch->family->n_tensors; i++) {
        const struct arch_tensor *spec = &b->arch->family->tensors[i];
        const char *module = module_of(b, spec), *before = before_of(b, spec->role);
        if (!module) continue;
        const char *part = behind(behind(name, before, strlen(before)), module, strlen(module));
        if (part && *part == '.') return true;
    }
    return false;
}

static enum status judge_rest(struct binder *b, struct err *e) {
    for (size_t i = 0; i < checkpoint_n_tensors(b->checkpoint); i++) {
        const struct tensor *t = checkpoint_tensor(b->checkpoint, i);
        if (b->used[i] || is_inert(b, t->name)) continue;
        if (in_running_layer(b, t->name) || in_running_module(b, t->name)) {
            return err_set(e, STATUS_UNSUPPORTED,
                           "tensor %s in %s belongs to a module that runs, but the %s family has no place for it",
                           t->name, checkpoint_file_name(b->checkpoint, t->file), b->arch->family->name);
        }
        b->out->unknown[b->out->n_unknown++] = t->name;
    }
    return STATUS_OK;
}

enum status bind_tensors(const struct checkpoint *c, const struct arch *a, struct binding *out, struct err *e) {
    struct binder b = {.checkpoint = c, .arch = a, .out = out, .gguf = checkpoint_kind(c) == CHECKPOINT_GGUF};
    size_t n = checkpoint_n_tensors(c);
    *out = (struct binding){.bound = mem_new(most_bound(a), sizeof *out->bound),
                            .unknown = mem_new(n, sizeof *out->unknown)};
    b.used = mem_new(n, sizeof *b.used);
    enum status status = STATUS_NO_MEMORY;
    if (!out->bound || !out->unknown || !b.used)
        err_set(e, status, "no memory to bind %zu tensors", n);
    else
        status = bind_all(&b, e);
    if (status == STATUS_OK) status = judge_rest(&b, e);
    mem_free(b.used);
    if (status != STATUS_OK) bind_free(out);
    return status;
}

void bind_free(struct binding *b) {
    mem_free(b->bound);
    mem_free(b->unknown);
    *b = (struct binding){0};
}
