"""crisol's C interface for Python programs: models from ONNX files, with NumPy's arrays."""
import collections
import contextlib
import ctypes
import json
import pathlib
import re

import ml_dtypes  # noqa: F401  NumPy gets bfloat16.
import numpy as np

ROWS = (pathlib.Path(__file__).parents[3] / "include/crisol/dtypes.def").read_text()
# The element types by crisol's name, in the order of crisol_dtype.
TYPES = {name: np.dtype(numpy) for name, numpy in re.findall(r"""^CRISOL_DTYPE\(.*?"(\w+)".*"(\w+)", '""", ROWS, re.M)}
DTYPES = list(TYPES.values())
# Types that crisol keeps as another type, which has all their numbers.
KEPT = {"int2": np.int8, "uint2": np.uint8, "int4": np.int8, "uint4": np.uint8, "float4_e2m1fn": np.float16,
        "float8_e4m3fn": np.float16, "float8_e4m3fnuz": np.float16, "float8_e5m2": np.float16,
        "float8_e5m2fnuz": np.float16, "float8_e8m0fnu": np.float32}  # fmt: skip
DEFAULT_DEVICE = ctypes.c_int32(-1)


class Failure(Exception):
    """A call of the library that failed."""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.crisol_error_message.restype = ctypes.c_char_p
        for kind in "tensor", "model", "named_tensors":
            destroy = getattr(self.c, f"crisol_{kind}_destroy")
            destroy.argtypes, destroy.restype = [ctypes.c_void_p], None
        self.c.crisol_set_grad_enabled(0)

    def call(self, function, *arguments):
        if getattr(self.c, function)(*arguments) != 0:
            raise Failure(self.c.crisol_error_message().decode(errors="replace"))

    def load(self, path):
        model = ctypes.c_void_p()
        self.call("crisol_onnx_load", str(path).encode(), DEFAULT_DEVICE, ctypes.byref(model))
        return model

    def destroy(self, model):
        self.c.crisol_model_destroy(model)

    def supported_ops(self):
        text = ctypes.c_char_p()
        self.call("crisol_onnx_supported_ops", ctypes.byref(text))
        return json.loads(text.value)

    def output_names(self, model):
        count, name = ctypes.c_int32(), ctypes.c_char_p()
        self.call("crisol_onnx_value_count", model, 1, ctypes.byref(count))
        names = []
        for i in range(count.value):
            self.call("crisol_onnx_value", model, 1, i, ctypes.byref(name), None, None)
            names.append(name.value.decode())
        return names

    def tensor(self, array):
        """A tensor on the default device. The array's type is one of DTYPES."""
        if isinstance(array, np.generic):
            array = np.asarray(array)
        if isinstance(array, np.ndarray) and array.dtype.name in KEPT:
            array = array.astype(KEPT[array.dtype.name])
        if not isinstance(array, np.ndarray) or array.dtype not in DTYPES:
            raise Failure("an input that is no tensor of a type of crisol")
        array = np.ascontiguousarray(array).reshape(array.shape)
        sizes = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        tensor = ctypes.c_void_p()
        self.call("crisol_tensor_create", DEFAULT_DEVICE, DTYPES.index(array.dtype), array.ndim, sizes,
                  ctypes.c_void_p(array.ctypes.data), ctypes.byref(tensor))
        return tensor

    def array(self, tensor):
        dtype, rank = ctypes.c_int(), ctypes.c_int()
        self.call("crisol_tensor_dtype", tensor, ctypes.byref(dtype))
        self.call("crisol_tensor_rank", tensor, ctypes.byref(rank))
        sizes = (ctypes.c_int64 * max(rank.value, 1))()
        self.call("crisol_tensor_sizes", tensor, sizes)
        array = np.empty(list(sizes)[:rank.value], DTYPES[dtype.value])
        self.call("crisol_tensor_read", tensor, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return array

    @contextlib.contextmanager
    def named_tensors(self, inputs):
        """A count, names and tensors, as functions of C take them. A list is a sequence, and None is left out."""
        tensors = []
        try:
            for name, value in inputs.items():
                for array in value if isinstance(value, list) else [] if value is None else [value]:
                    tensors.append((name, self.tensor(array)))
            size = max(len(tensors), 1)
            yield (len(tensors), (ctypes.c_char_p * size)(*[name.encode() for name, _ in tensors]),
                   (ctypes.c_void_p * size)(*[tensor for _, tensor in tensors]))
        finally:
            for _, tensor in tensors:
                self.c.crisol_tensor_destroy(tensor)

    def run_all(self, model, inputs):
        """The arrays of each output, by name, for inputs by name. A list is a sequence, and None is left out."""
        found, results = collections.defaultdict(list), ctypes.c_void_p()
        try:
            with self.named_tensors(inputs) as arguments:
                self.call("crisol_onnx_run_all", model, *arguments, ctypes.byref(results))
            count = ctypes.c_int32()
            self.call("crisol_named_tensors_count", results, ctypes.byref(count))
            for i in range(count.value):
                name, tensor = ctypes.c_char_p(), ctypes.c_void_p()
                self.call("crisol_named_tensors_item", results, i, ctypes.byref(name), ctypes.byref(tensor))
                try:
                    found[name.value.decode()].append(self.array(tensor))
                finally:
                    self.c.crisol_tensor_destroy(tensor)
            return found
        finally:
            self.c.crisol_named_tensors_destroy(results)

    def launches(self, model, inputs):
        """How many kernels a run launches."""
        text = ctypes.c_char_p()
        with self.named_tensors(inputs) as arguments:
            self.call("crisol_onnx_profile", model, *arguments, ctypes.byref(text))
        return sum(row["launches"] for row in json.loads(text.value))

    def prepared_run(self, model, inputs):
        """A function that runs the model with the same arrays and copies its results back. The device reads the arrays in
        their memory, or in copies if it has memory of its own. The function only calls the library: everything else that
        run_all() does is done here."""
        c = self.c
        outputs = [array for arrays in self.run_all(model, inputs).values() for array in arrays]
        arrays = [np.ascontiguousarray(array).reshape(np.shape(array)) for array in inputs.values()]
        tensors = (ctypes.c_void_p * max(len(arrays), 1))()
        places = [ctypes.byref(tensors, i * ctypes.sizeof(ctypes.c_void_p)) for i in range(len(arrays))]
        made = [(DEFAULT_DEVICE, DTYPES.index(a.dtype), a.ndim, (ctypes.c_int64 * max(a.ndim, 1))(*a.shape),
                 ctypes.c_void_p(a.ctypes.data), place) for a, place in zip(arrays, places)]
        names = (ctypes.c_char_p * max(len(arrays), 1))(*[name.encode() for name in inputs])
        results, result, name = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
        read = [(i, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
                for i, array in enumerate(outputs)]
        to_results, to_result, to_name = ctypes.byref(results), ctypes.byref(result), ctypes.byref(name)

        make = c.crisol_tensor_from_host_memory
        if made and (make(*made[0]) or not tensors[0]):
            make = c.crisol_tensor_create
        c.crisol_tensor_destroy(tensors[0])

        def run():
            failed = 0
            for arguments in made:
                failed |= make(*arguments)
            failed |= c.crisol_onnx_run_all(model, len(made), names, tensors, to_results)
            for i, to, size in read:
                failed |= c.crisol_named_tensors_item(results, i, to_name, to_result)
                failed |= c.crisol_tensor_read(result, to, size)
                c.crisol_tensor_destroy(result)
            c.crisol_named_tensors_destroy(results)
            for tensor in tensors[:len(made)]:
                c.crisol_tensor_destroy(tensor)
            if failed:
                raise Failure(c.crisol_error_message().decode(errors="replace"))
            return outputs

        return run

    def run(self, model, inputs, outputs):
        """The outputs of these names, which are tensors, for arrays by name."""
        found = self.run_all(model, inputs)
        return [found[name][0] for name in outputs]
