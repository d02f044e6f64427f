"""A forecaster of a time series, as a PyTorch program: only the imports name crisol."""

import crisol as torch
import crisol.nn as nn
from crisol.optim.lr_scheduler import ReduceLROnPlateau
from crisol.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series: torch.Tensor, length: int) -> None:
        self.series, self.length = series, length

    def __len__(self) -> int:
        return len(self.series) - self.length

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.series[i : i + self.length].unsqueeze(-1), self.series[i + self.length]


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 24) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True, dropout=0.0)
        self.head = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, 1))
        for name, parameter in self.lstm.named_parameters():
            if "weight" in name:
                nn.init.xavier_uniform_(parameter.data)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, (h_n, _) = self.lstm(x)
        y: torch.Tensor = self.head(h_n[-1]).squeeze(-1)
        return y


def main() -> None:
    torch.manual_seed(0)
    t = torch.linspace(0, 40, steps=400)
    series = torch.sin(t) + 0.3 * torch.cos(3 * t)
    mean, std = series.mean(), series.std()
    series = (series - mean) / std
    train, test = series[:320], series[320:]
    loader = DataLoader(Windows(train, 20), batch_size=32, shuffle=True, drop_last=True)
    model = Forecaster()
    criterion = nn.HuberLoss(delta=1.0)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2)
    best = float("inf")
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            held = Windows(test, 20)
            x = torch.stack([held[i][0] for i in range(len(held))])
            y = torch.stack([held[i][1] for i in range(len(held))])
            value = criterion(model(x), y).item()
        scheduler.step(value)
        if value < best:
            best = value
            state = {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(state)
    print(f"huber {best:.4f}")


if __name__ == "__main__":
    main()
