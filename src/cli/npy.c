// The .npy format, version 1.0: magic, header length, a Python dictionary padded to 64 bytes, the data.
#include "cli/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 128, PREAMBLE_BYTES = 10 };

static enum status write_at(const struct npy *npy, const void *bytes, size_t n, uint64_t at, struct err *e) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pwrite(npy->fd, (const char *)bytes + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return err_set(e, STATUS_IO, "%s: cannot write: %s", npy->path, strerror(errno));
        done += (size_t)got;
    }
    return STATUS_OK;
}

enum status npy_create(struct npy *npy, const char *path, uint64_t rows, uint64_t columns, struct err *e) {
    *npy = (struct npy){.fd = -1, .path = path, .rows = rows, .columns = columns, .data_at = HEADER_BYTES};
    char header[HEADER_BYTES + 1];
    const char preamble[PREAMBLE_BYTES] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER_BYTES - PREAMBLE_BYTES, 0};
    memset(header, ' ', sizeof header);
    memcpy(header, preamble, sizeof preamble);
    int n = snprintf(header + PREAMBLE_BYTES, sizeof header - PREAMBLE_BYTES,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }", rows, columns);
    header[PREAMBLE_BYTES + n] = ' ';
    header[HEADER_BYTES - 1] = '\n';
    npy->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (npy->fd < 0) return err_set(e, STATUS_IO, "%s: cannot create: %s", path, strerror(errno));
    struct stat about;
    npy->is_file = fstat(npy->fd, &about) == 0 && S_ISREG(about.st_mode);
    enum status s = write_at(npy, header, HEADER_BYTES, 0, e);
    if (s != STATUS_OK) npy_abandon(npy);
    return s;
}

enum status npy_write_row(const struct npy *npy, uint64_t row, const float *values, struct err *e) {
    size_t bytes = (size_t)npy->columns * sizeof *values;
    return write_at(npy, values, bytes, npy->data_at + row * bytes, e);
}

enum status npy_close(struct npy *npy, struct err *e) {
    int fd = npy->fd;
    npy->fd = -1;
    if (close(fd) != 0) return err_set(e, STATUS_IO, "%s: cannot write: %s", npy->path, strerror(errno));
    return STATUS_OK;
}

void npy_abandon(struct npy *npy) {
    if (npy->fd < 0) return;
    close(npy->fd);
    if (npy->is_file) unlink(npy->path);
    npy->fd = -1;
}
