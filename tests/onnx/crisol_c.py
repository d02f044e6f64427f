"""crisol's C interface for Python programs: models from ONNX files, with NumPy's arrays."""
import ctypes
import json

import numpy as np

DTYPES = [np.float32, np.float16, np.int32, np.int64, np.uint8, np.bool_]  # By crisol_dtype.
DEFAULT_DEVICE = ctypes.c_int32(-1)


class Failure(Exception):
    """A call of the library that failed."""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.crisol_error_message.restype = ctypes.c_char_p
        self.c.crisol_tensor_destroy.argtypes = self.c.crisol_model_destroy.argtypes = [ctypes.c_void_p]
        self.c.crisol_tensor_destroy.restype = self.c.crisol_model_destroy.restype = None
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

    def run(self, model, inputs, outputs):
        """The outputs of these names for arrays by name."""
        tensors, results = [], (ctypes.c_void_p * len(outputs))()
        try:
            tensors += [self.tensor(array) for array in inputs.values()]
            names = (ctypes.c_char_p * max(len(inputs), 1))(*[name.encode() for name in inputs])
            wanted = (ctypes.c_char_p * len(outputs))(*[name.encode() for name in outputs])
            self.call("crisol_onnx_run", model, len(tensors), names,
                      (ctypes.c_void_p * max(len(tensors), 1))(*tensors), len(outputs), wanted, results)
            return [self.array(ctypes.c_void_p(result)) for result in results]
        finally:
            for tensor in tensors + list(results):
                self.c.crisol_tensor_destroy(tensor)
