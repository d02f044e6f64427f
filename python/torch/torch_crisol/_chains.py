"""Chains of elementwise ops in a graph of torch.compile.

A chain is a set of ops whose results have one shape. A size of the shape may be a symbol, whose value the graph gets when
it runs. A chain becomes one kernel. A chain that begins with a product or a convolution is the last step of this op.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import fx
from torch._prims_common import is_contiguous_or_false

from . import _device as _c

_FLOATING = (torch.float32, torch.float16, torch.bfloat16)
# The most tensors that a chain reads, the most that it reads and returns, the most numbers, and the most ops.
# A kernel has a limited number of arguments.
_MOST_INPUTS, _MOST_TENSORS, _MOST_NUMBERS, _MOST_OPS = 8, 16, 8, 64

Operand = Any  # A node, a number, or a step of the same op: (function, operands).
Step = tuple[str, list[Operand]]


def _scaled(x: Operand, factor: Any) -> Operand:
    return x if factor == 1 else ("mul", [x, factor])


def _where_positive(dy: Operand, x: Operand, threshold: Any) -> Step:
    return ("where", [("le", [x, threshold]), 0.0, dy])


def _silu_backward(dy: Operand, x: Operand) -> Step:
    open_ = ("sigmoid", [x])
    return ("mul", [dy, ("mul", [open_, ("add", [1.0, ("mul", [x, ("sub", [1.0, open_])])])])])


def _gelu_backward(dy: Operand, x: Operand) -> Step:
    share = ("mul", [0.5, ("add", [1.0, ("erf", [("mul", [x, math.sqrt(0.5)])])])])
    density = ("mul", [1 / math.sqrt(2 * math.pi), ("exp", [("mul", [("mul", [x, x]), -0.5])])])
    return ("mul", [dy, ("add", [share, ("mul", [x, density])])])


# Ops whose function in a chain has another name or other operands: (arguments of the op) to the last step.
_RULES: dict[str, Callable[..., Step]] = {
    "add.Tensor": lambda a, b, alpha=1: ("add", [a, _scaled(b, alpha)]),
    "sub.Tensor": lambda a, b, alpha=1: ("sub", [a, _scaled(b, alpha)]),
    "rsub.Scalar": lambda a, b, alpha=1: ("sub", [b, _scaled(a, alpha)]),
    "addcmul.default": lambda x, a, b, value=1: ("add", [x, _scaled(("mul", [a, b]), value)]),
    "where.self": lambda c, a, b: ("where", [c, a, b]),
    "gelu.default": lambda x, approximate="none": ("gelu" if approximate == "none" else "gelu_tanh", [x]),
    "leaky_relu.default": lambda x, slope=0.01: ("leaky_relu", [x, slope]),
    "threshold_backward.default": _where_positive,
    "tanh_backward.default": lambda dy, y: ("mul", [dy, ("sub", [1.0, ("mul", [y, y])])]),
    "sigmoid_backward.default": lambda dy, y: ("mul", [dy, ("mul", [y, ("sub", [1.0, y])])]),
    "silu_backward.default": _silu_backward,
    "gelu_backward.default": _gelu_backward,
    "_to_copy.default": lambda x, dtype=None: (f"to {str(dtype).removeprefix('torch.')}", [x]),
}
_BINARY = {"mul", "div", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "pow"}
_UNARY = {"abs", "cos", "erf", "exp", "expm1", "log", "log1p", "logical_not", "neg", "reciprocal", "relu", "rsqrt"}
_UNARY |= {"sigmoid", "silu", "sin", "sqrt", "tanh"}
for _name in _BINARY:
    for _overload in ("Tensor", "Scalar", "default", "Tensor_Scalar", "Tensor_Tensor"):
        _RULES[f"{_name}.{_overload}"] = lambda a, b, name=_name: (name, [a, b])
for _name in _UNARY:
    _RULES[f"{_name}.default"] = lambda x, name=_name: (name, [x])


def _numbers_in(step: Step) -> int:
    """How many numbers a step has."""
    return sum(_numbers_in(x) if isinstance(x, tuple) else not isinstance(x, fx.Node) for x in step[1])


def _fits(value: Any) -> bool:
    """Whether a chain takes a value: a tensor of the device."""
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == "crisol"
        and (value.dtype in _FLOATING or value.dtype == torch.bool)
    )


def _is_row_major(x: torch.Tensor) -> bool:
    """Whether a result surely has no other layout, and elements. A size may be known only at run time."""
    return is_contiguous_or_false(x) and not any(isinstance(size, int) and size == 0 for size in x.shape)


def _step_of(node: fx.Node) -> Step | None:
    """The step of a node, or nothing if a chain cannot hold the node."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    rule = _RULES.get(f"{target.overloadpacket.__name__}.{target._overloadname}")
    result = node.meta.get("val")
    if rule is None or not _fits(result) or not _is_row_major(result):
        return None
    inputs = node.all_input_nodes
    if not inputs or not all(_fits(x.meta.get("val")) for x in inputs):
        return None
    # The types of floating-point numbers do not mix, except by _to_copy.
    converts = target.overloadpacket is torch.ops.aten._to_copy
    floating = {x.meta["val"].dtype for x in [*inputs, node]} - {torch.bool}
    if len(floating) > 1 and not converts:
        return None
    if converts and (set(node.kwargs) != {"dtype"} or result.dtype not in _FLOATING):
        return None
    try:
        return rule(*node.args, **node.kwargs)
    except TypeError:  # Arguments that the rule does not know.
        return None


