"""Learns a text character by character with an LSTM, and writes text of the same kind."""

import argparse
from pathlib import Path

import crisol
from crisol import nn
from crisol.nn import functional as F


class CharModel(nn.Module):
    """Characters (T, B) give logits (T · B, characters) and the next state."""

    def __init__(self, characters, embedding=32, hidden=128, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding)
        self.lstm = nn.LSTM(embedding, hidden, num_layers=layers)
        self.decoder = nn.Linear(hidden, characters)

    def forward(self, characters, state=None):
        output, state = self.lstm(self.embedding(characters), state)
        return self.decoder(output.flatten(0, 1)), state


def train(model, codes, args):
    columns = len(codes) // args.batch
    table = crisol.asarray(codes[: columns * args.batch]).reshape(args.batch, columns).T.contiguous()
    optimizer = crisol.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = crisol.amp.GradScaler(enabled=args.dtype == "f16")
    state, at = None, 0
    for step in range(1, args.steps + 1):
        if at + args.length + 1 > columns:
            state, at = None, 0
        with crisol.autocast("cuda", crisol.float16, enabled=scaler.is_enabled()):
            logits, state = model(table[at : at + args.length], state)
            loss = F.cross_entropy(logits, table[at + 1 : at + args.length + 1].flatten())
        state = tuple(part.detach() for part in state)  # Back-propagation ends at the start of the next step.
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        at += args.length
        if step % 50 == 0 or step == args.steps:
            print(f"step {step}: loss {loss.item():.3f} per character")


@crisol.no_grad()
def write(model, first, length, temperature):
    """The codes of a text that begins with the code `first`."""
    model.eval()
    codes, state = [first], None
    while len(codes) < length:
        logits, state = model(crisol.asarray([codes[-1:]]), state)
        codes.append(int(crisol.sample_logits(logits, temperature)))
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", help="text file to learn; without it, this program learns its own source")
    parser.add_argument("--steps", type=int, default=300, help="steps of training (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="texts side by side (default: %(default)s)")
    parser.add_argument("--length", type=int, default=32, help="characters in a step (default: %(default)s)")
    parser.add_argument("--lr", type=float, default=1e-2, help="learning rate (default: %(default)s)")
    parser.add_argument("--write", type=int, default=200, help="characters to write (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.5, help="0: the likeliest one (default: %(default)s)")
    parser.add_argument("--dtype", choices=["f32", "f16"], default="f32", help="f16: mixed precision (default: f32)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and draws (default: %(default)s)")
    args = parser.parse_args()

    text = Path(args.text or __file__).read_text(encoding="utf-8")
    characters = sorted(set(text))
    codes = [characters.index(c) for c in text]
    crisol.manual_seed(args.seed)
    model = CharModel(len(characters))
    train(model, codes, args)
    print("".join(characters[code] for code in write(model, codes[0], args.write, args.temperature)))


if __name__ == "__main__":
    main()
