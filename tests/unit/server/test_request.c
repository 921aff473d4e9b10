// Requests from JSON: what each field becomes, what is refused and by which name. Broken bodies: tests/http.
#include "server/request.h"
#include "tests/support/test.h"

#include <string.h>

static const struct draw_rule defaults = {.temperature = 0.7, .top_p = 0.9, .top_k = 40};

struct read {
    yyjson_doc *doc;
    struct request request;
    struct api_error error;
    enum status status;
};

// With what the route cannot do without, unless the text begins with a brace.
static struct read read_text(enum api_route route, const char *fields) {
    char body[4096];
    const char *base = route == API_CHAT ? "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"
                                         : "\"prompt\":\"a\"";
    snprintf(body, sizeof body, fields[0] == '{' ? "%s%s%s%s" : "{%s%s%s}",
             fields[0] == '{' ? "" : base, fields[0] && fields[0] != '{' ? "," : "", fields, "");
    struct read r = {0};
    struct err e = {0};
    CHECK_INT(STATUS_OK, json_parse("body", body, strlen(body), &r.doc, &e));
    CHECK_TEXT("", e.message);
    r.status = request_read(route, yyjson_doc_get_root(r.doc), &defaults, &r.request, &r.error);
    CHECK_INT(r.status == STATUS_OK, r.error.http == 0);
    return r;
}

static void close_read(struct read *r) { yyjson_doc_free(r->doc); }

static void check_refused(enum api_route route, const char *fields, const char *param,
                          const char *words) {
    struct read r = read_text(route, fields);
    CHECK_INT(400, r.error.http);
    CHECK_TEXT(param, r.error.param);
    if (!strstr(r.error.message, words))
        test_fail(__FILE__, __LINE__, "no \"%s\" in %s", words, r.error.message);
    close_read(&r);
}

static void keeps_the_defaults_where_a_field_is_absent_or_null(void) {
    static const char *const bodies[] = {
        "", "\"temperature\":null,\"top_p\":null,\"top_k\":null,\"seed\":null,"
            "\"stop\":null,\"max_tokens\":null,\"stream\":null,\"tools\":null"};
    for (size_t i = 0; i < 2; i++) {
        struct read r = read_text(API_CHAT, bodies[i]);
        CHECK_INT(STATUS_OK, r.status);
        CHECK(r.request.rule.temperature == 0.7 && r.request.rule.top_p == 0.9 &&
              r.request.rule.top_k == 40);
        CHECK(!r.request.seeded && !r.request.limited && !r.request.stream && !r.request.n_stops &&
              !r.request.tools);
        close_read(&r);
    }
}

static void reads_numbers_from_strings_and_whole_floats(void) {
    struct read r =
        read_text(API_COMPLETION,
                  "\"temperature\":\"1.5\",\"top_k\":\"7\",\"max_tokens\":12.0,\"min_p\":\"2e-1\"");
    CHECK_INT(STATUS_OK, r.status);
    CHECK(r.request.rule.temperature == 1.5 && r.request.rule.min_p == 0.2);
    CHECK_INT(7, r.request.rule.top_k);
    CHECK_INT(12, r.request.max_tokens);
    close_read(&r);
    check_refused(API_COMPLETION, "\"temperature\":true", "temperature", "a boolean");
    check_refused(API_COMPLETION, "\"temperature\":1000001", "temperature",
                  "1000001 is not between 0 and 1000000");
    check_refused(API_COMPLETION, "\"temperature\":\"1.5 \"", "temperature", "a string");
    check_refused(API_COMPLETION, "\"max_tokens\":1.5", "max_tokens", "not a whole number");
    check_refused(API_COMPLETION, "\"max_tokens\":-1", "max_tokens", "negative");
    check_refused(API_COMPLETION, "\"top_k\":18014398509481986.0", "top_k", "not a whole number");
}

