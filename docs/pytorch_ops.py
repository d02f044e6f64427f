"""Writes docs/pytorch-ops.md, the list of PyTorch's ops that run on the device: docs/pytorch_ops.py > docs/pytorch-ops.md"""

import torch_crisol

HEAD = """# Ops of PyTorch that run on the device

This page lists the ops of PyTorch (ATen) for which the device `"crisol"` has code ([pytorch](pytorch.md)). The code is one
table, and `docs/pytorch_ops.py` writes this page from the table. PyTorch makes many other functions of these ops:
`softmax` of `_softmax.out`, `x += y` of `add.out`, a linear layer of `addmm.out`.

Besides, the device makes, views, resizes and copies tensors. It runs `lstm.input`, `gru.input`, `rnn_tanh.input` and
`rnn_relu.input` over whole sequences. An op may run on the CPU for some arguments, for example complex numbers.

"""


def page() -> str:
    """The text of the page."""
    overloads: dict[str, list[str]] = {}
    for name in torch_crisol.native_ops():
        base, _, overload = name.partition(".")
        overloads.setdefault(base, []).append(f"`{overload}`" if overload else "")
    count = sum(map(len, overloads.values()))
    lines = [f"{count} overloads of {len(overloads)} ops:", "", "| op | overloads |", "|---|---|"]
    for base, names in sorted(overloads.items()):
        text = ", ".join(name for name in names if name)
        lines.append(f"| `{base}` | {'the op itself, ' + text if '' in names and text else text or 'the op itself'} |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
