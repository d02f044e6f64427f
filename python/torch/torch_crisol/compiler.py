"""torch.compile(backend="crisol"): chains of elementwise ops become one kernel each, forward and backward.

PyTorch gives this module graphs of ATen ops. A chain is a set of ops whose results have one shape. A size of the shape
may be a symbol, whose value the graph gets when it runs. Everything else in a graph runs as without torch.compile.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._prims_common import is_contiguous_or_false

from . import _device as _c, _interface as _interface

_FLOATING = (torch.float32, torch.float16, torch.bfloat16)
# The most tensors that a chain reads and returns, and the most ops. A kernel has a limited number of arguments.
_MOST_TENSORS, _MOST_OPS = 16, 64

Operand = Any  # A node, a number, or a step of the same op: (function, operands).
Step = tuple[str, list[Operand]]


def _scaled(x: Operand, factor: Any) -> Operand:
    return x if factor == 1 else ("mul", [x, factor])


def _where_positive(dy: Operand, x: Operand, threshold: Any) -> Step:
    return ("where", [("le", [x, threshold]), 0.0, dy])


def _silu_backward(dy: Operand, x: Operand) -> Step:
    open_ = ("sigmoid", [x])
    return ("mul", [dy, ("mul", [open_, ("add", [1.0, ("mul", [x, ("sub", [1.0, open_])])])])])


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
        if len(self.steps) <= _MOST_OPS and len(self.inputs()) + len(self.results()) <= _MOST_TENSORS:
            return True
        del self.steps[node]
        return False

    def kernel(self, successors: dict[fx.Node, fx.Node]) -> Any:
        """The function of the inputs that returns the results. `successors` has the nodes that took the place of
        others."""
        inputs = self.inputs()
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
        return _c.Chain(flat, [values[node] for node in self.results()], len(inputs))


def _replace(graph: fx.Graph, chain: _Chain, after: fx.Node, successors: dict[fx.Node, fx.Node]) -> None:
    """Puts the kernel of a chain behind a node, in place of the chain's ops."""
    results = chain.results()
    if len(chain.steps) < 2 or not results:
        return
    kernel = chain.kernel(successors)

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        return kernel(tensors)

    with graph.inserting_after(after):
        call = graph.call_function(run, tuple(chain.inputs()))
    last = call
    for i, node in enumerate(results):
        with graph.inserting_after(last):
            last = graph.call_function(operator.getitem, (call, i))
        last.meta = dict(node.meta)
        successors[node] = last
        node.replace_all_uses_with(last, delete_user_cb=lambda user: user not in chain.steps)
    for node in reversed(chain.steps):
        graph.erase_node(node)


def fuse_chains(module: fx.GraphModule) -> int:
    """Replaces the chains of a graph by kernels. Returns how many there are."""
    graph = module.graph
    open_chains: dict[Any, _Chain] = {}
    closed: list[tuple[_Chain, fx.Node]] = []

    def close(key: Any) -> None:
        chain = open_chains.pop(key)
        closed.append((chain, next(reversed(chain.steps))))

    for node in list(graph.nodes):
        step = _step_of(node)
        key = tuple(map(str, node.meta["val"].shape)) if step is not None else None
        changes = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
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
    for chain, after in closed:
        _replace(graph, chain, after, successors)
    graph.lint()
    module.recompile()
    return sum(len(chain.steps) > 1 for chain, _ in closed)


def _compile(module: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    from functorch.compile import make_boxed_func

    fuse_chains(module)
    return make_boxed_func(module.forward)


def backend(module: fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """The backend "crisol" of torch.compile."""
    from torch._dynamo.backends.common import aot_autograd

    return aot_autograd(fw_compiler=_compile, bw_compiler=_compile)(module, inputs)
