"""Tensors of GGUF files: blocks as they are, plain types, and types that become float32."""

import crisol
import crisol.gguf
import crisol.nn.functional as F
import numpy as np
import pytest
from numeric import array_of

gguf = pytest.importorskip("gguf")


def test_tensors_of_a_file(tmp_path):
    numbers = np.random.default_rng(5).uniform(-1, 1, (6, 64)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "test")
    plain = {"f32": numbers, "f16": numbers.astype(np.float16), "i32": np.arange(5, dtype=np.int32)}
    for name, values in plain.items():
        writer.add_tensor(name, values)
    blocks = {}
    for name in ("Q8_0", "Q4_0", "Q5_0", "BF16"):
        kind = getattr(gguf.GGMLQuantizationType, name)
        blocks[name] = gguf.quants.quantize(numbers, kind)
        writer.add_tensor(name, blocks[name], raw_dtype=kind)
    row = gguf.quants.quantize(numbers[0], gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("row", row, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    read = crisol.gguf.load(tmp_path / "model.gguf")
    assert set(read) == {*plain, *blocks, "row"}
    for name, values in plain.items():
        assert np.array_equal(array_of(read[name]), values) and array_of(read[name]).dtype == values.dtype
    for name, codes in blocks.items():
        kind = getattr(gguf.GGMLQuantizationType, name)
        expected = gguf.quants.dequantize(codes, kind)
        if name in ("Q8_0", "Q4_0"):
            assert isinstance(read[name], crisol.QuantizedWeight) and read[name].bits == int(name[1])
            y = F.linear(crisol.asarray(numbers[:2]), read[name])
            np.testing.assert_allclose(array_of(y), numbers[:2] @ expected.T, rtol=1e-4, atol=1e-4)
            assert np.array_equal(array_of(read[name].dequantize()), expected)
        else:
            assert read[name].dtype == crisol.float32 and np.array_equal(array_of(read[name]), expected)
    assert np.array_equal(array_of(read["row"]), gguf.quants.dequantize(row, gguf.GGMLQuantizationType.Q8_0))
