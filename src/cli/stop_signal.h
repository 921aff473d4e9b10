// SIGINT and SIGTERM for a command that runs until it is told to stop.
#ifndef TF_CLI_STOP_SIGNAL_H
#define TF_CLI_STOP_SIGNAL_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

struct stop_signal {
    pthread_t thread; // takes the signals
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool armed, asked;
};

// From here on the signals come to a thread of our own; call it before any other thread is started. Until it is armed a
// signal ends the program at once.
enum status stop_signal_open(struct stop_signal *s, struct err *e) TF_MUST_CHECK;

// From here on the first signal only asks to stop; the next one ends the program at once.
void stop_signal_arm(struct stop_signal *s);

void stop_signal_wait(struct stop_signal *s); // until a signal has asked

// The signals stay blocked: the program is about to end.
void stop_signal_close(struct stop_signal *s);

#endif
