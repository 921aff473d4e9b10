// The shard index: names confined to the folder, and index and shards compared both ways.
#include "checkpoint/checkpoint.h"
#include "checkpoint/shards.h"
#include "tests/support/model_bytes.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_shard(const struct temp *t, const char *name, const char *tensor) {
    struct buf b;
    char header[200];
    buf_init(&b, 1 << 16);
    snprintf(header, sizeof header, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", tensor);
    put_safetensors(&b, header, 4);
    temp_write(t, name, b.data, b.n);
    buf_fini(&b);
}

// Two shards, one tensor each.
static struct temp two_shards(const char *index) {
    struct temp t = temp_new();
    temp_text(&t, "config.json", "{}");
    write_shard(&t, "s1.safetensors", "a");
    write_shard(&t, "s2.safetensors", "b");
    temp_text(&t, "model.safetensors.index.json", index);
    return t;
}

// Opens the folder; the message has to be "FOLDER/model.safetensors.index.json: " and then `message`.
static void check_folder(const struct temp *t, enum status status, const char *message) {
    struct checkpoint *c;
    struct err e = {0};
    char path[TEMP_PATH_MAX];
    CHECK_INT(status, checkpoint_open(t->folder, &c, &e));
    temp_path(t, "model.safetensors.index.json: ", path);
    if (status != STATUS_OK) {
        bool named = strncmp(e.message, path, strlen(path)) == 0;
        CHECK_TEXT(message, named ? e.message + strlen(path) : e.message);
    } else {
        CHECK_TEXT("", e.message);
    }
    checkpoint_close(c);
}

static void check_index(const char *index, enum status status, const char *message) {
    struct temp t = two_shards(index);
    check_folder(&t, status, message);
    temp_remove(&t);
}

#define BOTH "{\"metadata\":{},\"weight_map\":{\"b\":\"s2.safetensors\",\"a\":\"s1.safetensors\"}}"

static void opens_a_checkpoint_of_two_shards(void) {
    struct temp t = two_shards(BOTH);
    struct checkpoint *c;
    CHECK_INT(STATUS_OK, checkpoint_open(t.folder, &c, NULL));
    CHECK_INT(2, checkpoint_n_tensors(c));
    const struct tensor *b = checkpoint_find(c, "b");
    CHECK(b && strstr(checkpoint_file_name(c, b->file), "/s2.safetensors"));
    checkpoint_close(c);
    temp_remove(&t);
}

static void refuses_an_index_that_is_none(void) {
    check_index("[", STATUS_INVALID, "line 1, column 2: unexpected end of data");
    check_index("[]", STATUS_INVALID, "key \"weight_map\" is missing or no object");
    check_index("{\"weight_map\":[]}", STATUS_INVALID, "key \"weight_map\" is missing or no object");
    check_index("{\"weight_map\":{}}", STATUS_INVALID, "key \"weight_map\" is empty");
    check_index("{\"weight_map\":{\"a\":7}}", STATUS_INVALID, "tensor \"a\": its shard is no string");
    check_index("{\"weight_map\":{\"a\":\"s1.safetensors\",\"a\":\"s1.safetensors\"}}", STATUS_INVALID,
                "key \"a\" appears twice in one object");
}

static void compares_index_and_shards(void) {
    check_index("{\"weight_map\":{\"a\":\"s1.safetensors\",\"b\":\"s3.safetensors\"}}", STATUS_NOT_FOUND,
                "shard \"s3.safetensors\", which it names, is missing");
    check_index("{\"weight_map\":{\"a\":\"s1.safetensors\",\"b\":\"s2.safetensors\",\"c\":\"s2.safetensors\"}}",
                STATUS_INVALID, "tensor \"c\" is listed in shard \"s2.safetensors\", which does not hold it");
    check_index("{\"weight_map\":{\"a\":\"s2.safetensors\",\"b\":\"s1.safetensors\"}}", STATUS_INVALID,
                "tensor \"a\" is listed in shard \"s2.safetensors\" but stored in \"s1.safetensors\"");
    check_index("{\"weight_map\":{\"a\":\"s1.safetensors\",\"x\":\"s2.safetensors\"}}", STATUS_INVALID,
                "tensor \"b\" is stored in shard \"s2.safetensors\" but not listed");
}

