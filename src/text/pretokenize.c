// The known pre-tokenizers: their patterns in order, and the walk that applies each within the pieces of the last.
#include "text/pretokenize.h"

#include "text/pretokenize_match.h"
#include "text/unicode.h"

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SPACES "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#define DIGITS {.match = pretokenize_match_digit}
#define GPT2                                                                                       \
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", pretokenize_match_gpt2, 0}
#define NEWLINE {"[\r\n]", pretokenize_match_newline, 0}
#define WIDE {"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", pretokenize_match_wide, 0}

static const struct pretokenize_level gpt2[] = {GPT2}, smollm[] = {DIGITS, GPT2};

static const struct pretokenize_level llama3[] = {
    {CONTRACTION "|" LEAD "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES, pretokenize_match_llama3, 0}};

static const struct pretokenize_level qwen2[] = {
    {CONTRACTION "|" LEAD "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES, pretokenize_match_qwen2, 0}};

static const struct pretokenize_level qwen35[] = {
    {CONTRACTION "|" LEAD "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACES,
     pretokenize_match_qwen35, 0}};

static const struct pretokenize_level o200k[] = {
    {LEAD UPPER "*" LOWER "+" CONTRACTION "?|" LEAD UPPER "+" LOWER "*" CONTRACTION "?|\\p{N}{1,3}"
     "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES, pretokenize_match_o200k, 0}};

static const struct pretokenize_level tekken[] = {
    {LEAD UPPER "*" LOWER "+|" LEAD UPPER "+" LOWER "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES,
     pretokenize_match_tekken, 0}};

static const struct pretokenize_level deepseek3[] = {
    {"\\p{N}{1,3}", pretokenize_match_three_numbers, 0},
    {"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", pretokenize_match_han_kana, 0},
    {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
     "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+", pretokenize_match_deepseek3, 0}};

static const struct pretokenize_level deepseek_coder[] = {
    NEWLINE, {"\\s?\\p{L}+", pretokenize_match_letters, 0}, {"\\s?\\p{P}+", pretokenize_match_punctuation, 0}, WIDE,
    DIGITS};

#define ALPHABETS                                                                                  \
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-" \
    "\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-" \
    "\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf" \
    "\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-" \
    "\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc" \
    "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115" \
    "\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e" \
    "\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-" \
    "\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a" \
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-" \
    "\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"

static const struct pretokenize_level deepseek_llm[] = {
    NEWLINE, {"\\s?[" ALPHABETS "]+", pretokenize_match_alphabets, 0},
    {"\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", pretokenize_match_marks, 0},
    {"\\s+$", pretokenize_match_spaces_at_end, UNICODE_SPACE}, WIDE, DIGITS};

#define ROW(levels) {levels, sizeof levels / sizeof levels[0]}
static const struct {
    const struct pretokenize_level *levels;
    size_t n;
} kinds[PRETOKENIZER_COUNT] = {
    [PRETOKENIZER_GPT2] = ROW(gpt2), [PRETOKENIZER_SMOLLM] = ROW(smollm), [PRETOKENIZER_LLAMA3] = ROW(llama3),
    [PRETOKENIZER_QWEN2] = ROW(qwen2), [PRETOKENIZER_QWEN35] = ROW(qwen35), [PRETOKENIZER_O200K] = ROW(o200k),
    [PRETOKENIZER_TEKKEN] = ROW(tekken), [PRETOKENIZER_DEEPSEEK3] = ROW(deepseek3),
    [PRETOKENIZER_DEEPSEEK_CODER] = ROW(deepseek_coder), [PRETOKENIZER_DEEPSEEK_LLM] = ROW(deepseek_llm),
};

const struct pretokenize_level *pretokenize_levels(enum pretokenizer kind, size_t *n) {
    *n = kinds[kind].n;
    return kinds[kind].levels;
}

size_t pretokenize_piece(const struct pretokenize_level *level, const char *text, size_t n) {
    size_t at = level->match(text, n), length;
    if (at) return at;
    do {
        size_t run = level->run ? unicode_run(text + at, n - at, level->run) : 0;
        if (run == 0) unicode_class_at(text + at, n - at, &length);
        at += run ? run : length;
    } while (at < n && level->match(text + at, n - at) == 0);
    return at;
}

void pretokenize_begin(struct pretokenize *p, enum pretokenizer kind, const char *text, size_t n) {
    *p = (struct pretokenize){.text = text, .n = n};
    p->levels = pretokenize_levels(kind, &p->n_levels);
}

// Where the piece of that level ends which begins at p->at, inside the one of the level before.
static size_t piece_end(struct pretokenize *p, size_t level) {
    if (p->end[level] <= p->at) {
        size_t limit = level ? piece_end(p, level - 1) : p->n;
        p->end[level] = p->at + pretokenize_piece(&p->levels[level], p->text + p->at, limit - p->at);
    }
    return p->end[level];
}

bool pretokenize_next(struct pretokenize *p, size_t *begin, size_t *n_piece) {
    if (p->at == p->n) return false;
    *begin = p->at;
    p->at = piece_end(p, p->n_levels - 1);
    *n_piece = p->at - *begin;
    return true;
}
