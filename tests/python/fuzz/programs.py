"""Random programs: steps that read earlier values. Each runs in crisol and in NumPy or PyTorch in double."""

import functions
import numpy as np
from functions import of_numpy

limits = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, np.inf, -np.inf, np.nan, 1e-40, 1e30, -20.0, 6.0]
dtypes = {"float32": np.float32, "float16": np.float16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8}
dtypes["bool"] = np.bool_


class Program:
    """`steps` are (text, array): a leaf with its elements, or an expression of m and of earlier values v[i]."""

    def __init__(self, steps, has_gradients):
        self.steps = steps
        self.has_gradients = has_gradients

    def text(self):
        lines = []
        for i, (text, array) in enumerate(self.steps):
            if array is not None:
                numbers = np.array2string(array, separator=", ", threshold=60).replace("\n", " ")
                text = f"asarray({numbers}, dtype={array.dtype}, shape={array.shape})"
            lines.append(f"v[{i}] = {text}")
        return "\n".join(lines)


def read_by(text):
    """The numbers of the values that an expression reads."""
    return {int(part.split("]")[0]) for part in text.split("v[")[1:]}


def evaluate(text, m, v):
    return eval(text, {"m": m, "v": v, "inf": np.inf, "s": np.s_})  # The texts come from this folder.


