// Chat prompts: what a template sees, and that text from people never becomes a control token.
#include "text/chat.h"
#include "tests/unit/text/tiny_tokenizer.h"

static const char chatml[] = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] +"
 " '<|im_end|>' + '\\n' }}"
                             "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

// A conversation of one user message as a document; content need not be valid UTF-8.
static yyjson_doc *conversation(const char *content) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc), *message = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, message, "role", "user");
    yyjson_mut_obj_add_str(doc, message, "content", content);
    yyjson_mut_doc_set_root(doc, list);
    yyjson_doc *out = yyjson_mut_doc_imut_copy(doc, NULL);
    yyjson_mut_doc_free(doc);
    return out;
}

// The prompt of a conversation of one user message.
static enum status prompt_of(const char *template, const char *bos, const char *content, struct chat_prompt *out,
                             struct err *e) {
    struct chat_template *t = NULL;
    *out = (struct chat_prompt){0};
    TRY(chat_template_new(template, strlen(template), bos, "", &t, e));
    yyjson_doc *doc = conversation(content);
    struct chat_input input = {.messages = yyjson_doc_get_root(doc), .add_generation_prompt = true};
    enum status status = chat_render(t, &input, out, e);
    yyjson_doc_free(doc);
    chat_template_free(t);
    return status;
}

// The rendered text, or "! " and the error; lasts until the next call.
static const char *rendered(const char *template, const char *bos, const char *content) {
    static char out[1024];
    struct chat_prompt p;
    struct err e = {0};
    enum status status = prompt_of(template, bos, content, &p, &e);
    snprintf(out, sizeof out, status == STATUS_OK ? "%s" : "! %s", status == STATUS_OK ? p.text.data : e.message);
    chat_prompt_fini(&p);
    return out;
}

static void renders_a_conversation(void) {
    CHECK_TEXT("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", rendered(chatml, "", "hi"));
    CHECK_TEXT("<s>None[/s]", rendered("{{ bos_token }}{{ tools }}{{ '[/s]' if eos_token is not defined }}", "<s>",
     "hi"));
}

static void names_the_template_in_faults(void) {
    CHECK_TEXT("! chat template: No tools, please", rendered("{{ raise_exception('No tools, please') }}", "", "x"));
    CHECK_TEXT("! chat template: line 1, column 6: 'zz' is undefined", rendered("{{ zz.x }}", "", "x"));
    CHECK_TEXT("! line 1, column 8: expected 'name', got '}}'", rendered("{{ x | }}", "", "x"));
}

static const char *const hello_merges[] = {"h e", "l l", "ll o", "he llo"}; // 256 .. 259

// Ids of a rendered conversation with one user message, by chat_encode or by tokenizing the whole text.
static const char *encoded(const struct tokenizer *tokenizer, const char *content, bool mixed) {
    static char out[2][2048];
    struct chat_prompt p;
    struct ids ids = {0};
    struct err e = {0};
    enum status status = prompt_of(chatml, "", content, &p, &e);
    if (status == STATUS_OK && mixed) status = chat_encode(&p, tokenizer, &ids, &e);
    if (status == STATUS_OK && !mixed) status = tokenizer_encode(tokenizer, p.text.data, p.text.n, 0, &ids, &e);
    char *text = out[mixed];
    size_t at = 0;
    snprintf(text, sizeof out[0], "! %s", e.message);
    for (size_t i = 0; status == STATUS_OK && i < ids.n && at + 16 < sizeof out[0]; i++) {
        at += (size_t)snprintf(text + at, sizeof out[0] - at, i ? " %d" : "%d", ids.at[i]);
    }
    ids_fini(&ids);
    chat_prompt_fini(&p);
    return text;
}

static struct tokenizer *chat_tokenizer(struct tiny *tiny) {
    static const struct added_token added[] = {{.text = "<|im_start|>", .n = 12, .id = 300, .special = true},
                                               {.text = "<|im_end|>", .n = 10, .id = 301, .special = true},
                                               {.text = "<t>", .n = 3, .id = 302, .rstrip = true, .lstrip = true}};
    tiny_init(tiny, 4, hello_merges);
    tiny->source.added = added;
    tiny->source.n_added = 3;
    return tiny_new(tiny);
}

static void ids_equal_those_of_the_whole_text_without_control_text(void) {
    static const char *const contents[] = {"hello", "", " ", "\n\n hello", "he", "<|im_", "|im_end|>", "a<|im_start",
     "\u00e9\u4f60", "<", "t>"};
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    for (size_t i = 0; t && i < sizeof contents / sizeof contents[0]; i++) {
        CHECK_TEXT(encoded(t, contents[i], false), encoded(t, contents[i], true));
    }
    tokenizer_free(t);
}

static void control_text_in_a_message_stays_text(void) {
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    if (!t) return;
    CHECK_TEXT("300 117 115 101 114 10 60 124 105 109 95 101 110 100 124 62 301 10 300 97 115 115 105 115 116 97"
     " 110 116 10",
               encoded(t, "<|im_end|>", true));
    CHECK_TEXT("300 117 115 101 114 10 60 116 62 301 10 300 97 115 115 105 115 116 97 110 116 10", encoded(t, "<t>",
     true));
    tokenizer_free(t);
}

// A token that begins in the template and ends in data, or the other way round, is not recognised; a shorter one that
// lies in the template alone is.
static void tokens_across_a_border_are_not_recognised(void) {
    static const struct added_token added[] = {{.text = "<a>", .n = 3, .id = 300}, {.text = "<a>b", .n = 4, .id = 301},
     {.text = "c<", .n = 2, .id = 302}};
    static const struct {
        const char *text, *expected;
        struct text_span data;
    } rows[] = {{"<a>b", "301", {4, 4}},
    {"<a>b", "300 98", {3, 4}},
    {"<a>b", "60 97 62 98", {2, 3}},
    {"c<a>", "302 97 62", {4, 4}},
                {"c<a>", "99 300", {0, 1}},
                {"<a><a>", "300 60 97 62", {3, 6}},
                {"<a><a>", "60 97 62 300", {0, 3}}};
    struct tiny tiny;
    tiny_init(&tiny, 0, NULL);
    tiny.source.added = added;
    tiny.source.n_added = 3;
    struct tokenizer *t = tiny_new(&tiny);
    for (size_t i = 0; t && i < sizeof rows / sizeof rows[0]; i++) {
        struct ids ids = {0};
        char got[64] = "";
        size_t at = 0;
        CHECK_INT(STATUS_OK, tokenizer_encode_mixed(t, rows[i].text, strlen(rows[i].text), &rows[i].data, 1, &ids,
         NULL));
        for (size_t k = 0; k < ids.n; k++) at += (size_t)snprintf(got + at, sizeof got - at, k ? " %d" : "%d",
         ids.at[k]);
        test_check_text(__FILE__, __LINE__, rows[i].text, rows[i].expected, got);
        ids_fini(&ids);
    }
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"renders a conversation", renders_a_conversation},
    {"names the template in faults", names_the_template_in_faults},
    {"ids equal those of the whole text without control text", ids_equal_those_of_the_whole_text_without_control_text},
    {"control text in a message stays text", control_text_in_a_message_stays_text},
    {"tokens across a border are not recognised", tokens_across_a_border_are_not_recognised},
};
TEST_MAIN("chat", cases)
