"""Deep Q-learning on a corridor, as a PyTorch program: only the imports name crisol."""

import random
from collections import deque
from typing import NamedTuple

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F
from crisol import optim

LENGTH = 6


class Transition(NamedTuple):
    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_state: torch.Tensor
    done: torch.Tensor


def encode(position: int) -> torch.Tensor:
    return F.one_hot(torch.tensor([position]), num_classes=LENGTH).float()


def move(position: int, action: int) -> tuple[int, float, bool]:
    """Left is 0 and right is 1. The end on the right gives 1."""
    position = min(max(position + (1 if action == 1 else -1), 0), LENGTH - 1)
    done = position == LENGTH - 1
    return position, 1.0 if done else -0.01, done


class DQN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer1 = nn.Linear(LENGTH, 32)
        self.layer2 = nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q: torch.Tensor = self.layer2(F.relu(self.layer1(x)))
        return q


def select_action(policy: DQN, state: torch.Tensor, epsilon: float) -> torch.Tensor:
    if random.random() > epsilon:
        with torch.no_grad():
            action: torch.Tensor = policy(state).max(1).indices.view(1, 1)
            return action
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize(policy: DQN, target: DQN, memory: deque[Transition], optimizer: optim.Optimizer) -> None:
    state, action, reward, next_state, done = (torch.cat(part) for part in zip(*random.sample(memory, 32)))
    q = policy(state).gather(1, action)
    with torch.no_grad():
        next_q = target(next_state).max(1)[0]
        next_q[done] = 0.0
    expected = reward + 0.9 * next_q
    loss = nn.SmoothL1Loss()(q, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()


def main() -> None:
    random.seed(0)
    torch.manual_seed(0)
    policy, target = DQN(), DQN()
    target.load_state_dict(policy.state_dict())
    optimizer = optim.AdamW(policy.parameters(), lr=5e-3, amsgrad=True)
    memory: deque[Transition] = deque([], maxlen=500)
    for episode in range(25):
        position, epsilon = 0, max(0.1, 0.9 - episode * 0.05)
        for _ in range(30):
            state = encode(position)
            action = select_action(policy, state, epsilon)
            position, reward, done = move(position, int(action.item()))
            memory.append(
                Transition(state, action, torch.tensor([reward]), encode(position), torch.tensor([done]))
            )
            if len(memory) >= 32:
                optimize(policy, target, memory, optimizer)
            for kept, new in zip(target.parameters(), policy.parameters()):
                kept.data.copy_(0.05 * new.data + (1 - 0.05) * kept.data)
            if done:
                break
    states = torch.eye(LENGTH)[:-1]
    actions = policy(states).argmax(dim=1)
    print("actions", actions.tolist())


if __name__ == "__main__":
    main()
