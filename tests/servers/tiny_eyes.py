"""Builds Grounding DINO, OWLv2 and SAM 2 checkpoints with random weights from configurations; all are small.

As in `tiny_embedders` only the size and the weights are unusual.
"""

from pathlib import Path

from servers.tiny_embedders import EYE, IMAGE_SIZE_PX, LETTERS, TOWER, WORDS, save

WIDE_PX = 64


def build_grounding_dino(folder: Path, *, seed: int = 3) -> Path:
    """Grounding DINO over a Swin and a BERT of one layer a stage; 20 boxes a picture."""
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS, *(f"##{c}" for c in LETTERS)]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(words))}
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=64)
    config = transformers.GroundingDinoConfig(
        backbone_config=transformers.SwinConfig(
            image_size=WIDE_PX,
            embed_dim=16,
            depths=[1, 1, 1, 1],
            num_heads=[2, 2, 2, 2],
            window_size=4,
            out_indices=[2, 3, 4],
        ),
        text_config=transformers.BertConfig(
            **TOWER, vocab_size=len(vocabulary), max_position_embeddings=64, pad_token_id=0
        ),
        d_model=32,
        num_queries=20,
        max_text_len=64,
        **{
            f"{part}_{what}": n
            for part in ("encoder", "decoder")
            for what, n in (("layers", 2), ("ffn_dim", 64), ("attention_heads", 2))
        },
    )
    save(folder, lambda: transformers.GroundingDinoForObjectDetection(config), seed=seed)
    pictures = transformers.GroundingDinoImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96})
    transformers.GroundingDinoProcessor(pictures, tokenizer).save_pretrained(folder)
    return folder


def build_owlv2(folder: Path, *, seed: int = 3) -> Path:
    """OWLv2 with one token for each letter; 16 boxes a picture."""
    import transformers
    from tokenizers import pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*letters, *(f"{c}</w>" for c in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = transformers.CLIPTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=32
    )
    text = {"vocab_size": len(words), "bos_token_id": len(words) - 2, "eos_token_id": len(words) - 1}
    config = transformers.Owlv2Config(
        text_config={**TOWER, **text, "max_position_embeddings": 32},
        vision_config=dict(EYE),
        projection_dim=32,
        initializer_factor=0.1,  # with 1 all boxes are lines at the edges
    )
    save(folder, lambda: transformers.Owlv2ForObjectDetection(config), seed=seed)
    pictures = transformers.Owlv2ImageProcessorPil(size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX})
    transformers.Owlv2Processor(pictures, tokenizer).save_pretrained(folder)
    return folder


def build_sam2(folder: Path, *, seed: int = 3) -> Path:
    """SAM 2 for videos, which sees 64 x 64 pixels through one block a stage."""
    import transformers

    small = {"hidden_size": 128, "image_size": WIDE_PX}
    config = transformers.Sam2VideoConfig(
        vision_config=transformers.Sam2VisionConfig(
            backbone_config=transformers.Sam2HieraDetConfig(
                hidden_size=8,
                image_size=[WIDE_PX, WIDE_PX],
                window_positional_embedding_background_size=[4, 4],
                blocks_per_stage=[1, 1, 2, 1],
                embed_dim_per_stage=[8, 16, 32, 64],
                num_attention_heads_per_stage=[1, 1, 1, 1],
                window_size_per_stage=[4, 4, 4, 2],
                global_attention_blocks=[3],
            ),
            backbone_channel_list=[64, 32, 16, 8],
            backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
            fpn_hidden_size=128,
        ),
        prompt_encoder_config={**small, "patch_size": 16},
        mask_decoder_config={
            "hidden_size": 128,
            "mlp_dim": 64,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 32,
        },
        image_size=WIDE_PX,
        memory_attention_hidden_size=128,
        memory_attention_num_layers=1,
        memory_attention_feed_forward_hidden_size=64,
        memory_attention_rope_feat_sizes=[4, 4],
        memory_encoder_hidden_size=128,
        memory_encoder_output_channels=64,
        mask_downsampler_embed_dim=128,
        memory_fuser_embed_dim=128,
        memory_fuser_intermediate_dim=64,
    )
    save(folder, lambda: transformers.Sam2VideoModel(config), seed=seed)
    return folder