static void finds_a_tensor_stored_twice(void) {
    struct temp t = two_shards("{\"weight_map\":{\"a\":\"s1.safetensors\",\"b\":\"s2.safetensors\","
                               "\"c\":\"s3.safetensors\"}}");
    write_shard(&t, "s3.safetensors", "a");
    check_folder(&t, STATUS_INVALID, "tensor \"a\" is stored in shard \"s3.safetensors\" but in another one too");
    temp_remove(&t);
}

static void check_name(const char *name) {
    char index[6000];
    snprintf(index, sizeof index, "{\"weight_map\":{\"a\":\"%s\"}}", name);
    check_index(index, STATUS_INVALID, "tensor \"a\": its shard is no plain file name in this folder");
}

static void refuses_names_that_are_no_plain_files(void) {
    char longest[5001];
    memset(longest, 'x', 5000);
    longest[5000] = '\0';
    check_name("");
    check_name(".");
    check_name("..");
    check_name("../s1.safetensors");
    check_name("a/b");
    check_name("/etc/passwd");
    check_name("s1.safetensors\\u0000x");
    check_name("a\\nb");
    check_name(longest);
}

static void refuses_links_that_lead_outside(void) {
    struct temp t = two_shards(BOTH), other = temp_new();
    char path[TEMP_PATH_MAX], target[TEMP_PATH_MAX];
    write_shard(&other, "s2.safetensors", "b");
    CHECK_INT(0, unlink(temp_path(&t, "s2.safetensors", path)));
    CHECK_INT(0, symlink(temp_path(&other, "s2.safetensors", target), path));
    check_folder(&t, STATUS_INVALID, "shard \"s2.safetensors\" is a link that leads outside this folder");
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, symlink("nowhere", path));
    check_folder(&t, STATUS_NOT_FOUND, "shard \"s2.safetensors\", which it names, is missing");
    CHECK_INT(0, unlink(path));
    write_shard(&t, "real", "b");
    CHECK_INT(0, symlink("real", path));
    check_folder(&t, STATUS_OK, "");
    temp_remove(&t);
    temp_remove(&other);
}

// A Hugging Face cache keeps its files in blobs/ and links to them from snapshots/REVISION/.
static void follows_links_within_a_hugging_face_cache(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct temp snapshot = t;
    CHECK_INT(0, mkdir(temp_path(&t, "blobs", path), 0700));
    CHECK_INT(0, mkdir(temp_path(&t, "snapshots", path), 0700));
    CHECK_INT(0, mkdir(temp_path(&t, "snapshots/1", path), 0700));
    strncat(snapshot.folder, "/snapshots/1", sizeof snapshot.folder - strlen(t.folder) - 1);
    write_shard(&t, "blobs/77", "a");
    write_shard(&t, "elsewhere", "a");
    temp_text(&snapshot, "config.json", "{}");
    temp_text(&snapshot, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"s1.safetensors\"}}");
    CHECK_INT(0, symlink("../../blobs/77", temp_path(&snapshot, "s1.safetensors", path)));
    check_folder(&snapshot, STATUS_OK, "");
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, symlink("../../elsewhere", path));
    check_folder(&snapshot, STATUS_INVALID, "shard \"s1.safetensors\" is a link that leads outside this folder");
    temp_remove(&t);
}

static const struct test_case cases[] = {
    {"opens a checkpoint of two shards", opens_a_checkpoint_of_two_shards},
    {"refuses an index that is none", refuses_an_index_that_is_none},
    {"compares index and shards", compares_index_and_shards},
    {"finds a tensor stored twice", finds_a_tensor_stored_twice},
    {"refuses names that are no plain files", refuses_names_that_are_no_plain_files},
    {"refuses links that lead outside", refuses_links_that_lead_outside},
    {"follows links within a Hugging Face cache", follows_links_within_a_hugging_face_cache},
};
TEST_MAIN("checkpoint/shards", cases)
