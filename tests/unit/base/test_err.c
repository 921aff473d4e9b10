// Errors as values: the first one stays, prefixes name the place, every status has a text.
#include "base/err.h"
#include "tests/support/test.h"

#include <string.h>

static void the_first_failure_stays(void) {
    struct err e = {0};
    CHECK_INT(STATUS_INVALID, err_set(&e, STATUS_INVALID, "key %s: %d", "a", 7));
    CHECK_INT(STATUS_INVALID, err_set(&e, STATUS_IO, "later"));
    CHECK_TEXT("key a: 7", e.message);
    err_clear(&e);
    CHECK_INT(STATUS_OK, e.status);
    CHECK_TEXT("", e.message);
}

static void a_prefix_names_the_place_and_long_messages_are_cut(void) {
    struct err e = {0};
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_prefix(&e, "nothing");
    CHECK_TEXT("", e.message);
    err_set(&e, STATUS_IO, "%s", text);
    CHECK_INT(sizeof e.message - 1, strlen(e.message));
    err_prefix(&e, "%s", "model.gguf");
    CHECK_INT(0, strncmp(e.message, "model.gguf: xxx", 15));
    CHECK_INT(sizeof e.message - 1, strlen(e.message));
}

static void nobody_asking_for_the_message_is_fine(void) {
    CHECK_INT(STATUS_IO, err_set(NULL, STATUS_IO, "lost"));
    err_prefix(NULL, "lost");
    err_clear(NULL);
}

static enum status inner(bool fails) { return fails ? STATUS_BUSY : STATUS_OK; }

static enum status outer(bool fails, int *reached) {
    TRY(inner(fails));
    *reached = 1;
    return STATUS_OK;
}

static void try_returns_the_failure_at_once(void) {
    int reached = 0;
    CHECK_INT(STATUS_BUSY, outer(true, &reached));
    CHECK_INT(0, reached);
    CHECK_INT(STATUS_OK, outer(false, &reached));
    CHECK_INT(1, reached);
}

static void every_status_has_a_text_and_an_http_status(void) {
    CHECK_INT(200, status_http(STATUS_OK));
    CHECK_INT(413, status_http(STATUS_TOO_LARGE));
    CHECK_TEXT("out of memory", status_text(STATUS_NO_MEMORY));
    CHECK_TEXT("unknown", status_text((enum status)999));
    CHECK_INT(500, status_http((enum status)999));
}

static const struct test_case cases[] = {
    {"the first failure stays", the_first_failure_stays},
    {"a prefix names the place and long messages are cut", a_prefix_names_the_place_and_long_messages_are_cut},
    {"nobody asking for the message is fine", nobody_asking_for_the_message_is_fine},
    {"TRY returns the failure at once", try_returns_the_failure_at_once},
    {"every status has a text and an HTTP status", every_status_has_a_text_and_an_http_status},
};
TEST_MAIN("base/err", cases)
