// Read-only file mappings that survive the file being cut short, and whole small files.
//
// Touching a mapped page that the file no longer has raises SIGBUS. A handler, installed once for the process, looks
// the address up in a fixed table of our mappings and puts zeros there; any other address goes to the handler that was
// there before. The table is the one piece of process-wide state: a signal handler has no other way to find it.
#include "base/file.h"

#include "base/checked.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANGES_MAX = 4096, RANGE_CLAIMED = 1 };

// A mapping as the handler sees it. start: 0 = free, RANGE_CLAIMED = being filled in, else the first address.
struct range {
    _Atomic uintptr_t start, end;
    atomic_bool damaged;
};

static struct range ranges[RANGES_MAX];
static struct sigaction before;     // the handler that was there first; written once, before ours is installed
static int install_error = 0;       // errno of a failed installation
static uintptr_t page_bytes = 4096; // written once, before the handler is installed
static pthread_once_t install_once = PTHREAD_ONCE_INIT;

struct file_map {
    const uint8_t *data;
    size_t bytes;
    struct range *range; // NULL for an empty file
    int fd;
    struct timespec changed; // the file's modification time when it was mapped
    char *path;
};

// The range that holds `address`, or NULL. A range that changes hands meanwhile is another's: the mapping that
// `address` belongs to is alive while it is being read.
static struct range *find_range(uintptr_t address) {
    for (size_t i = 0; i < RANGES_MAX; i++) {
        struct range *r = &ranges[i];
        uintptr_t start = atomic_load(&r->start);
        if (start <= RANGE_CLAIMED || address < start || address >= atomic_load(&r->end)) continue;
        if (atomic_load(&r->start) == start) return r;
    }
    return NULL;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(number, &plain, NULL);
        raise(number); // delivered when this handler returns
    }
}

// Zeros go over the faulting page and all after it: when a file shrank they are gone too, and one mapping of zeros
// stays one however many pages are read. Only system calls and atomics: safe in a signal handler.
static void on_bus_error(int number, siginfo_t *info, void *context) {
    int saved = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct range *r = info->si_code > 0 ? find_range(address) : NULL; // <= 0: sent by a process, no fault
    if (!r) {
        pass_on(number, info, context);
    } else {
        atomic_store(&r->damaged, true);
        uintptr_t page = address & ~(page_bytes - 1);
        void *zeros = mmap((void *)page, atomic_load(&r->end) - page, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        if (zeros == MAP_FAILED) pass_on(number, info, context);
    }
    errno = saved;
}

static void install(void) {
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGBUS, NULL, &before) != 0 || sigaction(SIGBUS, &ours, NULL) != 0) install_error = errno;
}

static struct range *claim_range(uintptr_t start, uintptr_t end) {
    for (size_t i = 0; i < RANGES_MAX; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&ranges[i].start, &none, RANGE_CLAIMED)) continue;
        atomic_store(&ranges[i].damaged, false);
        atomic_store(&ranges[i].end, end);
        atomic_store(&ranges[i].start, start);
        return &ranges[i];
    }
    return NULL;
}

// Opens a regular file for reading; the caller closes *fd.
static enum status open_regular(const char *path, int *fd, struct stat *about, struct err *e) {
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not block us before it is refused
    if (*fd < 0) {
        enum status status = errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
        return err_set(e, status, "%s: cannot be opened: %s", path, strerror(errno));
    }
    enum status status = STATUS_OK;
    if (fstat(*fd, about) != 0)
        status = err_set(e, STATUS_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(about->st_mode))
        status = err_set(e, STATUS_INVALID, "%s: not a regular file", path);
    if (status != STATUS_OK) close(*fd);
    return status;
}