class Maker:
    """Makes a program step by step, and runs it in NumPy to know the shapes."""

    def __init__(self, random, has_gradients):
        self.random = random
        self.has_gradients = has_gradients
        self.steps, self.values = [], []

    def pick(self, items):
        return items[self.random.integers(len(items))]

    def chance(self, p):
        return self.random.random() < p

    def shape(self):
        if self.chance(0.03) and not self.has_gradients:
            return (int(self.random.integers(1, 70000)),)
        sizes = [1, 2, 3, 4, 5, 7] if self.has_gradients else [0, 1, 1, 2, 3, 4, 5, 7, 8, 17, 33]
        return tuple(int(self.pick(sizes)) for _ in range(self.random.integers(0, 5)))

    def elements(self, shape, dtype):
        kind = np.dtype(dtype).kind
        if kind != "f":
            low = -4 if kind == "i" else 0
            return self.random.integers(low, 2 if kind == "b" else 6, shape).astype(dtype)
        if self.has_gradients:  # Some elements are equal, and some are 0.
            x = self.random.uniform(-2, 2, shape)
            return (np.round(x) if self.chance(0.1) else x).astype(dtype)
        x = self.random.standard_normal(shape) * self.pick([0.1, 1, 1, 10])
        if self.chance(0.3):
            x = np.where(self.random.random(shape) < 0.3, self.random.choice(limits, shape), x)
        with np.errstate(over="ignore"):
            return np.asarray(x, dtype)

    def add(self, text, array=None):
        self.steps.append((text, array))
        with np.errstate(all="ignore"):
            value = mirror(array) if array is not None else np.asarray(evaluate(text, of_numpy, self.values))
        self.values.append(value)
        return len(self.values) - 1

    def leaf(self, shape=None, dtype=None):
        if dtype is None:
            dtype = np.float32 if self.has_gradients or self.chance(0.5) else self.pick(list(dtypes.values()))
        return self.add("", self.elements(self.shape() if shape is None else shape, dtype))

    def operand(self, kinds="f", where=lambda x: True):
        """A value of a kind, an earlier one if there is one."""
        fit = [i for i, x in enumerate(self.values) if x.dtype.kind in kinds and where(x) and x.size < 100000]
        if fit and self.chance(0.8):
            return self.pick(fit)
        if kinds == "f":
            return self.leaf(dtype=np.float32)
        return self.leaf(dtype=self.pick([dtype for dtype in dtypes.values() if np.dtype(dtype).kind in kinds]))

    def other(self, x, kinds):
        """A value that broadcasts with x, or a number."""
        shape = self.values[x].shape
        fit = [i for i, y in enumerate(self.values) if y.dtype.kind in kinds and fits(y.shape, shape)]
        if fit and self.chance(0.5):
            return f"v[{self.pick(fit)}]"
        if self.chance(0.2):
            return str(self.pick([2, 1, 3]) if "f" not in kinds or self.chance(0.3) else self.pick([0.5, 2.0, -1.5]))
        cut = self.random.integers(0, len(shape) + 1)
        own = tuple(1 if self.chance(0.3) else size for size in shape[cut:])
        dtype = np.float32 if kinds == "f" else np.bool_ if kinds == "b" else self.values[x].dtype
        return f"v[{self.leaf(own, np.float32 if dtype == float else dtype)}]"

    def axis(self, x):
        rank = self.values[x].ndim
        return int(self.random.integers(-rank, rank))

    def axes(self, x):
        rank = self.values[x].ndim
        some = tuple(int(a) for a in np.flatnonzero(self.random.random(rank) < 0.5))
        return None if self.chance(0.3) else some or None

    def step(self):
        kinds = ["pointwise"] * 4 + ["reduce", "rows", "layout", "layout", "product", "index"]
        if not self.has_gradients:
            kinds += ["compare", "in_place", "in_place"]
        before = len(self.steps)
        try:
            getattr(self, self.pick(kinds))()
        except (ValueError, IndexError, np.exceptions.AxisError, TypeError):
            del self.steps[before:], self.values[before:]  # The step is not possible with these shapes and types.

    def pointwise(self):
        if self.has_gradients:
            which = self.random.random()
            x = self.operand()
            if which < 0.5:
                self.add(f"m.{self.pick(functions.smooth + functions.bent)}(v[{x}])")
            elif which < 0.9:
                self.add(f"m.{self.pick(functions.smooth_binary)}(v[{x}], v[{self.leaf(self.values[x].shape)}])")
            else:
                self.add(f"m.{self.pick(['lerp', 'addcmul', 'fma'])}(v[{x}], v[{self.operand()}], v[{self.operand()}])")
            return
        whole = self.chance(0.25)
        x = self.operand("iu" if whole else "f")
        names = functions.whole_unary if whole else [
            name for group in ("smooth", "bent", "steps", "positive", "narrow") for name in getattr(functions, group)
        ]  # fmt: skip
        which = self.random.random()
        if which < 0.5:
            self.add(f"m.{self.pick(names)}(v[{x}])")
        elif which < 0.9:
            names = functions.binary + (["pow", "remainder"] if whole else functions.float_binary)
            self.add(f"m.{self.pick(names)}(v[{x}], {self.other(x, 'iu' if whole else 'f')})")
        elif whole:
            self.add(f"m.where(v[{x}] > 0, v[{x}], {self.other(x, 'iu')})")
        else:
            name = self.pick(["lerp", "addcmul", "addcdiv", "fma"])
            self.add(f"m.{name}(v[{x}], {self.other(x, 'f')}, v[{self.leaf((), np.float32)}])")

    def compare(self):
        x = self.operand("fiu")
        which = self.random.random()
        if which < 0.6:
            kinds = "f" if self.values[x].dtype.kind == "f" else "iu"
            self.add(f"m.{self.pick(functions.comparisons)}(v[{x}], {self.other(x, kinds)})")
        elif which < 0.8:
            self.add(f"m.{self.pick(['isnan', 'isinf', 'isfinite', 'logical_not'])}(v[{x}])")
        else:
            self.add(f"m.{self.pick(['any', 'all'])}(v[{x}], axis={self.axes(x)})")

    def reduce(self):
        x = self.operand("f" if self.has_gradients or self.chance(0.7) else "iub")
        floating, keep = self.values[x].dtype.kind == "f", self.chance(0.5)
        if self.values[x].size == 0 and not self.chance(0.3):
            return
        names = ["sum", "prod", "max", "min"] + (["mean", "var", "std", "norm", "logsumexp"] if floating else [])
        name = self.pick(names if self.has_gradients else [*names, "argmax", "argmin"])
        if name.startswith("arg"):
            self.add(f"m.{name}(v[{x}], axis={self.axis(x)})")
        elif name == "prod":
            self.add(f"m.prod(v[{x}], axis={self.axis(x)}, keepdims={keep})")
        elif name in ("var", "std"):
            self.add(f"m.{name}(v[{x}], axis={self.axis(x)}, correction={self.pick([0, 1])})")
        elif name == "norm":
            p = self.pick([1, 2, 3] if self.has_gradients else [0, 1, 2, 3, 1.5, "inf"])
            if self.values[x].size > 0:  # Otherwise the norm of infinity has no value.
                self.add(f"m.norm(v[{x}], p={p}, axis={self.axis(x)}, keepdims={keep})")
        elif name == "logsumexp":
            self.add(f"m.logsumexp(v[{x}], axis={self.axis(x)})")
        else:
            axes = self.axes(x)
            self.add(f"m.{name}(v[{x}], axis={axes if axes else self.axis(x)}, keepdims={keep})")

    def rows(self):
        x = self.operand("f" if self.has_gradients or self.chance(0.7) else "iub")
        if self.values[x].dtype.kind == "f":
            name = self.pick(["softmax", "log_softmax", "cumsum", "cumprod", "sort"])
        else:
            name = self.pick(["cumsum", "cumprod", "sort"])
        if name in ("softmax", "log_softmax") and self.values[x].size == 0:
            return
        self.add(f"m.{name}(v[{x}], axis={self.axis(x)})")

    def layout(self):
        x = self.operand("fiub" if not self.has_gradients else "f")
        shape, rank = self.values[x].shape, self.values[x].ndim
        name = self.pick(["permute_dims", "reshape", "expand_dims", "flip", "roll", "broadcast_to", "slice", "slice",
                          "concat", "stack", "tile", "repeat", "tril", "triu", "diff"])  # fmt: skip
        if name == "permute_dims":
            self.add(f"m.permute_dims(v[{x}], {tuple(int(a) for a in self.random.permutation(rank))})")
        elif name == "reshape":
            sizes = list(shape)
            self.random.shuffle(sizes)
            other = self.pick([(-1,), tuple(int(s) for s in sizes)])
            self.add(f"m.reshape(v[{x}], {shape if 0 in shape else other})")
        elif name == "expand_dims":
            self.add(f"m.expand_dims(v[{x}], {int(self.random.integers(0, rank + 1))})")
        elif name == "broadcast_to":
            wider = (2, *(3 if size == 1 and self.chance(0.5) else size for size in shape))
            self.add(f"m.broadcast_to(v[{x}], {wider[self.pick([0, 1]):]})")
        elif name == "slice":
            self.add(f"v[{x}][{self.some_index(shape)}]")
        elif name in ("concat", "stack"):
            other = self.leaf(shape, np.float32 if self.has_gradients else None)
            self.add(f"m.{name}([v[{x}], v[{self.pick([x, other])}]], axis={self.axis(x)})")
        elif name == "tile":
            self.add(f"m.tile(v[{x}], {tuple(int(n) for n in self.random.integers(1, 3, rank))})")
        elif name in ("tril", "triu"):
            if rank >= 2:
                self.add(f"m.{name}(v[{x}])")
        else:
            extra = {"roll": f"{int(self.random.integers(-3, 4))}, ", "repeat": "2, "}.get(name, "")
            self.add(f"m.{name}(v[{x}], {extra}axis={self.axis(x)})")

    def some_index(self, shape):
        parts = []
        for size in shape:
            if self.chance(0.2) and size > 0:
                parts.append(str(int(self.random.integers(-size, size))))
                continue
            low, high = sorted(int(i) for i in self.random.integers(0, size + 1, 2))
            step = 1 if self.has_gradients else self.pick([1, 1, 2, 3])
            parts.append(":" if self.chance(0.4) else f"{low}:{high}:{step}")
        return ", ".join([*parts, "..."])  # NumPy gives a view of one element too.

    def product(self):
        x = self.operand("f" if self.has_gradients or self.chance(0.8) else "iu", lambda v: v.ndim >= 2)
        *batch, rows, inner = self.values[x].shape
        columns = int(self.pick([1, 2, 3, 5, 8]))
        dtype = self.values[x].dtype if self.values[x].dtype != float else np.float32
        if self.chance(0.7):
            y = self.leaf((*([] if self.chance(0.5) else batch), inner, columns), dtype)
            self.add(f"m.matmul(v[{x}], v[{y}])")
        else:
            y = self.leaf((inner, columns), dtype)
            self.add(f"m.einsum('...ij,jk->...ki', v[{x}], v[{y}])")

    def index(self):
        x = self.operand("f" if self.has_gradients else "fiub")
        axis = self.axis(x)
        numbers = [int(i) for i in self.random.integers(0, self.values[x].shape[axis], self.random.integers(1, 6))]
        which = self.random.random()
        if which < 0.4 or self.values[x].dtype.kind == "b":
            self.add(f"m.take(v[{x}], {numbers}, axis={axis})")
        elif which < 0.7:
            shape = list(self.values[x].shape)
            shape[axis] = len(numbers)
            like = self.leaf(shape, np.float32 if self.values[x].dtype == float else self.values[x].dtype)
            self.add(f"m.index_add(v[{x}], {axis}, {numbers}, v[{like}])")
        else:
            self.add(f"m.where(v[{x}] > 0, v[{x}], v[{x}] * v[{x}])")

    def in_place(self):
        x = self.operand("fiu")
        shape, kind = self.values[x].shape, self.values[x].dtype.kind
        if not self.values[x].flags.writeable:
            return
        which = self.random.random()
        if which < 0.4:
            self.add(f"m.set_items(v[{x}], s[{self.some_index(shape)}], {self.pick([0, 1, 2])})")
        elif which < 0.6 and kind == "f":
            self.add(f"m.in_place(v[{x}], '{self.pick(functions.smooth + functions.bent)}')")
        elif which < 0.8:
            self.add(f"m.in_place(v[{x}], '{self.pick(functions.binary)}', {self.pick([2, 1, 3])})")
        else:
            self.add(f"m.set_items(v[{x}], v[{x}] > 0, {self.pick([0, 1, 2])})")


def fits(shape, to):
    """Whether `shape` broadcasts to `to`."""
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def mirror(array):
    """NumPy's copy of a value: floats in double."""
    return array.astype(float) if array.dtype.kind == "f" else array.copy()


def make(random, has_gradients):
    maker = Maker(random, has_gradients)
    maker.leaf()
    for _ in range(random.integers(2, 9)):
        maker.step()
    return Program(maker.steps, has_gradients)
