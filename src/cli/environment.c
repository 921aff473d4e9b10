// Paths and the date from the environment.
#include "cli/environment.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum status environment_cache_path(const char *name, struct buf *out, struct err *e) {
    const char *cache = getenv("XDG_CACHE_HOME");
    if (cache && *cache == '/') {
        buf_printf(out, "%s/tensorfold/%s", cache, name);
    } else {
        const char *home = getenv("HOME");
        const struct passwd *user = home && *home ? NULL : getpwuid(getuid());
        if (user) home = user->pw_dir;
        if (!home || !*home) return err_set(e, STATUS_NOT_FOUND, "neither HOME nor XDG_CACHE_HOME is set");
        buf_printf(out, "%s/.cache/tensorfold/%s", home, name);
    }
    return out->failed == STATUS_OK ? STATUS_OK : err_set(e, out->failed, "the cache folder's path is too long");
}

void environment_make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

void environment_today(char out[ENVIRONMENT_DATE_BYTES]) {
    time_t now = time(NULL);
    struct tm day = {0};
    localtime_r(&now, &day);
    snprintf(out, ENVIRONMENT_DATE_BYTES, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}
