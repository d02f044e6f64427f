"""Learns sine waves with two LSTM cells and predicts how they go on. The optimiser is L-BFGS.

    python time_sequence.py --device crisol
"""

import argparse

import torch
from torch import nn

try:
    import torch_crisol  # noqa: F401
except ImportError:
    print("torch_crisol is not installed, so there is no device crisol")


class Sequence(nn.Module):
    """Waves (N, T) to the value after each of their T values, and then to `future` values more."""

    def __init__(self, hidden: int = 51) -> None:
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(1, hidden), nn.LSTMCell(hidden, hidden)])
        self.linear = nn.Linear(hidden, 1)

    def forward(self, waves: torch.Tensor, future: int = 0) -> torch.Tensor:
        states = [None for _ in self.cells]
        outputs: list[torch.Tensor] = []
        for t in range(waves.shape[1] + future):
            x = waves[:, t, None] if t < waves.shape[1] else outputs[-1]
            for i, cell in enumerate(self.cells):
                states[i] = cell(x, states[i])
                x = states[i][0]
            outputs.append(self.linear(x))
        return torch.cat(outputs, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--steps", type=int, default=5, help="steps of the optimiser, of 20 evaluations each")
    parser.add_argument("--length", type=int, default=200, help="values of a wave")
    parser.add_argument("--waves", type=int, default=40)
    options = parser.parse_args()
    torch.manual_seed(0)
    starts = torch.randint(-80, 80, (options.waves, 1))
    waves = torch.sin((torch.arange(options.length) + starts) / 20).to(options.device)
    model = Sequence().to(options.device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8)
    tests, training = waves[:3], waves[3:]

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = criterion(model(training[:, :-1]), training[:, 1:])
        loss.backward()
        return loss

    for step in range(options.steps):
        loss = optimizer.step(closure)
        with torch.no_grad():
            known = options.length // 2
            predicted = model(tests[:, :known], future=known // 2)[:, known:]
            error = criterion(predicted, tests[:, known + 1 : known + 1 + predicted.shape[1]])
        values = predicted.shape[1]
        print(f"step {step + 1}: loss {loss.item():.6f}, error of {values} predicted values {error.item():.5f}")


if __name__ == "__main__":
    main()
