// tokenizer.json: what is read, and that everything else is refused by name.
#include "text/tokenizer.h"
#include "base/mem.h"
#include "tests/unit/text/tiny_tokenizer.h"

// A whole file out of its parts; a NULL part takes the usual value.
struct file {
    const char *vocab, *merges, *model, *added, *normalizer, *pre, *post, *decoder;
};

#define OR(part, usual) (f->part ? f->part : usual)

static const char *compose(const struct file *f) {
    static char text[8192];
    snprintf(text, sizeof text,
             "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":%s,\"normalizer\":%s,"
             "\"pre_tokenizer\":%s,\"post_processor\":%s,\"decoder\":%s,\"model\":{%s,\"vocab\":%s,\"merges\":%s}}",
             OR(added, "[]"), OR(normalizer, "null"),
             OR(pre, "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"), OR(post, "null"),
             OR(decoder, "{\"type\":\"ByteLevel\"}"), OR(model, "\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null"),
             OR(vocab, "{\"a\":0,\"b\":1,\"ab\":2,\"c\":3,\"\\u0120\":4,\"1\":5}"), OR(merges, "[\"a b\"]"));
    return text;
}

static struct tokenizer *load(const struct file *f, struct err *e) {
    struct tokenizer *t = NULL;
    const char *text = compose(f);
    enum status status = tokenizer_from_json(text, strlen(text), &t, e);
    if ((status == STATUS_OK) != (t != NULL)) test_fail(__FILE__, __LINE__, "status %d, t %p", status, (void *)t);
    return t;
}

static void check_encode(struct file f, const char *text, unsigned flags, const char *expected) {
    struct err e = {0};
    struct tokenizer *t = load(&f, &e);
    if (!t) test_fail(__FILE__, __LINE__, "%s", e.message);
    else CHECK_TEXT(expected, tiny_encode(t, text, strlen(text), flags));
    tokenizer_free(t);
}

static void reads_both_forms_of_merges(void) {
    check_encode((struct file){0}, "abc", 0, "2 3");
    check_encode((struct file){.merges = "[[\"a\",\"b\"]]"}, "abc", 0, "2 3");
    check_encode((struct file){.merges = "[]"}, "abc", 0, "0 1 3");
}

static void reads_added_tokens_with_their_flags(void) {
    static const char added[] =
        "[{\"id\":6,\"content\":\"<x>\",\"single_word\":false,\"lstrip\":true,\"rstrip\":false,\"normalized\":false,"
        "\"special\":true},{\"id\":9,\"content\":\"c\",\"single_word\":true,\"lstrip\":false,\"rstrip\":false,"
        "\"normalized\":true,\"special\":false}]";
    check_encode((struct file){.added = added, .vocab = "{\"a\":0,\"b\":1,\"ab\":2}"}, "ab  <x>c", 0, "2 6 9");
}

static void reads_the_template_round_a_text(void) {
    static const char post[] =
        "{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\",\"trim_offsets\":false},"
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},"
        "{\"SpecialToken\":{\"id\":\"</s>\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":\"<s>\","
        "\"ids\":[3,4],\"tokens\":[\"c\",\"d\"]},\"</s>\":{\"id\":\"</s>\",\"ids\":[5],\"tokens\":[\"1\"]}}}]}";
    check_encode((struct file){.post = post}, "ab", TOKENIZE_SPECIAL, "3 4 2 5");
    check_encode((struct file){.post = post}, "ab", 0, "2");
}

static void knows_the_pretokenizers_by_their_exact_form(void) {
    static const char digits[] = "{\"type\":\"Sequence\",\"pretokenizers\":["
                                 "{\"type\":\"Digits\",\"individual_digits\":true},"
                                 "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]}";
    static const char prefix[] = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}";
    static const char vocab[] = "{\"1\":0,\"11\":1,\"\\u0120\":2}";
    check_encode((struct file){.pre = digits, .vocab = vocab, .merges = "[\"1 1\"]"}, "11 1", 0, "0 0 2 0");
    check_encode((struct file){.pre = prefix}, "a", 0, "4 0");
    check_encode((struct file){.vocab = "{\"1\":0,\"11\":1}", .merges = "[\"1 1\"]"}, "11", 0, "1");
}

static void leaves_out_bytes_without_a_token(void) { check_encode((struct file){0}, "axb", 0, "2"); }

