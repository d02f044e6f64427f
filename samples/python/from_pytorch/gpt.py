"""A small GPT over characters, as a PyTorch program: only the imports name crisol."""

import math

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F

TEXT = "the quick brown fox jumps over the lazy dog. " * 20


class Attention(nn.Module):
    mask: torch.Tensor

    def __init__(self, width: int, heads: int, block: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.size()
        q, k, v = self.qkv(x).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        out = F.softmax(scores, dim=-1) @ v
        y: torch.Tensor = self.proj(out.transpose(1, 2).contiguous().view(b, t, c))
        return y


class Block(nn.Module):
    def __init__(self, width: int, heads: int, block: int) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width)
        self.attention = Attention(width, heads, block)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.ln1(x))
        y: torch.Tensor = x + self.mlp(self.ln2(x))
        return y


class GPT(nn.Module):
    def __init__(self, vocabulary: int, width: int = 32, heads: int = 4, layers: int = 2, block: int = 32) -> None:
        super().__init__()
        self.block = block
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(block, width)
        self.blocks = nn.ModuleList([Block(width, heads, block) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.token.weight
        self.apply(self._init_weights)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(
        self, idx: torch.Tensor, targets: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        t = idx.size(1)
        x = self.token(idx) + self.position(torch.arange(t, device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

    @torch.no_grad()
    def generate(self, idx: torch.Tensor, count: int, top_k: int = 3) -> torch.Tensor:
        for _ in range(count):
            logits, _ = self(idx[:, -self.block :])
            logits = logits[:, -1, :]
            values, _ = torch.topk(logits, top_k)
            logits[logits < values[:, [-1]]] = -float("inf")
            probabilities = F.softmax(logits, dim=-1)
            idx = torch.cat((idx, torch.multinomial(probabilities, num_samples=1)), dim=1)
        return idx


def main() -> None:
    torch.manual_seed(1337)
    characters = sorted(set(TEXT))
    stoi = {c: i for i, c in enumerate(characters)}
    data = torch.tensor([stoi[c] for c in TEXT], dtype=torch.long)
    model = GPT(len(characters))
    decay = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95), fused=False)
    for step in range(60):
        ix = torch.randint(len(data) - 33, (16,))
        x = torch.stack([data[i : i + 32] for i in ix.tolist()])
        y = torch.stack([data[i + 1 : i + 33] for i in ix.tolist()])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"loss {loss.item():.3f}")
    start = torch.tensor([[stoi["t"]]], dtype=torch.long)
    model.eval()
    print("text " + "".join(characters[i] for i in model.generate(start, 24)[0].tolist()))


if __name__ == "__main__":
    main()
