"""Trains an LSTM or a transformer to predict the next word of a text, and writes some words itself.

    python word_language_model.py --device crisol --data text.txt
    python word_language_model.py --device crisol --data text.txt --model transformer
"""

import argparse
import math
import re
from collections import Counter
from pathlib import Path

import torch
from torch import nn

try:
    import torch_crisol  # noqa: F401
except ImportError:
    print("torch_crisol is not installed, so there is no device crisol")


class LSTMModel(nn.Module):
    """Numbers of words (T, N) to the logits of the words after them. The output layer shares the embedding's weight."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(words, width), nn.Dropout(0.2)
        self.lstm = nn.LSTM(width, width, num_layers=2, dropout=0.2)
        self.output = nn.Linear(width, words)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.output.weight = self.embedding.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.lstm(self.dropout(self.embedding(x)))
        return self.output(self.dropout(hidden))


class TransformerModel(nn.Module):
    """The same with two layers of a transformer. A word sees itself and the words before it."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.2)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.output = nn.Linear(width, words)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length, width = len(x), self.embedding.embedding_dim
        angles = torch.arange(length, device=x.device)[:, None] / 10000 ** (
            torch.arange(0, width, 2, device=x.device) / width
        )
        places = torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[:, None]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=x.device)
        return self.output(self.encoder(math.sqrt(width) * self.embedding(x) + places, mask, is_causal=True))


def words_of(text: str, limit: int) -> tuple[list[str], torch.Tensor]:
    """The most frequent words, and the text as numbers of words. Number 0 stands for all other words."""
    words = re.findall(r"\w+|[^\w\s]|\n", text.lower())
    known = ["?"] + [word for word, _ in Counter(words).most_common(limit - 1)]
    numbers = {word: i for i, word in enumerate(known)}
    return known, torch.tensor([numbers.get(word, 0) for word in words])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a text file")
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--model", choices=("lstm", "transformer"), default="lstm")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--words", type=int, default=4000, help="how many different words the model knows")
    parser.add_argument("--width", type=int, default=128)
    options = parser.parse_args()
    torch.manual_seed(1)
    known, text = words_of(options.data.read_text(encoding="utf-8"), options.words)
    make = LSTMModel if options.model == "lstm" else TransformerModel
    model = make(len(known), options.width).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    length, batch = 35, 20
    total = torch.zeros((), device=options.device)
    for step in range(1, options.steps + 1):
        starts = torch.randint(len(text) - length, (batch,))
        x = torch.stack([text[start : start + length + 1] for start in starts], 1).to(options.device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[:-1]).flatten(0, 1), x[1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total += loss.detach()
        if step % 50 == 0:
            mean = total.item() / 50
            total.zero_()
            print(f"step {step}: loss {mean:.4f}, perplexity {math.exp(mean):.1f}")
    model.eval()
    with torch.no_grad():
        written = text[:1, None].to(options.device)
        for _ in range(40):
            weights = model(written)[-1, 0].softmax(0)
            written = torch.cat((written, torch.multinomial(weights, 1)[None]))
    print(" ".join(known[i] for i in written[:, 0].tolist()))


if __name__ == "__main__":
    main()
