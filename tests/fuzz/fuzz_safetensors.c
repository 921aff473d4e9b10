// Fuzz target: the image of a safetensors file.
#include "checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct tensor_list l;
    struct err e = {0};
    tensor_list_init(&l);
    enum status status = safetensors_read(&l, "f", 0, data, n, &e);
    if ((status == STATUS_OK) != (e.message[0] == '\0')) abort(); // every fault has a message, nothing else has
    tensor_list_sort(&l);
    for (size_t i = 0; status == STATUS_OK && i < l.n; i++) {
        const struct tensor *t = &l.items[i];
        if (t->data < data || t->bytes > (uint64_t)(data + n - t->data)) abort();
        if (tensor_list_find(&l, t->name) != t) abort();
    }
    tensor_list_fini(&l);
    return 0;
}
