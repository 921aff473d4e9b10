"""A folder with the golden llama checkpoint, a byte-level tokenizer of its 512 ids, and a chat template."""
import json
import os
import shutil

THINKING = """{%- for m in messages %}
{%- if m['content'] == 'REFUSE' %}{{ raise_exception('not this word') }}{% endif -%}
<turn>{{ m['role'] }}
{% if m['reasoning_content'] %}<think>{{ m['reasoning_content'] }}</think>{% endif %}{{ m['content'] }}</s>
{%- endfor %}{{ strftime_now('%d %B %Y') }}
{%- if add_generation_prompt %}<turn>assistant
<think>
{% if enable_thinking is defined and not enable_thinking %}
</think>

{% endif %}{% endif %}"""
IDS = 512
SPECIAL = ("<s>", "</s>", "<turn>")
MARKERS = ("<think>", "</think>")  # of THINKING: added tokens that are not special
LETTERS = "abcdefgh"  # most tokens are a byte and one of these


def make(folder, tests, template, markers=()):
    """Fills the folder, markers being more added tokens that are not special; the tokenizer."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    shutil.copytree(os.path.join(tests, "golden", "llama"), folder, dirs_exist_ok=True)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: i for i, letter in enumerate(alphabet)}
    merges = []
    for left in alphabet:
        for right in LETTERS:
            if len(vocabulary) < IDS - len(SPECIAL) - len(markers) and left + right not in vocabulary:
                merges.append((left, right))
                vocabulary[left + right] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, special=False) for t in markers])
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as out:
        json.dump({"bos_token": "<s>", "eos_token": "</s>", "chat_template": template}, out)
    return tokenizer


def make_thinking(folder, tests):
    return make(folder, tests, THINKING, MARKERS)