static void refuses_by_name(void) {
    static const struct {
        struct file f;
        const char *named;
    } rows[] = {
        {{.model = "\"type\":\"WordLevel\""}, "WordLevel"},
        {{.model = "\"type\":\"Unigram\""}, "model.vocab is no list"},
        {{.model = "\"type\":\"WordPiece\""}, "continuing_subword_prefix"},
        {{.model = "\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\""}, "BPE only"},
        {{.model = "\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\"", .pre = "null"}, "unknown token"},
        {{.model = "\"x\":1"}, "model"},
        {{.model = "\"type\":\"BPE\",\"dropout\":0.1"}, "dropout"},
        {{.model = "\"type\":\"BPE\",\"unk_token\":\"zz\""}, "unk_token is not in the vocabulary"},
        {{.model = "\"type\":\"BPE\",\"byte_fallback\":true"}, "byte_fallback"},
        {{.model = "\"type\":\"BPE\",\"byte_fallback\":3"}, "byte_fallback"},
        {{.model = "\"type\":\"BPE\",\"end_of_word_suffix\":\"</w>\""}, "end_of_word_suffix"},
        {{.model = "\"type\":\"BPE\",\"continuing_subword_prefix\":\"##\""}, "continuing_subword_prefix"},
        {{.vocab = "[]"}, "vocab"},
        {{.vocab = "{\"a\":-1}"}, "vocab"},
        {{.vocab = "{\"a\":4294967296}"}, "4294967296"},
        {{.vocab = "{\"a\":1.5}"}, "vocab"},
        {{.vocab = "{\"a\":0,\"b\":0}"}, "id 0"},
        {{.vocab = "{\"a\":0,\"a\":1}"}, "\"a\""},
        {{.merges = "{}"}, "merges"},
        {{.merges = "[\"ab\"]"}, "merges"},
        {{.merges = "[\"a b c\"]"}, "merges"},
        {{.merges = "[[\"a\"]]"}, "merges"},
        {{.merges = "[[\"a\",\"zz\"]]"}, "a zz"},
        {{.merges = "[3]"}, "merges"},
        {{.added = "{}"}, "added_tokens"},
        {{.added = "[{\"id\":9}]"}, "added_tokens[0]"},
        {{.added = "[{\"id\":9,\"content\":\"\"}]"}, "added token 9"},
        {{.added = "[{\"id\":1,\"content\":\"zz\"}]"}, "zz"},
        {{.added = "[{\"id\":9,\"content\":\"zz\",\"lstrip\":1}]"}, "lstrip"},
        {{.added = "[{\"id\":999999999,\"content\":\"zz\"}]"}, "999999999"},
        {{.normalizer = "{\"type\":\"Nmt\"}"}, "Nmt"},
        {{.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"ByteLevel\"}]}"},
         "ByteLevel"},
        {{.normalizer = "{\"type\":\"Sequence\"}"}, "Sequence"},
        {{.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(a)\\\\1\"},\"content\":\"\"}"}, "\\1"},
        {{.normalizer = "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}"}, "character map"},
        {{.normalizer = "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"A!AA\"}"}, "base64"},
        {{.pre = "null"}, "ByteLevel"}, // the decoder that goes with bytes only
        {{.pre = "{\"type\":\"UnicodeScripts\"}"}, "UnicodeScripts"},
        {{.pre = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{Klingon}\"},\"behavior\":\"Isolated\"}"},
         "Klingon"},
        {{.pre = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x+\"},\"behavior\":\"Sideways\"}"}, "behavior"},
        {{.pre = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\"},{\"type\":\"ByteLevel\"}]}"},
         "twice"},
        {{.post = "{\"type\":\"BertProcessing\"}"}, "post_processor.cls"},
        {{.post = "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"B\"}}]}"}, "post_processor"},
        {{.post = "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<q>\"}}],"
                  "\"special_tokens\":{}}"},
         "<q>"},
        {{.post = "{\"type\":\"TemplateProcessing\",\"single\":[]}"}, "post_processor"},
        {{.decoder = "null"}, "decoder"},
        {{.decoder = "{\"type\":\"CTC\"}"}, "CTC"},
        {{.decoder = "{\"type\":\"Metaspace\"}"}, "decoder.replacement"},
        {{.decoder = "{\"type\":\"Metaspace\",\"replacement\":\"_\"}"}, "decoder"},
        {{.decoder = "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"ByteLevel\"}]}"},
         "ByteLevel"},
        {{.decoder = "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"WordPiece\","
                     "\"prefix\":\"##\"}]}"},
         "WordPiece"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct tokenizer *t = load(&rows[i].f, &e);
        if (t) test_fail(__FILE__, __LINE__, "row %zu was accepted", i);
        if (!strstr(e.message, rows[i].named) || !strstr(e.message, "tokenizer.json"))
            test_fail(__FILE__, __LINE__, "row %zu: expected \"%s\" in: %s", i, rows[i].named, e.message);
        tokenizer_free(t);
    }
}

static void survives_every_allocation_that_fails(void) {
    struct file f = {.added = "[{\"id\":9,\"content\":\"zz\"}]", .merges = "[[\"a\",\"b\"]]"};
    for (uint64_t k = 1; !test_failed(); k++) {
        struct err e = {0};
        mem_fail_after(k);
        struct tokenizer *t = load(&f, &e);
        mem_fail_after(0);
        tokenizer_free(t);
        if (t) return;
        CHECK_INT(STATUS_NO_MEMORY, e.status);
    }
}

static const struct test_case cases[] = {
    {"reads both forms of merges", reads_both_forms_of_merges},
    {"reads added tokens with their flags", reads_added_tokens_with_their_flags},
    {"reads the template round a text", reads_the_template_round_a_text},
    {"knows the pre-tokenizers by their exact form", knows_the_pretokenizers_by_their_exact_form},
    {"leaves out bytes without a token", leaves_out_bytes_without_a_token},
    {"refuses by name", refuses_by_name},
    {"survives every allocation that fails", survives_every_allocation_that_fails},
};
TEST_MAIN("text/tokenizer_json", cases)
