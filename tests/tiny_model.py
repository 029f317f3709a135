"""A sentence-transformers model of 32 dimensions, made on the spot: one layer, a vocabulary of the texts at hand."""

from pathlib import Path


def tiny_model(texts, folder: Path, dimensions: int = 32) -> Path:
    """Save it into the folder; nothing is fetched."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    pieces = BertWordPieceTokenizer(lowercase=True, strip_accents=False)
    pieces.train_from_iterator(texts, vocab_size=4_000, min_frequency=2, show_progress=False)
    (bert := folder / "bert").mkdir(exist_ok=True)
    pieces.save_model(str(bert))
    torch.manual_seed(1)
    sizes = {"hidden_size": dimensions, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    model = BertModel(BertConfig(vocab_size=pieces.get_vocab_size(), max_position_embeddings=128, **sizes))
    model.save_pretrained(bert)
    BertTokenizerFast(vocab=str(bert / "vocab.txt"), do_lower_case=True, model_max_length=64).save_pretrained(bert)
    transformer = models.Transformer(str(bert), max_seq_length=64)
    pooling = models.Pooling(dimensions)
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(folder / "model"))
    return folder / "model"