class _Chain:
    """Ops of one shape that become one kernel."""

    def __init__(self) -> None:
        self.steps: dict[fx.Node, Step] = {}

    def inputs(self) -> list[fx.Node]:
        """The nodes outside whose values the chain reads."""
        return list(dict.fromkeys(x for node in self.steps for x in node.all_input_nodes if x not in self.steps))

    def results(self) -> list[fx.Node]:
        """The nodes whose values are read outside."""
        return [node for node in self.steps if any(user not in self.steps for user in node.users)]

    def add(self, node: fx.Node, step: Step) -> bool:
        """Adds a node, unless the chain is too large then."""
        self.steps[node] = step
        inputs, results = len(self.inputs()), len(self.results())
        numbers = sum(_numbers_in(step) for step in self.steps.values())
        fits = inputs <= _MOST_INPUTS and inputs + results <= _MOST_TENSORS and numbers <= _MOST_NUMBERS
        if fits and len(self.steps) <= _MOST_OPS:
            return True
        del self.steps[node]
        return False

    def ended(self) -> _Ended | None:
        """The product or convolution whose last step the chain is, or nothing."""
        results = self.results()
        if len(results) != 1 or any(step[0].startswith("to ") for step in self.steps.values()):
            return None
        result = results[0].meta["val"]
        inputs = self.inputs()
        if any(x.meta["val"].dtype != result.dtype for x in inputs):
            return None
        for node in inputs:
            value = node.meta["val"]
            if list(value.shape) != list(result.shape) or not _is_row_major(value):
                continue
            if any(user not in self.steps for user in node.users):
                continue
            views = _views_behind(node)
            op = views[-1].args[0] if views else node
            ending = _ending_of(op)
            if ending is None or _is_written_between(op, self.last()):
                continue
            columns = op.meta["val"].shape[-1]
            others = [x for x in inputs if x is not node]
            if views and not all(_has_rows_of(x.meta["val"], result, columns) for x in others):
                continue
            return _Ended(op, views, others, *ending)
        return None

    def last(self) -> fx.Node:
        """The last step."""
        return next(reversed(self.steps))

    def without_endings(self) -> tuple[list[_Chain], _Chain]:
        """The parts of the chain that are the last steps of products, and a chain of the other steps."""
        parts: list[_Chain] = []  # Each one has steps that use each other.
        for node, step in self.steps.items():
            part = _Chain()
            for other in [one for one in parts if any(x in one.steps for x in node.all_input_nodes)]:
                part.steps |= other.steps
                parts.remove(other)
            part.steps[node] = step
            parts.append(part)
        ended = [part for part in parts if part.ended() is not None]
        rest = _Chain()
        rest.steps = {node: s for node, s in self.steps.items() if not any(node in part.steps for part in ended)}
        return ended, rest

    def flat_steps(self, inputs: list[fx.Node], successors: dict[fx.Node, fx.Node]) -> tuple[list[Step], list[int]]:
        """The steps as kernels take them, and the values that are results. `successors` has the nodes that took the
        place of others."""
        values: dict[fx.Node, int] = {node: i for i, node in enumerate(inputs)}
        flat: list[tuple[str, list[Any]]] = []

        def operand(one: Operand) -> Any:
            if isinstance(one, fx.Node):
                return (values[successors.get(one, one)],)
            if isinstance(one, tuple):
                return (emit(one),)
            return one

        def emit(step: Step) -> int:
            function, operands = step
            given = [operand(one) for one in operands]
            flat.append((function, given))
            return len(inputs) + len(flat) - 1

        for node, step in self.steps.items():
            values[node] = emit(step)
        return flat, [values[node] for node in self.results()]


class _Ended(NamedTuple):
    """An op whose last step a chain is."""

    op: fx.Node
    views: list[fx.Node]  # Views of its result, the last one first. The chain reads the last one.
    others: list[fx.Node]  # The chain's other inputs.
    name: str
    operands: list[fx.Node]
    settings: Any


def _views_behind(node: fx.Node) -> list[fx.Node]:
    """The views between a node and a product of matrices with the same rows. Nothing else reads the product."""
    aten = torch.ops.aten
    views: list[fx.Node] = []
    columns = node.meta["val"].shape[-1] if node.meta["val"].dim() > 0 else None
    while node.target in (aten.view.default, aten._unsafe_view.default):
        views.append(node)
        node = node.args[0]
        shape = node.meta["val"].shape
        if len(node.users) != 1 or len(shape) == 0 or not isinstance(columns, int) or shape[-1] != columns:
            return []
    return views if node.target in (aten.mm.default, aten.addmm.default) else []


def _has_rows_of(x: torch.Tensor, result: torch.Tensor, columns: int) -> bool:
    """Whether a tensor is as large as the result, or one row of it."""
    return list(x.shape) == list(result.shape) or list(x.shape) == [columns]


