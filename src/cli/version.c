// Version and facts of the build.
#include "cli/version.h"

#include "backend/backend.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef TF_CUDA
#define CUDA "yes"
#else
#define CUDA "no"
#endif

enum status version_print(FILE *out, struct err *e) {
    const struct backend_options options = {.threads = 1, .isa = ISA_REF};
    struct backend *b;
    TRY(backend_open_cpu(&options, &b, e));
    fprintf(out, "tensorfold %s\narithmetic %s\ncompiler %s\ncuda %s\nisa", TF_VERSION, b->ops->arithmetic, COMPILER,
            CUDA);
    b->ops->close(b);
    for (int i = 0; i < ISA_COUNT; i++) {
        if (isa_available((enum isa)i)) fprintf(out, " %s", isa_name((enum isa)i));
    }
    fputc('\n', out);
    return STATUS_OK;
}
