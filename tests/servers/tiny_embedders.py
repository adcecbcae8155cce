"""Builds BLIP, CLIP, SigLIP and SigLIP 2 checkpoints of 300 KB with random weights; nothing is downloaded.

Only the size and the weights are unusual: configuration, image processor, tokenizer and safetensors file
are what a real checkpoint has, so that `from_pretrained` reads them.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

IMAGE_SIZE_PX = 32
PATCH_SIZE_PX = 8
BLIP_TOKENS, CLIP_TOKENS, SIGLIP_TOKENS = 512, 77, 64  # as the real ones
SENTENCE = (
    "what is the number on a card that man opens door before he leaves which person wears red green blue "
    "yellow hat and then picks up cup from table in kitchen how many dogs run across street after car stops"
)
WORDS = tuple(SENTENCE.split())
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789?.,:!'"

# Weights five times the usual size: with the usual ones a random model says the same of every image.
WIDE = {"initializer_range": 0.1}
TOWER = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, **WIDE}
EYE = {**TOWER, "image_size": IMAGE_SIZE_PX, "patch_size": PATCH_SIZE_PX}


def save(
    folder: Path, make: "Callable[[], PreTrainedModel]", *, seed: int, dtype: str = "float32"
) -> "PreTrainedModel":
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make().eval()
    # What training would find; a fresh model has 1 and 0.
    for name, value in (("logit_scale", 2.3), ("logit_bias", -1.7)):
        if hasattr(model, name):
            torch.nn.init.constant_(getattr(model, name), value)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    return model


def build_blip(folder: Path, *, seed: int = 3, kind: str = "BlipForImageTextRetrieval") -> Path:
    """BLIP with both heads for image-text retrieval; its text vocabulary ends with [DEC] and [ENC]."""
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS, *(f"##{c}" for c in LETTERS)]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(words))}
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=BLIP_TOKENS)
    config = transformers.BlipConfig(
        text_config={
            **TOWER,
            "vocab_size": len(vocabulary) + 2,
            "bos_token_id": len(vocabulary),
            "encoder_hidden_size": 32,
            "max_position_embeddings": BLIP_TOKENS,
            "pad_token_id": 0,
        },
        vision_config=dict(EYE),
        image_text_hidden_size=16,
    )
    save(folder, lambda: getattr(transformers, kind)(config), seed=seed)
    transformers.BlipImageProcessorPil(
        size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX}
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_clip(folder: Path, *, seed: int = 3, dtype: str = "float32") -> Path:
    """CLIP with one token for each letter."""
    from tokenizers import pre_tokenizers
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPTokenizer

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*letters, *(f"{c}</w>" for c in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = CLIPTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=CLIP_TOKENS
    )
    config = CLIPConfig(
        text_config={
            **TOWER,
            "vocab_size": len(words),
            "bos_token_id": len(words) - 2,
            "eos_token_id": len(words) - 1,
            "pad_token_id": len(words) - 1,
            "max_position_embeddings": CLIP_TOKENS,
        },
        vision_config=dict(EYE),
        projection_dim=16,
    )
    save(folder, lambda: CLIPModel(config), seed=seed, dtype=dtype)
    CLIPImageProcessorPil(
        size={"shortest_edge": IMAGE_SIZE_PX}, crop_size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX}
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_siglip(folder: Path, *, seed: int = 3) -> Path:
    """SigLIP with a SentencePiece tokenizer of its own, trained on a few words."""
    import sentencepiece
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel, SiglipTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([SENTENCE, *WORDS, " ".join(LETTERS)]),
        model_writer=made,
        model_type="unigram",
        vocab_size=110,
        hard_vocab_limit=False,
        bos_id=-1,
        pad_id=-1,
        unk_id=2,
        eos_id=1,
        control_symbols=["<nothing>"],
        minloglevel=2,
    )
    (folder / "spiece.model").write_bytes(made.getvalue())
    tokenizer = SiglipTokenizer(str(folder / "spiece.model"), model_max_length=SIGLIP_TOKENS)
    config = SiglipConfig(
        text_config={
            **TOWER,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": SIGLIP_TOKENS,
            "projection_size": 32,
        },
        vision_config=dict(EYE),
    )
    save(folder, lambda: SiglipModel(config), seed=seed)
    SiglipImageProcessorPil(size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX}).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_siglip2(folder: Path, *, seed: int = 3) -> Path:
    """SigLIP 2 of the kind that keeps the aspect of images: each is cut into at most 16 patches."""
    from transformers import Siglip2Config, Siglip2ImageProcessorPil, Siglip2Model, Siglip2Tokenizer

    words = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *LETTERS]
    tokenizer = Siglip2Tokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=SIGLIP_TOKENS
    )
    eye = {k: v for k, v in EYE.items() if k != "image_size"}
    config = Siglip2Config(
        text_config={
            **TOWER,
            "vocab_size": len(words),
            "max_position_embeddings": SIGLIP_TOKENS,
            "projection_size": 32,
        },
        vision_config={**eye, "num_patches": 16},
    )
    save(folder, lambda: Siglip2Model(config), seed=seed)
    Siglip2ImageProcessorPil(patch_size=PATCH_SIZE_PX, max_num_patches=16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
