"""One checkpoint in the layouts and spellings that public tools write: equal logits and state, byte for byte."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import checks
from checkpoint_folder import Folder, tensors

NORMS = ("input_layernorm.weight", "post_attention_layernorm.weight", "model.norm.weight", "q_norm.weight",
         "k_norm.weight")
STORED_FREELY = ("A_log", "dt_bias", "linear_attn.norm.weight")


def nest(f):
    """As the multimodal class stores it, with towers that no text needs."""
    outer = {"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"],
             "tie_word_embeddings": f.config["tie_word_embeddings"],
             "vision_config": {"depth": 2, "hidden_act": "gelu"}}
    f.config = {**outer, "text_config": {**f.config, "model_type": "qwen3_5_text"}}


def published(f):
    nest(f)
    f.rename(lambda name: name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name)
    f.add("model.visual.blocks.0.norm1.weight", "BF16", [4], b"\0" * 8)
    f.add("mtp.layers.0.self_attn.q_norm.weight", "BF16", [64], b"\0" * 128)
    f.add("mtp.fc.weight", "BF16", [2, 4], b"\0" * 16)


def converted(f):
    """As mlx-lm stores it: taps turned round, 1 added to the norms that are centred on zero."""
    nest(f)
    for name in list(tensors(f.header)):
        if name.endswith(NORMS) and "linear_attn" not in name:
            f.replace(name, "F32", 1 + f.values(name))
        if name.endswith("conv1d.weight"):
            channels, _, taps = f.header[name]["shape"]
            f.header[name]["shape"] = [channels, taps, 1]
    f.rename(lambda name: "language_model." + name)
    f.add("vision_tower.patch_embed.proj.weight", "BF16", [1, 1, 1, 1, 2], b"\0" * 4)


def stored_as(dtype):
    def change(f):
        for name in list(tensors(f.header)):
            if name.endswith(STORED_FREELY):
                values = f.values(name)
                f.replace(name, dtype, values)
                assert (f.values(name) == values).all(), f"{name} does not fit into {dtype}"
    return change


def by_interval(f):
    assert f.config.pop("layer_types") == ["linear_attention"] * 3 + ["full_attention"] + ["linear_attention"] * 2
    f.config["full_attention_interval"] = 4


def flat_rope(f):
    rope = f.config.pop("rope_parameters")
    f.config.update({key: rope[key] for key in ("rope_theta", "partial_rotary_factor")})


def old_rope(f):
    rope = f.config.pop("rope_parameters")
    f.config.update({"rope_scaling": {"type": "default", "mrope_section": [2, 1, 1]}, "rope_theta": rope["rope_theta"],
                     "partial_rotary_factor": rope["partial_rotary_factor"]})


def default_share(f):
    assert f.config["rope_parameters"].pop("partial_rotary_factor") == 0.25
    f.config.pop("partial_rotary_factor", None)


def more_keys(f):
    f.config.update({"attn_output_gate": True, "output_gate_type": "swish", "mamba_ssm_dtype": "float32",
                     "mtp_num_hidden_layers": 1, "mlp_only_layers": [], "an unknown key": {"a": [1]}})


def stored_head(f):
    embedding = f.header["model.embed_tokens.weight"]
    f.add("lm_head.weight", embedding["dtype"], embedding["shape"], f.data[slice(*embedding["data_offsets"])])


def tie_inside(f):
    """The tie named only inside text_config."""
    nest(f)
    del f.config["tie_word_embeddings"]


def tie_on_top(f):
    """The tie named only at the top."""
    nest(f)
    del f.config["text_config"]["tie_word_embeddings"]


def window_that_is_off(f):
    f.config.update({"use_sliding_window": False, "sliding_window": 64, "max_window_layers": 1})
    del f.config["layer_types"]


BOTH = [published, converted, stored_as("F32"), stored_as("F16"), flat_rope, old_rope, more_keys]
SPELLINGS = {"qwen3_5": [*BOTH, by_interval, default_share],
             "qwen3_5_uneven": [*BOTH, stored_head, tie_inside, tie_on_top],
             "qwen3": [window_that_is_off]}
UNKNOWN = {published: ["model.visual.blocks.0.norm1.weight", "mtp.fc.weight", "mtp.layers.0.self_attn.q_norm.weight"],
           converted: ["vision_tower.patch_embed.proj.weight"]}


def check_spelling(c, binary, source, spell, ids, expected, folder):
    label = f"{os.path.basename(source)}: {spell.__qualname__.split('.')[0]}"
    f = Folder(source)
    spell(f)
    f.write(folder)
    try:
        rows, state = checks.logits_and_state(binary, folder, ids, [0, len(ids) - 1], "--state-sha")
        c.check(f"{label}: logits", rows.tobytes() == expected[0].tobytes(), "they differ")
        c.equal(f"{label}: state", expected[1], state)
        info = json.loads(checks.run(binary, "info", folder, "--json"))
        c.equal(f"{label}: unknown tensors", UNKNOWN.get(spell, []), info["unknown_tensors"])
    except checks.CommandFailed as failure:
        c.check(label, False, str(failure))


def main():
    arguments = checks.parse_arguments(__doc__)
    c = checks.Checks()
    for name, spellings in SPELLINGS.items():
        source = os.path.join(arguments.tests, "golden", name)
        with open(os.path.join(source, "ref.json"), encoding="utf-8") as f:
            ids = json.load(f)["prompt"][:100]
        expected = checks.logits_and_state(arguments.binary, source, ids, [0, len(ids) - 1], "--state-sha")
        for spell in spellings:
            with tempfile.TemporaryDirectory() as folder:
                check_spelling(c, arguments.binary, source, spell, ids, expected, os.path.join(folder, "model"))
    c.close()


main()
