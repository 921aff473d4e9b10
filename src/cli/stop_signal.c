// Waiting for signals in a thread, so that nothing runs inside a handler.
#include "cli/stop_signal.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_SIGNALLED = 128 };

static void signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

static void *take_signals(void *context) {
    struct stop_signal *s = context;
    sigset_t set;
    signals(&set);
    for (;;) {
        int which = 0;
        if (sigwait(&set, &which) != 0) continue;
        pthread_mutex_lock(&s->mutex);
        if (!s->armed || s->asked) _exit(EXIT_SIGNALLED + which);
        s->asked = true;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->mutex);
    }
    return NULL;
}

enum status stop_signal_open(struct stop_signal *s, struct err *e) {
    *s = (struct stop_signal){.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    sigset_t set;
    signals(&set);
    signal(SIGPIPE, SIG_IGN); // a client that left shows as a failed write
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int error = pthread_create(&s->thread, NULL, take_signals, s);
    if (error) return err_set(e, STATUS_IO, "signals cannot be received: %s", strerror(error));
    return STATUS_OK;
}

void stop_signal_arm(struct stop_signal *s) {
    pthread_mutex_lock(&s->mutex);
    s->armed = true;
    pthread_mutex_unlock(&s->mutex);
}

void stop_signal_wait(struct stop_signal *s) {
    pthread_mutex_lock(&s->mutex);
    while (!s->asked) pthread_cond_wait(&s->changed, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
}

void stop_signal_close(struct stop_signal *s) {
    pthread_cancel(s->thread); // it waits in sigwait, where it can be ended
    pthread_join(s->thread, NULL);
}
