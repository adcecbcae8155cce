"""Builds a LLaVA checkpoint of about a megabyte with random weights; nothing is downloaded.

Only the size and the weights are unusual: configuration, processor, tokenizer, chat template and
safetensors file are what a real checkpoint has, so `AutoProcessor`, `AutoModelForImageTextToText`
and every server that uses them read it. LLaVA is the family of choice because its processor works
without torchvision.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import LlavaConfig, PreTrainedTokenizerFast

LETTERS = "ABCDEF"
PAD, START, END, IMAGE = "<|pad|>", "<|start|>", "<|end|>", "<image>"
DEFAULT_SEED = 31  # of the first forty the one whose replies differ most while beginning with A to D
IMAGE_SIZE_PX = 56
PATCH_SIZE_PX = 14

CHAT_TEMPLATE = """\
{% for message in messages %}<|start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}\
{% if part['type'] == 'image' %}<image>
{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|start|>assistant
{% endif %}"""


def make_tokenizer() -> "PreTrainedTokenizerFast":
    """One token per byte, and one for each letter of a choice that follows a space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = [PAD, START, END, IMAGE]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    space = "Ġ"
    merges = [(space, letter) for letter in LETTERS]
    words = special + alphabet + [first + second for first, second in merges]
    tokenizer = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[START, IMAGE],
        model_max_length=4096,
        clean_up_tokenization_spaces=False,
    )


def make_config(tokenizer: "PreTrainedTokenizerFast", *, text_width: int = 64) -> "LlavaConfig":
    """LLaVA with a CLIP vision tower and a Llama language model of that width, two layers each."""
    from transformers import LlavaConfig

    # Weights five times the usual size: with the usual ones a random model says the same of every image.
    wide = {"initializer_range": 0.1}
    return LlavaConfig(
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": IMAGE_SIZE_PX,
            "patch_size": PATCH_SIZE_PX,
            "projection_dim": 16,
            **wide,
        },
        text_config={
            "model_type": "llama",
            "vocab_size": len(tokenizer),
            "hidden_size": text_width,
            "intermediate_size": 2 * text_width,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 4096,
            "bos_token_id": None,
            "eos_token_id": tokenizer.convert_tokens_to_ids(END),
            "pad_token_id": tokenizer.convert_tokens_to_ids(PAD),
            **wide,
        },
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        image_seq_length=(IMAGE_SIZE_PX // PATCH_SIZE_PX) ** 2,
        vision_feature_layer=-1,
        tie_word_embeddings=False,
    )


def build(folder: Path, *, seed: int = DEFAULT_SEED, text_width: int = 64) -> Path:
    """Write the checkpoint into `folder` and return it; the same seed gives the same bytes.

    The rows of the output layer that belong to the letters and to the end of the turn are made
    larger. So replies are short strings of letters, as from a trained model; which letters depends on
    the frames and on every word of the question.
    """
    import torch
    from transformers import (
        CLIPImageProcessorPil,
        GenerationConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = make_tokenizer()
    config = make_config(tokenizer, text_width=text_width)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlavaForConditionalGeneration(config).eval()
    favoured = [*tokenizer.convert_tokens_to_ids(list(LETTERS)), config.text_config.eos_token_id]
    with torch.no_grad():
        model.lm_head.weight[favoured] *= 8
    model.generation_config = GenerationConfig(
        eos_token_id=config.text_config.eos_token_id, pad_token_id=config.text_config.pad_token_id
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": IMAGE_SIZE_PX}, crop_size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX}
        ),
        tokenizer=tokenizer,
        patch_size=PATCH_SIZE_PX,
        vision_feature_select_strategy="default",
        image_token=IMAGE,
        num_additional_image_tokens=1,  # the class token of CLIP
        chat_template=CHAT_TEMPLATE,
    )
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