static void takes_seeds_of_64_bits_with_and_without_a_sign(void) {
    static const struct {
        const char *text;
        uint64_t seed;
    } rows[] = {{"0", 0},
                {"-1", UINT64_MAX},
                {"18446744073709551615", UINT64_MAX},
                {"-9223372036854775808", (uint64_t)1 << 63},
                {"\"-2\"", UINT64_MAX - 1},
                {"-0", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[64];
        snprintf(fields, sizeof fields, "\"seed\":%s", rows[i].text);
        struct read r = read_text(API_CHAT, fields);
        CHECK_INT(STATUS_OK, r.status);
        CHECK(r.request.seeded && r.request.rule.seed == rows[i].seed);
        close_read(&r);
    }
    check_refused(API_CHAT, "\"seed\":18446744073709551616", "seed", "64 bits");
    check_refused(API_CHAT, "\"seed\":-9223372036854775809", "seed", "64 bits");
}

static void turns_top_k_off_at_zero_and_below(void) {
    static const char *const texts[] = {"0", "-1", "-5.0", "\"-1\""};
    for (size_t i = 0; i < 4; i++) {
        char fields[64];
        snprintf(fields, sizeof fields, "\"top_k\":%s", texts[i]);
        struct read r = read_text(API_CHAT, fields);
        CHECK_INT(STATUS_OK, r.status);
        CHECK_INT(0, r.request.rule.top_k);
        close_read(&r);
    }
}

static void makes_a_top_p_of_zero_the_smallest_nucleus(void) {
    struct read r = read_text(API_CHAT, "\"top_p\":0");
    CHECK(r.request.rule.top_p > 0 && r.request.rule.top_p < 1e-300);
    close_read(&r);
}

static void takes_one_stop_string_or_several(void) {
    struct read one = read_text(API_CHAT, "\"stop\":\"a\\u0000b\""),
                two = read_text(API_CHAT, "\"stop\":[\"x\",\"yz\"]");
    CHECK_INT(1, one.request.n_stops);
    CHECK_INT(3, one.request.stop_bytes[0]);
    CHECK_INT(2, two.request.n_stops);
    CHECK_TEXT("yz", two.request.stops[1]);
    close_read(&one);
    close_read(&two);
    check_refused(API_CHAT, "\"stop\":[\"x\",\"\"]", "stop[1]", "empty");
    check_refused(API_CHAT, "\"stop\":[\"x\",null]", "stop[1]", "null");
}

static void lets_the_newer_name_of_the_limit_count(void) {
    struct read r = read_text(API_CHAT, "\"max_tokens\":5,\"max_completion_tokens\":0");
    CHECK(r.request.limited);
    CHECK_INT(0, r.request.max_tokens);
    close_read(&r);
}

static void names_the_nearest_field_to_an_unknown_one(void) {
    check_refused(API_CHAT, "\"temprature\":1", "temprature", "did you mean temperature?");
    check_refused(API_COMPLETION, "\"messages\":[]", "messages", "no such field");
    check_refused(API_CHAT, "\"prompt\":\"a\"", "prompt", "no such field");
    check_refused(API_CHAT, "\"model\\u0000\":\"a\"", "model", "no such field");
}

static void refuses_by_name_what_is_not_served_and_takes_what_asks_for_nothing(void) {
    check_refused(API_CHAT, "\"n\":2", "n", "send 1");
    check_refused(API_CHAT, "\"logprobs\":true", "logprobs", "send false");
    check_refused(API_CHAT, "\"response_format\":{\"type\":\"json_object\"}", "response_format",
                  "text");
    check_refused(API_CHAT, "\"tool_choice\":\"required\"", "tool_choice", "auto");
    check_refused(API_CHAT, "\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":[]}",
                  "tool_choice", "auto");
    check_refused(API_CHAT, "\"modalities\":[\"audio\"]", "modalities", "text");
    struct read r = read_text(
        API_CHAT,
        "\"n\":1,\"logprobs\":false,\"logit_bias\":{},\"presence_penalty\":0,\"store\":false,"
        "\"user\":\"u\",\"metadata\":{\"a\":\"b\"},\"verbosity\":\"medium\"");
    CHECK_TEXT("", r.error.message);
    close_read(&r);
}

