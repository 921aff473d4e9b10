// One gate being run on one kernel: what the tools of check.h work on.
#ifndef TF_KERNELS_CHECK_STATE_H
#define TF_KERNELS_CHECK_STATE_H

#include "kernels/check.h"
#include "kernels/check_memory.h"
#include "kernels/kcheck.h"

struct check {
    const struct kcheck_options *options;
    struct check_memory memory;
    struct pool *pool;
    char name[96];     // full name of the kernel or fault
    uint64_t random;   // splitmix64 state
    bool upper_halves; // a kernel left the upper halves of vector registers in use
    bool failed;
    char message[256]; // of the first failure
};

#endif