static enum status map_whole(struct file_map *m, struct err *e) {
    if (m->bytes == 0) return STATUS_OK;
    void *data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, m->fd, 0);
    if (data == MAP_FAILED) return err_set(e, STATUS_IO, "%s: cannot be mapped: %s", m->path, strerror(errno));
    m->data = data;
    size_t whole_pages = ceil_div(m->bytes, page_bytes) * page_bytes;
    m->range = claim_range((uintptr_t)data, (uintptr_t)data + whole_pages);
    if (!m->range) return err_set(e, STATUS_TOO_LARGE, "%s: %d files are mapped already", m->path, RANGES_MAX);
    return STATUS_OK;
}

enum status file_map_open(const char *path, struct file_map **out, struct err *e) {
    *out = NULL;
    pthread_once(&install_once, install);
    if (install_error) return err_set(e, STATUS_IO, "SIGBUS handler: %s", strerror(install_error));
    int fd;
    struct stat about;
    TRY(open_regular(path, &fd, &about, e));
    struct file_map *m = mem_new(1, sizeof *m);
    if (!m) {
        close(fd);
        return err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    }
    *m = (struct file_map){.fd = fd, .bytes = (size_t)about.st_size, .changed = about.st_mtim};
    m->path = mem_string(path, strlen(path));
    enum status status = m->path ? map_whole(m, e) : err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    if (status != STATUS_OK) {
        file_map_close(m);
        return status;
    }
    *out = m;
    return STATUS_OK;
}

void file_map_close(struct file_map *m) {
    if (!m) return;
    if (m->range) atomic_store(&m->range->start, 0); // before the addresses can become another's
    if (m->data) munmap((void *)(uintptr_t)m->data, m->bytes);
    close(m->fd);
    mem_free(m->path);
    mem_free(m);
}

const uint8_t *file_map_data(const struct file_map *m) { return m->data; }
size_t file_map_bytes(const struct file_map *m) { return m->bytes; }
const char *file_map_path(const struct file_map *m) { return m->path; }

bool file_map_damaged(const struct file_map *m) {
    if (m->range && atomic_load(&m->range->damaged)) return true;
    // The rest of a file's last page reads as zeros without a signal, and a file may be cut and written anew.
    struct stat now;
    return fstat(m->fd, &now) != 0 || (uintmax_t)now.st_size != m->bytes || now.st_mtim.tv_sec != m->changed.tv_sec ||
           now.st_mtim.tv_nsec != m->changed.tv_nsec;
}

void file_map_release(const struct file_map *m, size_t offset, size_t n) {
    if (!m->data || n == 0 || offset >= m->bytes) return;
    if (n > m->bytes - offset) n = m->bytes - offset;
    uintptr_t start = ((uintptr_t)m->data + offset) & ~(page_bytes - 1);
    madvise((void *)start, (uintptr_t)m->data + offset + n - start, MADV_DONTNEED);
}

static enum status read_all(int fd, const char *path, char *data, size_t n, struct err *e) {
    for (size_t got = 0; got < n;) {
        ssize_t r = read(fd, data + got, n - got);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return err_set(e, STATUS_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (r == 0) return err_set(e, STATUS_IO, "%s: ends after %zu of %zu bytes", path, got, n);
        got += (size_t)r;
    }
    return STATUS_OK;
}

enum status file_read(const char *path, size_t limit, char **data, size_t *n, struct err *e) {
    *data = NULL;
    *n = 0;
    int fd;
    struct stat about;
    TRY(open_regular(path, &fd, &about, e));
    size_t bytes = (size_t)about.st_size;
    enum status status;
    char *text = NULL;
    if (bytes > limit) {
        status = err_set(e, STATUS_TOO_LARGE, "%s: %zu bytes are over the limit of %zu", path, bytes, limit);
    } else if (!(text = mem_new(bytes + 1, 1))) {
        status = err_set(e, STATUS_NO_MEMORY, "%s: no memory for %zu bytes", path, bytes);
    } else {
        status = read_all(fd, path, text, bytes, e);
    }
    close(fd);
    if (status != STATUS_OK) {
        mem_free(text);
        return status;
    }
    *data = text;
    *n = bytes;
    return STATUS_OK;
}

bool file_exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool file_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}
