// Checkpoints from outside: folders, GGUF files, what is missing, files that shrink, memory that ends.
#include "checkpoint/checkpoint.h"
#include "base/mem.h"
#include "tests/support/model_bytes.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <string.h>
#include <unistd.h>

enum { T_F32 = 0, PAGES = 64, DATA_BYTES = PAGES * 4096 };

static void write_single(const struct temp *t) {
    struct buf b;
    buf_init(&b, 1 << 20);
    put_safetensors(&b,
                    "{\"w\":{\"dtype\":\"U8\",\"shape\":[64,4096],\"data_offsets\":[0,262144]},"
                    "\"extra\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[262144,262148]}}",
                    DATA_BYTES + 4);
    temp_write(t, "model.safetensors", b.data, b.n);
    buf_fini(&b);
}

static struct temp good_folder(void) {
    struct temp t = temp_new();
    temp_text(&t, "config.json", "{\"model_type\":\"llama\",\"eos_token_id\":2}");
    write_single(&t);
    return t;
}

static void check_opening(const char *path, enum status status, const char *part) {
    struct checkpoint *c;
    struct err e = {0};
    CHECK_INT(status, checkpoint_open(path, &c, &e));
    if (!strstr(e.message, part)) test_fail(__FILE__, __LINE__, "expected \"%s\" in \"%s\"", part, e.message);
    CHECK((c != NULL) == (status == STATUS_OK));
    checkpoint_close(c);
}

static void opens_a_folder(void) {
    struct temp t = good_folder();
    struct checkpoint *c;
    uint64_t v = 0;
    CHECK_INT(STATUS_OK, checkpoint_open(t.folder, &c, NULL));
    CHECK_INT(CHECKPOINT_SAFETENSORS, checkpoint_kind(c));
    CHECK_TEXT(t.folder, checkpoint_path(c));
    CHECK_INT(2, checkpoint_n_tensors(c));
    CHECK_TEXT("extra", checkpoint_tensor(c, 0)->name);
    CHECK_TEXT("w", checkpoint_tensor(c, 1)->name);
    CHECK(checkpoint_find(c, "w") == checkpoint_tensor(c, 1));
    CHECK(checkpoint_find(c, "v") == NULL);
    CHECK(checkpoint_generation_config(c) == NULL);
    CHECK_INT(STATUS_OK, config_u64(checkpoint_config(c), "eos_token_id", &v, NULL));
    const struct tensor *w = checkpoint_find(c, "w");
    checkpoint_release(c, w);
    CHECK_INT(255, w->data[255]);
    CHECK_INT(STATUS_OK, checkpoint_check_read(c, w, NULL));
    checkpoint_close(c);
    temp_text(&t, "generation_config.json", "{\"eos_token_id\":[2,3]}");
    CHECK_INT(STATUS_OK, checkpoint_open(t.folder, &c, NULL));
    CHECK(checkpoint_generation_config(c) != NULL);
    checkpoint_close(c);
    temp_remove(&t);
}

static void names_what_a_folder_lacks(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    check_opening(t.folder, STATUS_NOT_FOUND, "config.json");
    temp_text(&t, "config.json", "{}");
    check_opening(t.folder, STATUS_NOT_FOUND, "neither model.safetensors nor model.safetensors.index.json");
    write_single(&t);
    check_opening(t.folder, STATUS_OK, "");
    temp_text(&t, "config.json", "{\"a\":");
    check_opening(t.folder, STATUS_INVALID, "config.json: line 1");
    temp_text(&t, "config.json", "{}");
    temp_text(&t, "generation_config.json", "7");
    check_opening(t.folder, STATUS_INVALID, "generation_config.json: not a JSON object");
    check_opening(temp_path(&t, "none", path), STATUS_NOT_FOUND, "none");
    check_opening("", STATUS_INVALID, "empty");
    check_opening(temp_path(&t, "config.json", path), STATUS_INVALID, "does not start with \"GGUF\"");
    temp_remove(&t);
}

static void opens_a_gguf_file(void) {
    struct temp t = temp_new();
    struct buf b;
    struct checkpoint *c;
    char path[TEMP_PATH_MAX];
    buf_init(&b, 1 << 16);
    put_gguf_head(&b, 3, 2, 1);
    put_gguf_key_text(&b, "general.architecture", "llama");
    put_gguf_tensor(&b, "b", 2, (const uint64_t[]){3, 2}, T_F32, 0);
    put_gguf_tensor(&b, "a", 1, (const uint64_t[]){1}, T_F32, 32);
    put_gguf_data(&b, 32, 36);
    temp_write(&t, "m.gguf", b.data, b.n);
    CHECK_INT(STATUS_OK, checkpoint_open(temp_path(&t, "m.gguf", path), &c, NULL));
    CHECK_INT(CHECKPOINT_GGUF, checkpoint_kind(c));
    CHECK_TEXT("a", checkpoint_tensor(c, 0)->name);
    CHECK_INT(2, checkpoint_find(c, "b")->shape[0]);
    CHECK_INT(3, checkpoint_find(c, "b")->shape[1]);
    CHECK(config_is_gguf(checkpoint_config(c)) && checkpoint_generation_config(c) == NULL);
    checkpoint_close(c);
    buf_reset(&b);
    put_gguf_head(&b, 3, 2, 0);
    put_gguf_tensor(&b, "a", 1, (const uint64_t[]){1}, T_F32, 0);
    put_gguf_tensor(&b, "a", 1, (const uint64_t[]){1}, T_F32, 32);
    put_gguf_data(&b, 32, 36);
    temp_write(&t, "m.gguf", b.data, b.n);
    check_opening(path, STATUS_INVALID, "tensor \"a\" appears twice");
    buf_fini(&b);
    temp_remove(&t);
}

static void names_the_file_that_shrank_while_weights_were_read(void) {
    struct temp t = good_folder();
    struct checkpoint *c;
    char path[TEMP_PATH_MAX];
    struct err e = {0};
    CHECK_INT(STATUS_OK, checkpoint_open(t.folder, &c, NULL));
    const struct tensor *w = checkpoint_find(c, "w");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < w->bytes; i++) {
        if (i == w->bytes / 2) CHECK_INT(0, truncate(temp_path(&t, "model.safetensors", path), 4096));
        sum += w->data[i];
    }
    CHECK(sum > 0);
    CHECK_INT(STATUS_IO, checkpoint_check_read(c, w, &e));
    CHECK(strstr(e.message, path) && strstr(e.message, "tensor \"w\""));
    checkpoint_close(c);
    temp_remove(&t);
}

static void lets_go_of_everything_when_memory_ends(void) {
    struct temp t = good_folder();
    bool opened = false;
    temp_text(&t, "generation_config.json", "{}");
    for (uint64_t n = 1; n < 200 && !opened; n++) {
        struct checkpoint *c;
        struct err e = {0};
        mem_fail_after(n);
        enum status status = checkpoint_open(t.folder, &c, &e);
        mem_fail_after(0);
        opened = status == STATUS_OK;
        if (!opened) CHECK_INT(STATUS_NO_MEMORY, status);
        checkpoint_close(c);
    }
    CHECK(opened);
    temp_remove(&t);
}

static const struct test_case cases[] = {
    {"opens a folder", opens_a_folder},
    {"names what a folder lacks", names_what_a_folder_lacks},
    {"opens a GGUF file", opens_a_gguf_file},
    {"names the file that shrank while weights were read", names_the_file_that_shrank_while_weights_were_read},
    {"lets go of everything when memory ends", lets_go_of_everything_when_memory_ends},
};
TEST_MAIN("checkpoint/checkpoint", cases)
