// Quantised numbers from ONNX files.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

namespace {

/// Whole numbers from 0 to 255.
Tensor bytes(const Shape& shape) { return (rand(shape) * 256).to(DType::u8); }

/// The product of matrices of whole numbers, on the host.
Tensor host_product(const Tensor& a, std::int32_t za, const Tensor& b, std::int32_t zb) {
  const auto x = a.to_vector<std::uint8_t>(), y = b.to_vector<std::uint8_t>();
  const auto rows = static_cast<std::size_t>(a.size(0)), length = static_cast<std::size_t>(a.size(1)),
             columns = static_cast<std::size_t>(b.size(1));
  std::vector<std::int32_t> sums(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < length; ++k)
        sums[i * columns + j] += (x[i * length + k] - za) * (y[k * columns + j] - zb);
  return from_vector(sums, {a.size(0), b.size(1)});
}

}  // namespace

TEST_CASE("onnx: products of u8 are exact at any length") {
  manual_seed(11);
  const Tensor zero_a = full({}, 3, DType::u8), zero_b = full({}, 250, DType::u8);
  for (const std::int64_t length : {1, 255, 256, 257, 1000}) {
    const Tensor a = bytes({5, length}), b = bytes({length, 3});
    const Tensor found = run_op({"MatMulInteger"}, {a, b, zero_a, zero_b})[0];
    CHECK(found.to_vector<std::int32_t>() == host_product(a, 3, b, 250).to_vector<std::int32_t>());
  }
  const Tensor largest = full({1, 512}, 255, DType::u8);
  CHECK(run_op({"MatMulInteger"}, {largest, largest.t()})[0].item<int>() == 512 * 255 * 255);

  // A convolution in two groups, each filter with its zero point.
  const Tensor x = bytes({2, 4, 6, 5}), w = bytes({6, 2, 3, 2}), zeros_w = bytes({6});
  const std::vector<onnx_file::Proto> attributes{number("group", 2), attribute("pads", onnx_file::Sizes{1, 0, 2, 1}),
                                                 attribute("strides", onnx_file::Sizes{2, 1})};
  const Tensor found = run_op({"ConvInteger", attributes}, {x, w, zero_a, zeros_w})[0];
  const Tensor image = pad(x.to(DType::f32) - 3, {{0, 1}, {1, 2}});
  const Tensor expected = conv2d(image, w.to(DType::f32) - zeros_w.to(DType::f32).reshape({6, 1, 1, 1}), Tensor(),
                                 {.stride = {2, 1}, .groups = 2});
  CHECK(found.dtype() == DType::i32);
  CHECK(nearly(found.to(DType::f32), expected));
  const Tensor scale = full({}, 0.01);
  const Tensor quantised =
      run_op({"QLinearConv", attributes}, {x, scale, zero_a, w, rand({6}) + 0.5, zeros_w, scale * 100, zero_b})[0];
  CHECK(quantised.dtype() == DType::u8);
  CHECK(quantised.shape() == found.shape());
  CHECK(refusal_of_op({"ConvInteger"}, {x, w}) ==
        Contains("images of shape (2, 4, 6, 5) and a weight of shape (6, 2, 3, 2) in 1 groups"));
  CHECK(refusal_of_op({"MatMulInteger"}, {x.to(DType::i32), w}) ==
        Contains("quantised elements of i32 are not supported"));
}

TEST_CASE("onnx: quantisation for all, for an axis and for blocks") {
  const Tensor x = from_vector(std::vector<float>{-1, 0.5f, 1.5f, 2.5f, 100, 300}, {2, 3});
  const auto values = [](const Tensor& t) { return t.to_vector<std::uint8_t>(); };
  using Bytes = std::vector<std::uint8_t>;
  CHECK(values(run_op({"QuantizeLinear"}, {x, full({}, 1.0)})[0]) == Bytes{0, 0, 2, 2, 100, 255});
  const Tensor zero = full({}, 10, DType::u8), scales = from_vector(std::vector<float>{0.5f, 2});
  CHECK(values(run_op({"QuantizeLinear"}, {x, full({}, 1.0), zero})[0]) == Bytes{9, 10, 12, 12, 110, 255});
  const Tensor by_rows = run_op({"QuantizeLinear", {number("axis", 0)}}, {x, scales})[0];
  CHECK(values(by_rows) == Bytes{0, 1, 3, 1, 50, 150});
  CHECK(nearly(run_op({"DequantizeLinear", {number("axis", 0)}}, {by_rows, scales})[0],
               from_vector(std::vector<float>{0, 0.5f, 1.5f, 2, 100, 300}, {2, 3})));
  const Tensor blocks = from_vector(std::vector<float>{0.5f, 1, 1, 2}, {2, 2});
  CHECK(values(run_op({"QuantizeLinear", {number("block_size", 2)}}, {x, blocks})[0]) == Bytes{0, 1, 2, 2, 100, 150});
  CHECK(values(run_op({"QuantizeLinear", {number("block_size", INT64_MAX)}}, {x, scales.unsqueeze(1)})[0]) ==
        Bytes{0, 1, 3, 1, 50, 150});
  CHECK(refusal_of_op({"QuantizeLinear", {number("output_dtype", 3)}}, {x, scales}) ==
        Contains("output_dtype 3 is not supported, u8 is"));
  CHECK(refusal_of_op({"QuantizeLinear"}, {x, scales}) == Contains("a scale or zero point of shape (2) for axis 1"));
  const Tensors dynamic = run_op({"DynamicQuantizeLinear", {}, 28, "", {"y", "scale", "zero"}}, {x});
  const Tensor restored = (dynamic[0].to(DType::f32) - dynamic[2].to(DType::f32)) * dynamic[1];
  CHECK((restored - x).abs().max().item() <= dynamic[1].item());
  CHECK(values(run_op({"DynamicQuantizeLinear", {}, 28, "", {"y", "scale", "zero"}}, {zeros({3})})[0]) ==
        Bytes{0, 0, 0});
}
