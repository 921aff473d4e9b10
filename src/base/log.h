// Log lines go to a callback that the top of the program supplies; nothing below it prints.
#ifndef TF_BASE_LOG_H
#define TF_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log {
    void (*write)(void *context, enum log_level level, const char *line); // one line, no newline
    void *context;
};

// Formats one line of at most 1,023 bytes. `log` or its callback may be NULL: then nothing happens.
void log_line(const struct log *log, enum log_level level, const char *format, ...) TF_PRINTF(3, 4);

#endif
