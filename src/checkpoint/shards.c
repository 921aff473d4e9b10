// The shard index: reading it, confining its file names to the folder, comparing it with what the shards hold.
#include "checkpoint/shards.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// One line of the index. Strings belong to the document.
struct line {
    const char *tensor, *shard;
    uint32_t file;
};

struct shard_index {
    char *path; // of the index
    yyjson_doc *doc;
    struct line *lines; // by tensor name in the end
    size_t n_lines;
    char **files;       // paths
    const char **names; // file names
    size_t n_files;
};

static int compare_shards(const void *a, const void *b) {
    return strcmp(((const struct line *)a)->shard, ((const struct line *)b)->shard);
}

static int compare_tensors(const void *a, const void *b) {
    return strcmp(((const struct line *)a)->tensor, ((const struct line *)b)->tensor);
}

static bool is_plain(const char *name, size_t n) {
    if (n == 0 || n > NAME_MAX || strlen(name) != n || strchr(name, '/')) return false;
    for (size_t i = 0; i < n; i++) {
        if ((uint8_t)name[i] < 0x20 || name[i] == 0x7f) return false;
    }
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static enum status read_lines(struct shard_index *s, struct err *e) {
    yyjson_val *map = yyjson_obj_get(yyjson_doc_get_root(s->doc), "weight_map"), *key, *value;
    size_t i, n;
    if (!yyjson_is_obj(map))
        return err_set(e, STATUS_INVALID, "%s: key \"weight_map\" is missing or no object", s->path);
    if (yyjson_obj_size(map) == 0) return err_set(e, STATUS_INVALID, "%s: key \"weight_map\" is empty", s->path);
    s->lines = mem_new(yyjson_obj_size(map), sizeof *s->lines);
    if (!s->lines) return err_set(e, STATUS_NO_MEMORY, "%s: no memory for its tensors", s->path);
    yyjson_obj_foreach(map, i, n, key, value) {
        const char *tensor = yyjson_get_str(key), *shard = yyjson_get_str(value);
        if (yyjson_get_len(key) > TENSOR_NAME_MAX || strlen(tensor) != yyjson_get_len(key)) {
            return err_set(e, STATUS_INVALID, "%s: key \"weight_map\": name %zu is no tensor name", s->path, i);
        }
        if (!shard) return err_set(e, STATUS_INVALID, "%s: tensor \"%s\": its shard is no string", s->path, tensor);
        if (!is_plain(shard, yyjson_get_len(value))) {
            return err_set(e, STATUS_INVALID, "%s: tensor \"%s\": its shard is no plain file name in this folder",
                           s->path, tensor);
        }
        s->lines[s->n_lines++] = (struct line){.tensor = tensor, .shard = shard};
    }
    return STATUS_OK;
}

// The last part of a path.
static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

// Turns .../models--X/snapshots/REVISION into .../models--X/blobs; false when it has another form.
static bool cache_blobs(char *folder) {
    char *revision = strrchr(folder, '/');
    if (!revision || revision == folder) return false;
    *revision = '\0';
    if (strcmp(last_part(folder), "snapshots") != 0) return false;
    char *last = folder + strlen(folder) - strlen("snapshots");
    memcpy(last, "blobs", sizeof "blobs");
    return true;
}

static enum status check_link(const struct shard_index *s, const char *folder, const char *path, struct err *e) {
    char here[PATH_MAX], there[PATH_MAX];
    if (!realpath(path, there)) {
        return err_set(e, STATUS_NOT_FOUND, "%s: shard \"%s\", which it names, is missing", s->path, last_part(path));
    }
    if (!realpath(folder, here)) return err_set(e, STATUS_IO, "%s: cannot be resolved", folder);
    if (starts_with(there, here)) return STATUS_OK;
    if (cache_blobs(here) && starts_with(there, here)) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: shard \"%s\" is a link that leads outside this folder", s->path,
                   last_part(path));
}