def _ending_of(node: fx.Node) -> tuple[str, list[fx.Node], Any] | None:
    """An op that takes a chain as its last step: its name, its operands and its settings. Nothing for other nodes."""
    aten = torch.ops.aten
    if node.op != "call_function" or node.kwargs or not _fits(node.meta.get("val")):
        return None
    operands = [x for x in node.args[:3] if isinstance(x, fx.Node)]
    if node.target in (aten.mm.default, aten.bmm.default):
        return "product", operands, None
    if node.target is aten.addmm.default and operands[0].meta["val"].dim() == 1:
        return "linear", [operands[1], operands[2], operands[0]], None
    if node.target is aten.convolution.default and node.meta["val"].dim() == 4:
        stride, padding, dilation, transposed, _, groups = node.args[3:]
        settings = [[*sizes] * (2 // len(sizes)) for sizes in (stride, padding, dilation)]
        if not transposed and all(isinstance(size, int) for size in (*sum(settings, []), groups)):
            return "convolution", operands, _c.Window(*settings, groups)
    return None


def _changes(node: fx.Node) -> bool:
    """Whether a node writes a tensor."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _is_written_between(first: fx.Node, last: fx.Node) -> bool:
    node = first.next
    while node is not last:
        if _changes(node):
            return True
        node = node.next
    return False


def _replace_by_ending(graph: fx.Graph, chain: _Chain, ended: _Ended, successors: dict[fx.Node, fx.Node]) -> None:
    """Puts an op with its last step behind the chain, in place of both."""
    outer = ended.views[0] if ended.views else ended.op
    steps, _ = chain.flat_steps([outer, *ended.others], successors)
    settings = {} if ended.settings is None else {"window": ended.settings}
    ending = _c.Ending(ended.name, len(ended.operands), steps, 1 + len(ended.others), **settings)

    def run(*tensors: torch.Tensor) -> torch.Tensor:
        return ending(tensors)

    result, others = chain.results()[0], list(ended.others)
    with graph.inserting_before(chain.last().next):
        if ended.views:  # The chain runs with the sizes of the product.
            sizes = [-1, ended.op.meta["val"].shape[-1]]
            for i, x in enumerate(others):
                if x.meta["val"].dim() > 1:
                    others[i] = graph.call_function(torch.ops.aten.reshape.default, (x, sizes))
        call = graph.call_function(run, (*ended.operands, *others))
        for view in reversed(ended.views):
            call = graph.call_function(view.target, (call, *view.args[1:]))
    call.meta = dict(result.meta)
    successors[result] = call
    result.replace_all_uses_with(call, delete_user_cb=lambda user: user not in chain.steps)
    for node in [*reversed(chain.steps), *ended.views, ended.op]:
        graph.erase_node(node)


def _replace(graph: fx.Graph, chain: _Chain, after: fx.Node, successors: dict[fx.Node, fx.Node]) -> int:
    """Puts the kernel of a chain behind a node, in place of the chain's ops. Returns how many kernels there are."""
    results = chain.results()
    if not results:
        return 0
    ended = chain.ended()
    if ended is not None:
        _replace_by_ending(graph, chain, ended, successors)
        return 1
    if len(chain.steps) < 2:
        return 0
    inputs = chain.inputs()
    steps, values = chain.flat_steps(inputs, successors)
    kernel = _c.Chain(steps, values, len(inputs))

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        return kernel(tensors)

    with graph.inserting_after(after):
        call = graph.call_function(run, tuple(inputs))
    last = call
    for i, node in enumerate(results):
        with graph.inserting_after(last):
            last = graph.call_function(operator.getitem, (call, i))
        last.meta = dict(node.meta)
        successors[node] = last
        node.replace_all_uses_with(last, delete_user_cb=lambda user: user not in chain.steps)
    for node in reversed(chain.steps):
        graph.erase_node(node)
    return 1


def fuse_chains(module: fx.GraphModule) -> int:
    """Replaces the chains of a graph by kernels. Returns how many there are."""
    graph = module.graph
    open_chains: dict[Any, _Chain] = {}
    closed: list[_Chain] = []

    def close(key: Any) -> None:
        ended, rest = open_chains.pop(key).without_endings()
        closed.extend([*ended, rest] if rest.steps else ended)

    for node in list(graph.nodes):
        step = _step_of(node)
        key = tuple(map(str, node.meta["val"].shape)) if step is not None else None
        changes = _changes(node)
        for other in list(open_chains):
            uses = any(x in open_chains[other].steps for x in node.all_input_nodes)
            if other != key and (uses or changes):
                close(other)
        if step is None:
            continue
        if key in open_chains and not open_chains[key].add(node, step):
            close(key)
        if key not in open_chains:
            open_chains[key] = _Chain()
            open_chains[key].add(node, step)
    for key in list(open_chains):
        close(key)
    successors: dict[fx.Node, fx.Node] = {}
    count = sum(_replace(graph, chain, chain.last(), successors) for chain in closed)
    graph.lint()
    module.recompile()
    return count