static void hides_tools_when_none_may_be_chosen(void) {
    const char *tools = "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    char fields[256];
    struct read shown = read_text(API_CHAT, tools);
    CHECK(shown.request.tools != NULL);
    close_read(&shown);
    static const char *const choices[] = {"\"none\"", "{\"type\":\"none\"}", "{\"mode\":\"none\"}"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(fields, sizeof fields, "%s,\"tool_choice\":%s", tools, choices[i]);
        struct read r = read_text(API_CHAT, fields);
        CHECK_INT(STATUS_OK, r.status);
        CHECK(r.request.tools == NULL);
        close_read(&r);
    }
    snprintf(fields, sizeof fields, "%s,\"parallel_tool_calls\":false", tools);
    check_refused(API_CHAT, fields, "parallel_tool_calls", "not served yet");
}

static void reads_every_spelling_of_thinking(void) {
    static const struct {
        const char *fields;
        enum thinking thinking;
        const char *effort;
    } rows[] = {
        {"", THINKING_UNSAID, NULL},
        {"\"enable_thinking\":false", THINKING_OFF, NULL},
        {"\"enable_thinking\":true,\"reasoning_effort\":\"high\"", THINKING_ON, "high"},
        {"\"thinking\":{\"type\":\"enabled\"}", THINKING_ON, NULL},
        {"\"thinking\":{\"type\":\"adaptive\"}", THINKING_UNSAID, NULL},
        {"\"thinking\":false", THINKING_OFF, NULL},
        {"\"reasoning_effort\":\"none\"", THINKING_OFF, NULL},
        {"\"reasoning_effort\":\"low\"", THINKING_UNSAID, "low"},
        {"\"reasoning_effort\":\"none\",\"enable_thinking\":true", THINKING_ON, NULL},
        {"\"enable_thinking\":false,\"reasoning_effort\":\"high\"", THINKING_OFF, NULL},
        {"\"chat_template_kwargs\":{\"enable_thinking\":false}", THINKING_OFF, NULL},
        {"\"chat_template_kwargs\":{\"thinking\":true,\"reasoning_effort\":\"max\"}", THINKING_ON,
         "max"},
        {"\"reasoning_effort\":\"low\",\"chat_template_kwargs\":{\"reasoning_effort\":\"high\"}",
         THINKING_UNSAID, "low"},
        {"\"enable_thinking\":true,\"chat_template_kwargs\":{\"enable_thinking\":false}",
         THINKING_ON, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct read r = read_text(API_CHAT, rows[i].fields);
        CHECK_TEXT("", r.error.message);
        CHECK_INT(rows[i].thinking, r.request.thinking);
        CHECK_TEXT(rows[i].effort, r.request.effort);
        close_read(&r);
    }
    check_refused(API_CHAT, "\"reasoning_effort\":\"lots\"", "reasoning_effort",
                  "none, minimal, low");
    check_refused(API_CHAT, "\"chat_template_kwargs\":{\"enable_thinking\":1}",
                  "chat_template_kwargs.enable_thinking", "true or false");
    check_refused(API_CHAT, "\"chat_template_kwargs\":{\"messages\":[]}",
                  "chat_template_kwargs.messages", "the conversation itself");
}

static void refuses_what_it_would_not_honour_in_an_object_of_thinking(void) {
    check_refused(API_CHAT, "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}",
                  "thinking.budget_tokens", "not served yet");
    check_refused(API_CHAT, "\"chat_template_kwargs\":{\"thinking\":{\"type\":\"adaptive\",\"x\":1}}",
                  "chat_template_kwargs.thinking.x", "not served yet");
    struct read r = read_text(API_CHAT, "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":null}");
    CHECK_INT(THINKING_ON, r.request.thinking);
    close_read(&r);
}

static void judges_a_spelling_of_thinking_that_another_one_overrules(void) {
    check_refused(API_CHAT, "\"enable_thinking\":true,\"thinking\":5", "thinking",
                  "expected true, false");
    check_refused(API_CHAT, "\"thinking\":true,\"chat_template_kwargs\":{\"thinking\":\"on\"}",
                  "chat_template_kwargs.thinking", "expected true, false");
}

static void finds_the_one_prompt_in_a_list(void) {
    static const char *const lists[] = {"[\"a\"]", "[[1,2]]", "[1,2]", "\"a\""};
    for (size_t i = 0; i < 4; i++) {
        char fields[64];
        snprintf(fields, sizeof fields, "{\"prompt\":%s}", lists[i]);
        struct read r = read_text(API_COMPLETION, fields);
        CHECK_INT(STATUS_OK, r.status);
        CHECK(i == 0 || i == 3 ? yyjson_equals_str(r.request.prompt, "a")
                               : yyjson_arr_size(r.request.prompt) == 2);
        close_read(&r);
    }
    check_refused(API_COMPLETION, "{\"prompt\":[\"a\",\"b\"]}", "prompt", "a request for each");
    check_refused(API_COMPLETION, "{\"prompt\":null}", "prompt", "missing");
    check_refused(API_COMPLETION, "{}", "prompt", "missing");
}

static void wants_streaming_for_its_options(void) {
    struct read r = read_text(
        API_CHAT, "\"stream\":true,\"stream_options\":{\"include_usage\":true,\"other\":null}");
    CHECK(r.request.stream && r.request.include_usage);
    close_read(&r);
    check_refused(API_CHAT, "\"stream_options\":{\"include_usage\":true}", "stream_options",
                  "\"stream\": true");
    check_refused(API_CHAT, "\"stream\":true,\"stream_options\":{\"include_usage\":1}",
                  "stream_options.include_usage", "a number");
}

static void writes_the_envelope_around_any_text(void) {
    struct api_error e = {0};
    struct buf out;
    buf_init(&out, 4096);
    api_error_refuse(&e, "a_code", "a\"\xff", "line\n%s", "\xe2\x82");
    api_error_refuse(&e, "later", "b", "a later refusal");
    api_error_write(&e, &out);
    CHECK_TEXT("{\"error\":{\"message\":\"line\\n\xef\xbf\xbd\",\"type\":\"invalid_request_error\","
               "\"param\":\"a\\\"\xef\xbf\xbd\",\"code\":\"a_code\"}}",
               out.data);
    buf_reset(&out);
    const struct err busy = {STATUS_BUSY, "busy"};
    e = (struct api_error){0};
    api_error_from(&e, &busy, NULL);
    CHECK_INT(503, e.http);
    api_error_write(&e, &out);
    CHECK_TEXT("{\"error\":{\"message\":\"busy\",\"type\":\"server_error\",\"param\":null,\"code\":"
               "\"busy\"}}",
               out.data);
    buf_fini(&out);
}

static const struct test_case cases[] = {
    {"keeps the defaults where a field is absent or null",
     keeps_the_defaults_where_a_field_is_absent_or_null},
    {"reads numbers from strings and whole floats", reads_numbers_from_strings_and_whole_floats},
    {"takes seeds of 64 bits with and without a sign",
     takes_seeds_of_64_bits_with_and_without_a_sign},
    {"turns top_k off at zero and below", turns_top_k_off_at_zero_and_below},
    {"makes a top_p of zero the smallest nucleus", makes_a_top_p_of_zero_the_smallest_nucleus},
    {"takes one stop string or several", takes_one_stop_string_or_several},
    {"lets the newer name of the limit count", lets_the_newer_name_of_the_limit_count},
    {"names the nearest field to an unknown one", names_the_nearest_field_to_an_unknown_one},
    {"refuses by name what is not served and takes what asks for nothing",
     refuses_by_name_what_is_not_served_and_takes_what_asks_for_nothing},
    {"hides tools when none may be chosen", hides_tools_when_none_may_be_chosen},
    {"reads every spelling of thinking", reads_every_spelling_of_thinking},
    {"refuses what it would not honour in an object of thinking",
     refuses_what_it_would_not_honour_in_an_object_of_thinking},
    {"judges a spelling of thinking that another one overrules",
     judges_a_spelling_of_thinking_that_another_one_overrules},
    {"finds the one prompt in a list", finds_the_one_prompt_in_a_list},
    {"wants streaming for its options", wants_streaming_for_its_options},
    {"writes the envelope around any text", writes_the_envelope_around_any_text},
};

TEST_MAIN("request", cases)
