"""Architectures of Hugging Face's transformers, in small configurations, traced."""

import functools

import torch

import torchvision_operators  # noqa: F401, isort: skip  (transformers imports torchvision)
import transformers as hf

from model import First, Model

SIZES = {"vocab_size": 1000, "hidden_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2,
    "intermediate_size": 256}
LM = {"use_cache": False}
IMAGE = {"image_size": 64, "patch_size": 16, **{key: value for key, value in SIZES.items() if key != "vocab_size"}}


def words(length=32):
    return (torch.randint(0, 1000, (1, length)),)


def image(size=64):
    return (torch.randn(1, 3, size, size),)


def encoded(cls, config, inputs, options):
    return Model(First(getattr(hf, cls)(config), return_dict=False, **options), inputs)


# name: (class, configuration, its entries, inputs, how it is called)
FIRST = {
    "bert": ("BertModel", "BertConfig", {**SIZES, "num_hidden_layers": 6, "hidden_size": 256,
        "intermediate_size": 1024}, words, {}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"vocab_size": 1000, "n_layer": 6, "n_embd": 256, "n_head": 4}, words,
        LM),
    "llama": ("LlamaForCausalLM", "LlamaConfig", {**SIZES, "hidden_size": 256, "intermediate_size": 512,
        "num_hidden_layers": 4}, words, LM),
    "distilbert": ("DistilBertModel", "DistilBertConfig", {"vocab_size": 1000, "n_layers": 4, "dim": 256,
        "n_heads": 4, "hidden_dim": 512}, words, {}),
}
MORE = {
    "t5_encoder": ("T5EncoderModel", "T5Config", {"vocab_size": 1000, "d_model": 128, "d_kv": 32, "d_ff": 256,
        "num_layers": 2, "num_heads": 4}, words, {}),
    "albert": ("AlbertModel", "AlbertConfig", {**SIZES, "embedding_size": 64}, words, {}),
    "electra": ("ElectraModel", "ElectraConfig", {**SIZES, "embedding_size": 64}, words, {}),
    "roberta": ("RobertaModel", "RobertaConfig", SIZES, words, {}),
    "deberta": ("DebertaModel", "DebertaConfig", {**SIZES, "relative_attention": True, "pos_att_type": ["c2p",
        "p2c"]}, words, {}),
    "deberta_v2": ("DebertaV2Model", "DebertaV2Config", {**SIZES, "relative_attention": True, "pos_att_type": ["c2p",
        "p2c"]}, words, {}),
    "mpnet": ("MPNetModel", "MPNetConfig", SIZES, words, {}),
    "mobilebert": ("MobileBertModel", "MobileBertConfig", {"vocab_size": 1000, "num_hidden_layers": 2}, words, {}),
    "vit": ("ViTModel", "ViTConfig", IMAGE, image, {}),
    "beit": ("BeitModel", "BeitConfig", IMAGE, image, {}),
    "clip_vision": ("CLIPVisionModel", "CLIPVisionConfig", IMAGE, image, {}),
    "clip_text": ("CLIPTextModel", "CLIPTextConfig", {**SIZES, "eos_token_id": 999}, words, {}),
    "swin": ("SwinModel", "SwinConfig", {"image_size": 64, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4],
        "window_size": 4}, image, {}),
    "convnext": ("ConvNextModel", "ConvNextConfig", {"hidden_sizes": [16, 32, 64, 128], "depths": [1, 1, 2, 1]},
        image, {}),
    "segformer": ("SegformerModel", "SegformerConfig", {"hidden_sizes": [16, 32, 64, 128], "depths": [1, 1, 1, 1]},
        image, {}),
    "wav2vec2": ("Wav2Vec2Model", "Wav2Vec2Config", {**SIZES, "conv_dim": (32, 32, 32), "conv_stride": (5, 2, 2),
        "conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 4}, lambda: (torch.randn(1, 4000),), {}),
    "opt": ("OPTForCausalLM", "OPTConfig", {"vocab_size": 1000, "hidden_size": 128, "num_hidden_layers": 2,
        "ffn_dim": 256, "num_attention_heads": 4, "word_embed_proj_dim": 128}, words, LM),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES, words, LM),
    "gpt_neo": ("GPTNeoForCausalLM", "GPTNeoConfig", {"vocab_size": 1000, "hidden_size": 128, "num_layers": 2,
        "num_heads": 4, "attention_types": [[["global", "local"], 1]]}, words, LM),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**SIZES, "num_key_value_heads": 2, "sliding_window": 16},
        words, LM),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {**SIZES, "num_key_value_heads": 2}, words, LM),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", {**SIZES, "num_key_value_heads": 2, "head_dim": 32}, words, LM),
    "phi": ("PhiForCausalLM", "PhiConfig", SIZES, words, LM),
    "falcon": ("FalconForCausalLM", "FalconConfig", {"vocab_size": 1000, "hidden_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4}, words, LM),
    "mamba": ("MambaForCausalLM", "MambaConfig", {"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2,
        "state_size": 8}, lambda: words(12), LM),
    "xlnet": ("XLNetModel", "XLNetConfig", {"vocab_size": 1000, "d_model": 128, "n_layer": 2, "n_head": 4,
        "d_inner": 256}, words, {"use_mems": False}),
    "fnet": ("FNetModel", "FNetConfig", {**{k: v for k, v in SIZES.items() if k != "num_attention_heads"}}, words, {}),
}  # fmt: skip


def made(name):
    cls, config, entries, inputs, options = {**FIRST, **MORE}[name]
    return encoded(cls, getattr(hf, config)(**entries), inputs(), options)


class WhisperEncoder(torch.nn.Module):
    """Speech to features: the half of Whisper that takes no text."""

    def __init__(self):
        super().__init__()
        config = hf.WhisperConfig(
            vocab_size=1000, d_model=64, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
                decoder_attention_heads=4,
            encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=100, num_mel_bins=40, pad_token_id=0,
        )  # fmt: skip
        self.encoder = hf.WhisperModel(config).encoder

    def forward(self, features):
        return self.encoder(features, return_dict=False)[0]


class T5Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = hf.T5Config(vocab_size=1000, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4,
            use_cache=False)
        self.model = hf.T5Model(config)

    def forward(self, words, so_far):
        return self.model(input_ids=words, decoder_input_ids=so_far, return_dict=False)[0]


def models():
    found = {name: functools.partial(made, name) for name in FIRST}
    found |= {f"hf_{name}": functools.partial(made, name) for name in MORE}
    found["hf_whisper_encoder"] = lambda: Model(WhisperEncoder(), (torch.randn(1, 40, 200),))
    found["hf_t5"] = lambda: Model(T5Both(), (*words(16), *words(8)))
    return found
