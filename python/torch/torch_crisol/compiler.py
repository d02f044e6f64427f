"""torch.compile(backend="crisol"): chains of elementwise ops become one kernel each, forward and backward, and a graph
is captured and queued again.

PyTorch gives this module graphs of ATen ops. What is in no chain runs as without torch.compile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from . import _device as _c, _interface as _interface
from ._chains import fuse_chains


def join_parts(module: fx.GraphModule) -> int:
    """Replaces sums of gradients of parts that together are all of a tensor by stack or cat. Returns how many."""
    graph = module.graph
    count = 0
    for node in reversed(graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)):
        is_part_of_sum = len(node.users) == 1 and _is_sum(next(iter(node.users)))
        joined = None if is_part_of_sum or not _is_sum(node) else _joined(_terms(node))
        if joined is None:
            continue
        target, parts, axis = joined
        with graph.inserting_before(node):
            call = graph.call_function(target, (parts, axis))
        call.meta = dict(node.meta)
        node.replace_all_uses_with(call)
        count += 1
    graph.eliminate_dead_code()
    graph.lint()
    module.recompile()
    return count


def _is_sum(node: fx.Node) -> bool:
    """Whether a node adds two tensors of one shape and type."""
    if node.target is not torch.ops.aten.add.Tensor or node.kwargs or not all(isinstance(x, fx.Node) for x in node.args):
        return False
    values = [x.meta["val"] for x in (node, *node.args)]
    return all(x.shape == values[0].shape and x.dtype == values[0].dtype for x in values)


def _terms(node: fx.Node) -> list[fx.Node]:
    """The terms of a sum, which nothing else reads."""
    return [term for x in node.args for term in (_terms(x) if _is_sum(x) and len(x.users) == 1 else [x])]


def _joined(terms: list[fx.Node]) -> tuple[Any, list[fx.Node], int] | None:
    """The op, the operands and the axis that give the sum of these terms. Nothing if they are other terms."""
    aten = torch.ops.aten
    first = terms[0]
    target = first.target
    if target not in (aten.select_backward.default, aten.slice_backward.default):
        return None
    sizes, axis = first.args[1:3]
    if any(x.target is not target or x.args[1:3] != (sizes, axis) or len(x.users) != 1 for x in terms):
        return None
    size = sizes[axis]
    numbers = [number for x in terms for number in x.args[3:]]
    if not all(isinstance(number, int) for number in [size, *numbers]):
        return None
    if target is aten.select_backward.default:
        by_place = sorted(terms, key=lambda x: x.args[3] % size)
        places = [x.args[3] % size for x in by_place]
        return (aten.stack.default, [x.args[0] for x in by_place], axis) if places == [*range(size)] else None
    begin = 0
    for x in sorted(terms, key=lambda x: x.args[3]):
        start, end, step = x.args[3:]
        if start != begin or step != 1:
            return None
        begin = min(end, size)
    parts = [x.args[0] for x in sorted(terms, key=lambda x: x.args[3])]
    return (aten.cat.default, parts, axis) if begin == size else None


def update_in_place(module: fx.GraphModule, saved_from: int) -> int:
    """Lets batch norms write their running statistics themselves, and counts count in place. Returns how many do. The
    graph's results from `saved_from` on are what it saves for the backward graph."""
    graph = module.graph
    output = graph.output_node()
    aten = torch.ops.aten
    count = sum(_count_in_place(graph, node) for node in graph.find_nodes(op="call_function", target=aten.add.Tensor))
    for node in graph.find_nodes(op="call_function", target=aten._native_batch_norm_legit_functional.default):
        count += _norm_in_place(graph, node, output, saved_from)
    graph.lint()
    module.recompile()
    return count


def _write_of(state: fx.Node, value: fx.Node) -> fx.Node | None:
    """The node that copies a value to an input of the graph, which nothing else reads after the value's node."""
    if state.op != "placeholder":
        return None
    writes = [user for user in value.users if user.target is torch.ops.aten.copy_.default and not user.users]
    return writes[0] if len(writes) == 1 and writes[0].args == (state, value) else None


def _count_in_place(graph: fx.Graph, node: fx.Node) -> bool:
    state = node.args[0]
    write = _write_of(state, node) if isinstance(state, fx.Node) and not isinstance(node.args[1], fx.Node) else None
    if write is None or set(state.users) != {node, write} or set(node.users) != {write}:
        return False
    graph.erase_node(write)
    node.target = torch.ops.aten.add_.Tensor
    return True


