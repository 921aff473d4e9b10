// Opening a checkpoint: a folder of safetensors with its settings, or one GGUF file.
#include "checkpoint/checkpoint.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "checkpoint/gguf.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/shards.h"
#include "checkpoint/tensors.h"

#include <limits.h>
#include <string.h>

struct checkpoint {
    enum checkpoint_kind kind;
    char *path; // as it was given
    struct file_map **files;
    size_t n_files;
    struct tensor_list tensors; // by name
    struct config *config, *generation;
};

// folder/name, terminated; mem_free it.
static enum status join(const char *folder, const char *name, char **out, struct err *e) {
    struct buf b;
    buf_init(&b, PATH_MAX);
    buf_printf(&b, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    *out = b.failed == STATUS_OK ? b.data : NULL;
    if (*out) return STATUS_OK;
    buf_fini(&b);
    return err_set(e, b.failed, "%s: the path of its %s: %s", folder, name, status_text(b.failed));
}

// Reads folder/name as settings; an absent one is an error only where it is needed.
static enum status read_settings(struct checkpoint *c, const char *name, bool needed, struct config **out,
                                 struct err *e) {
    char *path;
    TRY(join(c->path, name, &path, e));
    enum status status = needed || file_exists(path) ? config_read(path, out, e) : STATUS_OK;
    mem_free(path);
    return status;
}

static enum status add_file(struct checkpoint *c, const char *path, struct err *e) {
    TRY(file_map_open(path, &c->files[c->n_files], e));
    c->n_files++;
    return STATUS_OK;
}

static enum status make_room(struct checkpoint *c, size_t n_files, struct err *e) {
    c->files = mem_new(n_files, sizeof *c->files);
    return c->files ? STATUS_OK : err_set(e, STATUS_NO_MEMORY, "%s: no memory", c->path);
}

static enum status add_safetensors(struct checkpoint *c, const char *path, struct err *e) {
    TRY(add_file(c, path, e));
    const struct file_map *m = c->files[c->n_files - 1];
    return safetensors_read(&c->tensors, path, (uint32_t)c->n_files - 1, file_map_data(m), file_map_bytes(m), e);
}

static enum status open_single(struct checkpoint *c, const char *path, struct err *e) {
    TRY(make_room(c, 1, e));
    TRY(add_safetensors(c, path, e));
    tensor_list_sort(&c->tensors);
    return STATUS_OK;
}

static enum status open_indexed(struct checkpoint *c, const char *path, struct err *e) {
    struct shard_index *index;
    TRY(shard_index_read(c->path, path, &index, e));
    size_t n = shard_index_n_files(index);
    enum status status = make_room(c, n, e);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) status = add_safetensors(c, shard_index_file(index, i), e);
    if (status == STATUS_OK) {
        tensor_list_sort(&c->tensors);
        status = shard_index_check(index, &c->tensors, e);
    }
    shard_index_free(index);
    return status;
}

// An index decides where there is one, even beside a model.safetensors: it may name that very file.
static enum status open_weights(struct checkpoint *c, struct err *e) {
    char *index, *single = NULL;
    TRY(join(c->path, "model.safetensors.index.json", &index, e));
    enum status status = join(c->path, "model.safetensors", &single, e);
    if (status == STATUS_OK && file_exists(index)) {
        status = open_indexed(c, index, e);
    } else if (status == STATUS_OK && file_exists(single)) {
        status = open_single(c, single, e);
    } else if (status == STATUS_OK) {
        status =
            err_set(e, STATUS_NOT_FOUND, "%s: has neither model.safetensors nor model.safetensors.index.json", c->path);
    }
    mem_free(index);
    mem_free(single);
    return status;
}

static enum status open_folder(struct checkpoint *c, struct err *e) {
    c->kind = CHECKPOINT_SAFETENSORS;
    TRY(read_settings(c, "config.json", true, &c->config, e));
    TRY(read_settings(c, "generation_config.json", false, &c->generation, e));
    return open_weights(c, e);
}

