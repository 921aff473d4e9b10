// The names of pre-tokenizers in GGUF files. A name is here only where all of its tokenizer is known.
#include "cli/gguf_pre.h"

#include "text/unicode.h"

#include <string.h>

#define REGEX(pattern) {.kind = SPLIT_REGEX, .text = pattern, .n = sizeof pattern - 1}
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

// What llama.cpp does with files that name none; no tokenizer.json is like it.
static const struct split_step default_steps[] = {REGEX("[\\p{P}\\$\\+<=>\\^~\\|]+"), REGEX(GPT2), REGEX("\\p{N}+"),
                                                  REGEX("[0-9][0-9][0-9]")};

// The last two steps work on the byte alphabet, as in the published file: there a byte of a letter may be a digit.
static const struct split_step falcon_steps[] = {
    {.kind = SPLIT_CLASS, .classes = UNICODE_PUNCTUATION_MARK, .behaviour = SPLIT_CONTIGUOUS},
    REGEX(GPT2),
    {.kind = SPLIT_ALPHABET},
    {.kind = SPLIT_CLASS, .classes = UNICODE_DIGIT, .behaviour = SPLIT_CONTIGUOUS},
    REGEX("[0-9][0-9][0-9]")};

static const struct split_step bloom_steps[] = {
    REGEX(" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+")};

#define STEPS(list) .pretokenizer = PRETOKENIZER_COUNT, .steps = list, .n_steps = sizeof(list) / sizeof(list)[0]
#define KIND(kind) .pretokenizer = PRETOKENIZER_##kind
#define NFC .normalizer = NORMALIZER_NFC

static const struct gguf_pre rows[] = {
    {"default", STEPS(default_steps)},
    {"gpt-2", KIND(GPT2)},
    {"gpt2", KIND(GPT2)},
    {"phi-2", KIND(GPT2)},
    {"mpt", KIND(GPT2), NFC},
    {"olmo", KIND(GPT2), NFC},
    {"smollm", KIND(SMOLLM)},
    {"starcoder", KIND(SMOLLM)},
    {"refact", KIND(SMOLLM)},
    {"command-r", KIND(SMOLLM), NFC},
    {"falcon", STEPS(falcon_steps)},
    {"bloom", STEPS(bloom_steps)},
    {"poro-chat", STEPS(bloom_steps)},
    {"gpt3-finnish", STEPS(bloom_steps)},
    {"llama-bpe", KIND(LLAMA3), .ignore_merges = true, .add_bos = true},
    {"llama3", KIND(LLAMA3), .ignore_merges = true, .add_bos = true},
    {"llama-v3", KIND(LLAMA3), .ignore_merges = true, .add_bos = true},
    {"smaug-bpe", KIND(LLAMA3)},
    {"chatglm-bpe", KIND(LLAMA3)},
    {"glm4", KIND(LLAMA3), .ignore_merges = true},
    {"qwen2", KIND(QWEN2), NFC},
    {"deepseek-r1-qwen", KIND(QWEN2), NFC},
    {"megrez", KIND(QWEN2), NFC},
    {"qwen35", KIND(QWEN35), NFC},
    {"gpt-4o", KIND(O200K)},
    {"llama4", KIND(O200K)},
    {"tekken", KIND(TEKKEN), .ignore_merges = true, .add_bos = true},
    {"deepseek-llm", KIND(DEEPSEEK_LLM)},
    {"deepseek-coder", KIND(DEEPSEEK_CODER)},
    {"deepseek-v3", KIND(DEEPSEEK3)},
    {"joyai-llm", KIND(DEEPSEEK3)}, // DeepSeek V4
};

const struct gguf_pre *gguf_pre_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(name, rows[i].name) == 0) return &rows[i];
    return NULL;
}
