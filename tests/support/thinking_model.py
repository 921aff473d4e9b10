"""A folder with the golden llama checkpoint, a byte-level tokenizer of its 512 ids, and a chat template that thinks."""
import json
import os
import shutil

TEMPLATE = """{%- for m in messages %}
{%- if m['content'] == 'REFUSE' %}{{ raise_exception('not this word') }}{% endif -%}
<turn>{{ m['role'] }}
{% if m['reasoning_content'] %}<think>{{ m['reasoning_content'] }}</think>{% endif %}{{ m['content'] }}</s>
{%- endfor %}{{ strftime_now('%d %B %Y') }}
{%- if add_generation_prompt %}<turn>assistant
<think>
{% if enable_thinking is defined and not enable_thinking %}
</think>

{% endif %}{% endif %}"""


def make(folder, tests, template=TEMPLATE):
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    shutil.copytree(os.path.join(tests, "golden", "llama"), folder, dirs_exist_ok=True)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: i for i, letter in enumerate(alphabet)}
    merges = []
    for left in alphabet:
        for right in "abcdefgh":
            if len(vocabulary) < 507 and left + right not in vocabulary:
                merges.append((left, right))
                vocabulary[left + right] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in ("<s>", "</s>", "<turn>")])
    tokenizer.add_tokens([AddedToken(t, special=False) for t in ("<think>", "</think>")])
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as out:
        json.dump({"bos_token": "<s>", "eos_token": "</s>", "chat_template": template}, out)