static enum status open_gguf(struct checkpoint *c, struct err *e) {
    struct gguf_meta *meta;
    c->kind = CHECKPOINT_GGUF;
    TRY(make_room(c, 1, e));
    TRY(add_file(c, c->path, e));
    TRY(gguf_read(&c->tensors, c->path, file_map_data(c->files[0]), file_map_bytes(c->files[0]), &meta, e));
    enum status status = config_over_gguf(c->path, meta, &c->config, e);
    if (status != STATUS_OK) {
        gguf_meta_free(meta);
        return status;
    }
    tensor_list_sort(&c->tensors);
    return STATUS_OK;
}

static enum status check_file(const struct checkpoint *c, uint32_t file, struct err *e) {
    if (!file_map_damaged(c->files[file])) return STATUS_OK;
    return err_set(e, STATUS_IO, "%s: changed or could not be read while it was opened", checkpoint_file_name(c, file));
}

// Names that appear twice: in one GGUF file here, elsewhere found by the JSON reader and the shard index.
static enum status check_names(const struct checkpoint *c, struct err *e) {
    for (size_t i = 1; i < c->tensors.n; i++) {
        const struct tensor *t = &c->tensors.items[i];
        if (strcmp(t[-1].name, t->name) != 0) continue;
        return err_set(e, STATUS_INVALID, "%s: tensor \"%s\" appears twice", checkpoint_file_name(c, t->file), t->name);
    }
    return STATUS_OK;
}

static enum status open_path(struct checkpoint *c, struct err *e) {
    if (!c->path || c->path[0] == '\0') return err_set(e, STATUS_INVALID, "the checkpoint's path is empty");
    TRY(file_is_folder(c->path) ? open_folder(c, e) : open_gguf(c, e));
    TRY(check_names(c, e));
    // Headers that changed under us were not what was checked.
    for (uint32_t i = 0; i < c->n_files; i++) TRY(check_file(c, i, e));
    return STATUS_OK;
}

enum status checkpoint_open(const char *path, struct checkpoint **out, struct err *e) {
    *out = NULL;
    struct checkpoint *c = mem_new(1, sizeof *c);
    if (!c) return err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    tensor_list_init(&c->tensors);
    c->path = mem_string(path, strlen(path));
    enum status status = c->path ? open_path(c, e) : err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    if (status != STATUS_OK) {
        checkpoint_close(c);
        return status;
    }
    *out = c;
    return STATUS_OK;
}

void checkpoint_close(struct checkpoint *c) {
    if (!c) return;
    config_free(c->config);
    config_free(c->generation);
    tensor_list_fini(&c->tensors);
    for (size_t i = 0; i < c->n_files; i++) file_map_close(c->files[i]);
    mem_free(c->files);
    mem_free(c->path);
    mem_free(c);
}

enum checkpoint_kind checkpoint_kind(const struct checkpoint *c) { return c->kind; }
const char *checkpoint_path(const struct checkpoint *c) { return c->path; }
size_t checkpoint_n_tensors(const struct checkpoint *c) { return c->tensors.n; }
const struct tensor *checkpoint_tensor(const struct checkpoint *c, size_t i) { return &c->tensors.items[i]; }
const struct config *checkpoint_config(const struct checkpoint *c) { return c->config; }
const struct config *checkpoint_generation_config(const struct checkpoint *c) { return c->generation; }

const struct tensor *checkpoint_find(const struct checkpoint *c, const char *name) {
    return tensor_list_find(&c->tensors, name);
}

const char *checkpoint_file_name(const struct checkpoint *c, uint32_t file) { return file_map_path(c->files[file]); }

void checkpoint_release(const struct checkpoint *c, const struct tensor *t) {
    const struct file_map *m = c->files[t->file];
    file_map_release(m, (size_t)(t->data - file_map_data(m)), (size_t)t->bytes);
}

enum status checkpoint_check_read(const struct checkpoint *c, const struct tensor *t, struct err *e) {
    if (!file_map_damaged(c->files[t->file])) return STATUS_OK;
    return err_set(e, STATUS_IO, "%s: tensor \"%s\": the file changed or could not be read while it was in use",
                   checkpoint_file_name(c, t->file), t->name);
}
