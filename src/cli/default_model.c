// Finding the default model.
#include "cli/default_model.h"

#include "base/file.h"
#include "cli/environment.h"

#include <errno.h>
#include <unistd.h>

enum status default_model_find(const char *named, struct buf *path, struct err *e) {
    if (named) {
        if (access(named, F_OK) != 0 && errno == ENOENT) {
            return err_set(e, STATUS_NOT_FOUND, "%s: not there; name a checkpoint's folder or a .gguf file", named);
        }
        buf_text(path, named);
        return path->failed == STATUS_OK ? STATUS_OK : err_set(e, path->failed, "the model's path is too long");
    }
    TRY(environment_cache_path(ENVIRONMENT_DEFAULT_MODEL, path, e));
    if (file_exists(path->data)) return STATUS_OK;
    return err_set(e, STATUS_NOT_FOUND, "the default model is not there yet (%s); ./demo fetches it, or name a MODEL",
                   path->data);
}