static enum status add_file(struct shard_index *s, const char *folder, const char *name, struct err *e) {
    if (s->n_files == SHARDS_MAX) return err_set(e, STATUS_TOO_LARGE, "%s: more than %d shards", s->path, SHARDS_MAX);
    struct buf path;
    buf_init(&path, PATH_MAX);
    buf_printf(&path, "%s/%s", folder, name);
    if (path.failed != STATUS_OK) {
        buf_fini(&path);
        return err_set(e, path.failed, "%s: shard \"%s\": %s", s->path, name, status_text(path.failed));
    }
    s->files[s->n_files] = path.data; // taken over
    s->names[s->n_files++] = name;
    return check_link(s, folder, path.data, e);
}

static enum status collect_files(struct shard_index *s, const char *folder, struct err *e) {
    s->files = mem_new(SHARDS_MAX, sizeof *s->files);
    s->names = mem_new(SHARDS_MAX, sizeof *s->names);
    if (!s->files || !s->names) return err_set(e, STATUS_NO_MEMORY, "%s: no memory for its shards", s->path);
    qsort(s->lines, s->n_lines, sizeof *s->lines, compare_shards);
    for (size_t i = 0; i < s->n_lines; i++) {
        struct line *l = &s->lines[i];
        if (i == 0 || strcmp(l->shard, l[-1].shard) != 0) TRY(add_file(s, folder, l->shard, e));
        l->file = (uint32_t)s->n_files - 1;
    }
    qsort(s->lines, s->n_lines, sizeof *s->lines, compare_tensors);
    return STATUS_OK;
}

static enum status read_index(struct shard_index *s, const char *folder, const char *path, struct err *e) {
    s->path = mem_string(path, strlen(path));
    if (!s->path) return err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    TRY(json_read(path, INDEX_BYTES_MAX, &s->doc, e));
    TRY(read_lines(s, e));
    return collect_files(s, folder, e);
}

enum status shard_index_read(const char *folder, const char *path, struct shard_index **out, struct err *e) {
    *out = NULL;
    struct shard_index *s = mem_new(1, sizeof *s);
    if (!s) return err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    enum status status = read_index(s, folder, path, e);
    if (status != STATUS_OK) {
        shard_index_free(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void shard_index_free(struct shard_index *s) {
    if (!s) return;
    for (size_t i = 0; i < s->n_files; i++) mem_free(s->files[i]);
    mem_free(s->files);
    mem_free(s->names);
    mem_free(s->lines);
    mem_free(s->path);
    yyjson_doc_free(s->doc);
    mem_free(s);
}

size_t shard_index_n_files(const struct shard_index *s) { return s->n_files; }
const char *shard_index_file(const struct shard_index *s, size_t i) { return s->files[i]; }

// Both lists are in name order, so one walk finds what either lacks.
enum status shard_index_check(const struct shard_index *s, const struct tensor_list *l, struct err *e) {
    size_t i = 0, j = 0;
    while (i < s->n_lines || j < l->n) {
        const struct line *line = i < s->n_lines ? &s->lines[i] : NULL;
        const struct tensor *t = j < l->n ? &l->items[j] : NULL;
        int order = !line ? 1 : !t ? -1 : strcmp(line->tensor, t->name);
        if (order < 0) {
            return err_set(e, STATUS_INVALID, "%s: tensor \"%s\" is listed in shard \"%s\", which does not hold it",
                           s->path, line->tensor, line->shard);
        }
        if (order > 0) {
            bool twice = j > 0 && strcmp(t[-1].name, t->name) == 0;
            return err_set(e, STATUS_INVALID, "%s: tensor \"%s\" is stored in shard \"%s\" but %s", s->path, t->name,
                           s->names[t->file], twice ? "in another one too" : "not listed");
        }
        if (line->file != t->file) {
            return err_set(e, STATUS_INVALID, "%s: tensor \"%s\" is listed in shard \"%s\" but stored in \"%s\"",
                           s->path, t->name, line->shard, s->names[t->file]);
        }
        i++;
        j++;
    }
    return STATUS_OK;
}