def _norm_in_place(graph: fx.Graph, node: fx.Node, output: fx.Node, saved_from: int) -> bool:
    parts = {user.args[1]: user for user in node.users}
    if not node.args[5] or not {1, 2, 3, 4} <= set(parts):
        return False
    writes = []
    for state, part in ((node.args[3], parts[3]), (node.args[4], parts[4])):
        write = _write_of(state, part)
        if write is None or set(state.users) != {node, write} or not set(part.users) <= {write, output}:
            return False
        if part in output.args[0][:saved_from]:
            return False
        writes.append(write)
    # Backward gets the running statistics, but does not read them. The batch's statistics take their place.
    for write, part, other in zip(writes, (parts[3], parts[4]), (parts[1], parts[2]), strict=True):
        graph.erase_node(write)
        part.replace_all_uses_with(other)
        graph.erase_node(part)
    node.target = torch.ops.aten.native_batch_norm.default
    return True


_IS_TENSOR = object()  # In the place of a result that is a tensor.


class _Capture:
    """Captured commands of a graph for numbers and layouts of its inputs."""

    def __init__(self, module: fx.GraphModule, arguments: list[Any], constants: list[int]) -> None:
        self.places = [i for i, x in enumerate(arguments) if isinstance(x, torch.Tensor)]
        rest = [None if isinstance(x, torch.Tensor) else x for x in arguments]

        def function(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
            given = list(rest)
            for i, x in zip(self.places, tensors, strict=True):
                given[i] = x
            results = module(*given)
            self.others = [_IS_TENSOR if isinstance(y, torch.Tensor) else y for y in results]
            return [y for y in results if isinstance(y, torch.Tensor)]

        self.graph, first = _c.capture(function, [arguments[i] for i in self.places], constants)
        self.first = self.filled(first)

    def filled(self, tensors: list[torch.Tensor]) -> list[Any]:
        """The results of the graph, with these tensors."""
        left = iter(tensors)
        return [next(left) if y is _IS_TENSOR else y for y in self.others]


class Graph:
    """A graph that PyTorch calls. The first call for some numbers runs the ops, the second one captures them, and later
    ones queue the captured commands again. A graph that cannot be captured runs op by op."""

    _MOST_CAPTURES, _MOST_LAYOUTS = 8, 4

    def __init__(self, module: fx.GraphModule, trains: bool) -> None:
        self.module = module
        self.trains = trains
        self.why_not = ""  # Why the graph is not captured.
        self._captures: dict[tuple[Any, ...], list[_Capture]] = {}
        self._made = 0

    def __call__(self, arguments: list[Any]) -> list[Any]:
        given = list(arguments)
        arguments.clear()
        if self.why_not:
            return self.module(*given)
        numbers = tuple(x for x in given if not isinstance(x, torch.Tensor))
        captures = self._captures.get(numbers)
        if captures is None:
            if len(self._captures) < self._MOST_CAPTURES:
                self._captures[numbers] = []
            return self.module(*given)
        for capture in captures:
            results = capture.graph([given[i] for i in capture.places])
            if results is not None:
                return capture.filled(results)
        if self._made >= self._MOST_CAPTURES:
            return self.module(*given)
        return self._capture(given, captures)

    def captures(self) -> int:
        """How often the graph was captured."""
        return self._made

    def _capture(self, given: list[Any], captures: list[_Capture]) -> list[Any]:
        tensors = [x for x in given if isinstance(x, torch.Tensor)]
        # Packed copies of weights are for graphs whose weights change seldom.
        constants = [i for i, x in enumerate(tensors) if isinstance(x, torch.nn.Parameter)]
        try:
            capture = _Capture(self.module, given, [] if self.trains or self._made > 1 else constants)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self.why_not = str(error)
            return self.module(*given)
        self._made += 1
        captures.insert(0, capture)
        del captures[self._MOST_LAYOUTS :]
        first, capture.first = capture.first, None
        return first


def compiled(module: fx.GraphModule, trains: bool) -> Callable[[list[Any]], list[Any]]:
    """The graph with chains, in-place updates and captures, as PyTorch calls it: with a list that the call empties."""
    context = torch._guards.TracingContext.try_get()
    facts = context.fw_metadata if context is not None and trains else None
    results = len(module.graph.output_node().args[0])
    update_in_place(module, results if facts is None else facts.num_forward)
    join_parts(module)
    fuse_chains(module)
    graph = Graph(module, trains)

    def call(arguments: list[Any]) -> list[Any]:
        return graph(arguments)

    call._boxed_call = True
    return call


def backend(module: fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """The backend "crisol" of torch.compile."""
    from torch._dynamo.backends.common import aot_autograd

    def training(module: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        return compiled(module, trains=True)

    def inference(module: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        return compiled(module, trains=False)

    compilers = {"fw_compiler": training, "bw_compiler": training, "inference_compiler": inference}
    return aot_autograd(**compilers, keep_inference_input_mutations=True)(module, inputs)
