// Lists on the command line: token ids inline and from files, positions.
#include "cli/id_list.h"
#include "cli/positions.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Parses an argument; the result, or the message, as text.
static const char *parsed(const char *argument, bool *usage) {
    static char text[600];
    struct ids ids = {0};
    struct err e = {0};
    size_t n = 0;
    text[0] = '\0';
    if (id_list_parse(argument, &ids, usage, &e) != STATUS_OK) {
        memcpy(text, e.message, sizeof e.message);
    } else {
        for (size_t i = 0; i < ids.n; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%d ", ids.at[i]);
    }
    ids_fini(&ids);
    return text;
}

static void reads_ids_inline(void) {
    bool usage;
    CHECK_TEXT("1 2 3 ", parsed("1,2,3", &usage));
    CHECK_TEXT("0 ", parsed("0", &usage));
    CHECK_TEXT("2147483647 ", parsed("2147483647", &usage));
}

static void refuses_broken_lists_as_bad_usage(void) {
    static const char *const broken[] = {
        "", ",", "1,", ",1", "1,,2", "1 2", "-1", "2147483648", "99999999999999999999", "x"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char expected[100];
        bool usage = false;
        snprintf(expected, sizeof expected, "expected token ids as 1,2,3 or @FILE, not %s", broken[i]);
        CHECK_TEXT(expected, parsed(broken[i], &usage));
        CHECK(usage);
    }
}

// Parses "@FILE" with `json` in the file; the file's own name becomes FILE in messages.
static const char *parsed_file(const char *json) {
    static char result[600];
    char path[] = "/tmp/tensorfold-ids-XXXXXX", argument[64];
    int fd = mkstemp(path);
    bool usage = true, written = fd >= 0 && write(fd, json, strlen(json)) == (ssize_t)strlen(json);
    if (!written) test_fail(__FILE__, __LINE__, "cannot write %s", path);
    close(fd);
    snprintf(argument, sizeof argument, "@%s", path);
    const char *text = parsed(argument, &usage), *at = strstr(text, path);
    CHECK(!usage);
    snprintf(result, sizeof result, "%s%s", at ? "FILE" : "", at ? at + strlen(path) : text);
    unlink(path);
    return result;
}

static void reads_ids_from_files(void) {
    CHECK_TEXT("5 6 ", parsed_file("[5, 6]"));
    CHECK_TEXT("7 ", parsed_file("{\"positions\": [1], \"prompt\": [7], \"greedy\": [2]}\n"));
}

static void names_what_is_wrong_in_a_file(void) {
    CHECK_TEXT("FILE holds no token ids", parsed_file("[]"));
    CHECK_TEXT("FILE is not a list of token ids", parsed_file("{\"ids\": [1]}"));
    CHECK_TEXT("FILE is not a list of token ids", parsed_file("\"1,2\""));
    CHECK_TEXT("FILE: entry 1 is not a token id", parsed_file("[1, 2.5]"));
    CHECK_TEXT("FILE: entry 0 is not a token id", parsed_file("[-1]"));
    CHECK_TEXT("FILE: entry 0 is not a token id", parsed_file("[2147483648]"));
}

static void reads_positions_in_their_order(void) {
    struct positions p;
    CHECK_INT(STATUS_OK, positions_parse("299,0,5,5", 300, &p, NULL));
    CHECK_INT(4, p.n);
    CHECK_INT(299, p.at[0]);
    CHECK_INT(0, p.at[1]);
    CHECK_INT(5, p.at[3]);
    positions_fini(&p);
}

static void refuses_positions_that_are_not_there(void) {
    struct positions p;
    struct err e = {0};
    CHECK_INT(STATUS_INVALID, positions_parse("0,300", 300, &p, &e));
    CHECK_TEXT("position 300 is outside the 300 ids, which are counted from 0", e.message);
    err_clear(&e);
    CHECK_INT(STATUS_INVALID, positions_parse("99999999999999999999999", 300, &p, &e));
    static const char *const broken[] = {"", ",", "0,", "1-2", "x"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        CHECK_INT(STATUS_INVALID, positions_parse(broken[i], 300, &p, NULL));
        CHECK(p.at == NULL);
    }
}

static const struct test_case cases[] = {
    {"reads ids inline", reads_ids_inline},
    {"refuses broken lists as bad usage", refuses_broken_lists_as_bad_usage},
    {"reads ids from files", reads_ids_from_files},
    {"names what is wrong in a file", names_what_is_wrong_in_a_file},
    {"reads positions in their order", reads_positions_in_their_order},
    {"refuses positions that are not there", refuses_positions_that_are_not_there},
};
TEST_MAIN("cli/ids", cases)
