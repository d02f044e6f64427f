// Quantised numbers from ONNX files.
#include "crisol/crisol.h"
#include "crisol/dtype_table.h"
#include "doctest/doctest.h"
#include "ops/product/pairs.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

namespace {

/// Whole numbers from 0 to 255.
Tensor bytes(const Shape& shape) { return (rand(shape) * 256).to(DType::u8); }

/// Whole numbers from -128 to 127.
Tensor signed_bytes(const Shape& shape) { return (rand(shape) * 256 - 128).to(DType::i8); }

std::vector<std::int64_t> whole(const Tensor& t) { return t.to(DType::i64).to_vector<std::int64_t>(); }

/// The product of matrices of whole numbers, on the host.
Tensor host_product(const Tensor& a, std::int32_t za, const Tensor& b, std::int32_t zb) {
  const auto x = a.to(DType::i32).to_vector<std::int32_t>(), y = b.to(DType::i32).to_vector<std::int32_t>();
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
  const Tensor signed_b = signed_bytes({700, 3}), long_a = bytes({5, 700}), zero_c = full({}, -5, DType::i8);
  CHECK(run_op({"MatMulInteger"}, {long_a, signed_b, zero_a, zero_c})[0].to_vector<std::int32_t>() ==
        host_product(long_a, 3, signed_b, -5).to_vector<std::int32_t>());
  const Tensor largest = full({1, 512}, 255, DType::u8);
  CHECK(run_op({"MatMulInteger"}, {largest, largest.t()})[0].item<int>() == 512 * 255 * 255);
  const Tensor row = largest.reshape(-1);
  for (const Tensor& sum : {run_op({"MatMulInteger"}, {row, row})[0], run_op({"MatMulInteger"}, {row, largest.t()})[0],
                            run_op({"MatMulInteger"}, {largest, row})[0]})
    CHECK(sum.item<int>() == 512 * 255 * 255);
  CHECK(run_op({"MatMulInteger"}, {row, largest.t()})[0].shape() == Shape{1});

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
  CHECK(refusal_of_op({"ConvInteger"}, {x, w}) == Contains("(ConvInteger)"));
  // One, two, three and eight digits. The largest filters have sums of nearly 2^31.
  for (const std::int64_t channels : {28, 29, 457, 458, 1828, 3600}) {
    const Tensor image = bytes({1, channels, 3, 3}), filters = signed_bytes({2, channels, 3, 3});
    const Tensor sums = run_op({"ConvInteger"}, {image, filters, zero_b, zero_c})[0];
    const Tensor expected = host_product(image.reshape({1, -1}), 250, filters.reshape({2, -1}).t(), -5);
    CHECK(whole(sums) == whole(expected));
  }
  const Tensor white = full({1, 3600, 3, 3}, 255, DType::u8);
  CHECK(run_op({"ConvInteger"}, {white, white})[0].item<int>() == 32400 * 65025);
  const Tensor ones_of_33300 = full({1, 3700, 3, 3}, 1, DType::u8);
  if (ops::prefers_pairs(Device()))
    CHECK(run_op({"ConvInteger"}, {ones_of_33300, ones_of_33300})[0].item<int>() == 33300);
  else
    CHECK(refusal_of_op({"ConvInteger"}, {ones_of_33300, ones_of_33300}) ==
          Contains("sums of 33300 products, at most 32896 are supported"));
  CHECK(refusal_of_op({"MatMulInteger"}, {x.to(DType::i32), w}) ==
        Contains("quantised elements of i32 are not supported"));
}

TEST_CASE("onnx: products of u8 with scales for rows, and for products") {
  manual_seed(12);
  const Tensor a = bytes({7, 7, 20}), b = signed_bytes({20, 9}), zero_a = full({}, 255, DType::u8),
               zero_b = full({9}, -128, DType::i8), zero_y = full({}, 128, DType::u8), over = full({}, 5000.0);
  const Tensor sums = matmul(a.to(DType::f32) - 255, b.to(DType::f32) + 128), scales = rand({9}) + 0.5;
  // The vector is for the rows of each product. The others are for the products, and for all rows of all products.
  for (const Shape& shape : {Shape{7}, Shape{7, 1, 1}, Shape{7, 7, 1}}) {
    const Tensor by = rand(shape) + 0.5;
    const Tensor y = run_op({"QLinearMatMul"}, {a, by, zero_a, b, scales, zero_b, over, zero_y})[0];
    const Tensor columns = by.dim() == 1 ? by.unsqueeze(1) : by;
    const Tensor exact = clamp(sums * columns * scales / over + 128, 0, 255);
    CHECK((y.to(DType::f32) - exact).abs().max().item() < 0.501);
  }
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
  CHECK(refusal_of_op({"QuantizeLinear", {number("output_dtype", 1)}}, {x, scales}) ==
        Contains("quantised elements of f32 are not supported"));
  for (const DType dtype : {DType::i8, DType::i16, DType::u16}) {
    const Tensor wide = from_vector(std::vector<float>{-1e6f, -3.5f, 2.5f, 1e6f}), three = full({}, 3, dtype);
    const bool has_sign = dtype != DType::u16;
    const std::int64_t greatest = dtype == DType::i8 ? 127 : dtype == DType::i16 ? 32767 : 65535;
    const Tensor q = run_op({"QuantizeLinear"}, {wide, full({}, 1.0), three})[0];
    CHECK(q.dtype() == dtype);
    CHECK(whole(q) == std::vector<std::int64_t>{has_sign ? -greatest - 1 : 0, has_sign ? -1 : 0, 5, greatest});
    CHECK(
        run_op({"QuantizeLinear", {number("output_dtype", dtype_row(dtype).onnx)}}, {wide, full({}, 1.0)})[0].dtype() ==
        dtype);
    CHECK(nearly(run_op({"DequantizeLinear"}, {q, full({}, 2.0), three})[0], (q.to(DType::f32) - 3) * 2));
  }
  CHECK(refusal_of_op({"QuantizeLinear"}, {x, scales}) == Contains("a scale or zero point of shape (2) for axis 1"));
  const Tensors dynamic = run_op({"DynamicQuantizeLinear", {}, 28, "", {"y", "scale", "zero"}}, {x});
  const Tensor restored = (dynamic[0].to(DType::f32) - dynamic[2].to(DType::f32)) * dynamic[1];
  CHECK((restored - x).abs().max().item() <= dynamic[1].item());
  CHECK(values(run_op({"DynamicQuantizeLinear", {}, 28, "", {"y", "scale", "zero"}}, {zeros({3})})[0]) ==
        Bytes{0, 0, 0});
}

TEST_CASE("onnx: quantised ops of ONNX Runtime") {
  manual_seed(5);
  const auto run = [](const char* op, const Tensors& in, std::vector<onnx_file::Proto> attributes = {}) {
    return run_op({op, std::move(attributes), 28, "com.microsoft"}, in)[0];
  };
  const auto scalar = [](double value) { return full({}, value); };
  const auto real = [](const Tensor& q, const Tensor& scale, const Tensor& zero) {
    return (q.to(DType::f32) - zero.to(DType::f32)) * scale;
  };
  for (const DType dtype : {DType::u8, DType::i8}) {
    const double low = dtype == DType::u8 ? 0 : -128;
    const auto zero = [&](int place) { return full({}, low + place, dtype); };
    const auto random = [&](const Shape& shape) { return (rand(shape) * 256 + low).to(dtype); };
    const Tensor a = random({2, 3, 4, 5}), b = random({4, 5}), sa = scalar(0.02), za = zero(100), sb = scalar(0.03),
                 zb = zero(130), sy = scalar(0.05), zy = zero(128);
    const Tensor x = real(a, sa, za), y = real(b, sb, zb);
    // The nearest numbers. Where the exact value is nearly in the middle, both neighbours are right.
    const auto is_right = [&](const Tensor& found, const Tensor& exact) {
      const Tensor expected = clamp(exact / sy + zy.to(DType::f32), low, low + 255);
      return found.dtype() == dtype && found.shape() == exact.shape() &&
             (found.to(DType::f32) - expected).abs().max().item() < 0.501;
    };
    CHECK(is_right(run("QLinearAdd", {a, sa, za, b, sb, zb, sy, zy}), x + y));
    CHECK(is_right(run("QLinearMul", {a, sa, za, b, sb, zb, sy, zy}), x * y));
    CHECK(is_right(run("QLinearSigmoid", {a, sa, za, sy, zy}), sigmoid(x)));
    CHECK(is_right(run("QLinearLeakyRelu", {a, sa, za, sy, zy}, {attribute("alpha", 0.2f)}), leaky_relu(x, 0.2f)));
    CHECK(
        is_right(run("QLinearSoftmax", {a, sa, za, sy, zy}, {number("axis", -1), number("opset", 13)}), softmax(x, 3)));
    CHECK(is_right(run("QLinearSoftmax", {a, sa, za, sy, zy}, {number("axis", 2), number("opset", 12)}),
                   softmax(x.flatten(2, -1), 2).reshape(x.shape())));
    CHECK(is_right(run("QLinearGlobalAveragePool", {a, sa, za, sy, zy}), mean(x, {2, 3}, true)));
    CHECK(is_right(run("QLinearGlobalAveragePool", {a, sa, za, sy, zy}, {number("channels_last", 1)}),
                   mean(x, {1, 2}, true)));
    CHECK(is_right(run("QLinearConcat", {sy, zy, a, sa, za, a, sb, zb}, {number("axis", 1)}),
                   cat({x, real(a, sb, zb)}, 1)));

    const Tensor left = random({6, 40}), right = random({40, 7}), bias = (rand({7}) * 200 - 100).to(DType::i32),
                 scales = rand({7}) * 0.01 + 0.001;
    const Tensor product = matmul(real(left, sa, za), real(right, scalar(1), zb) * scales);
    const Tensor of_bias = bias.to(DType::f32) * (sa * scales);
    CHECK(is_right(run("QGemm", {left, sa, za, right, scales, zb, bias, sy, zy}), product + of_bias));
    CHECK(nearly(run("QGemm", {left, sa, za, right, scales, zb, bias}), product + of_bias));
    CHECK(nearly(run("QGemm", {left, sa, za, right.t(), scales, zb.expand({7}), bias}, {number("transB", 1)}),
                 product + of_bias));
    CHECK(is_right(run("QGemm", {left.t(), sa, za, right.t(), scales, zb, bias, sy, zy},
                       {number("transA", 1), number("transB", 1), attribute("alpha", 0.5f)}),
                   (product + of_bias) * 0.5));
    CHECK(nearly(run("MatMulIntegerToFloat", {left, right, sa, scales, za, zb, rand({7})}).sub(product).min().lt(1),
                 full({}, 1, DType::boolean)));
    for (const Shape& shape : {Shape{6, 7}, Shape{1, 7}, Shape{6, 1}, Shape{}}) {
      const Tensor wide = (rand(shape) * 200 - 100).to(DType::i32);
      CHECK(
          nearly(run("QGemm", {left, sa, za, right, scales, zb, wide}), product + wide.to(DType::f32) * (sa * scales)));
    }
    CHECK(nearly(run("MatMulIntegerToFloat", {left, right, sa, scales, za, zb}), product));
    const auto half = [](const Tensor& x) { return x.to(DType::f16); };
    const Tensor in_half = run("MatMulIntegerToFloat", {left, right, half(sa), half(scales), za, zb});
    CHECK(in_half.dtype() == DType::f16);
    CHECK((in_half.to(DType::f32) - product).abs().max().item() < 0.01 * product.abs().max().item());
    CHECK(is_right(run("QuantizeLinear", {x, sy, zy}), x));
    CHECK(nearly(run("DequantizeLinear", {a, sa, za}), x));
    const Tensor given = randn({6, 40}), dynamic = run("DynamicQuantizeMatMul", {given, right, scales, zb});
    const Tensor exact = matmul(given, real(right, scalar(1), zb) * scales);
    CHECK((dynamic - exact).abs().max().item() < 0.02 * exact.abs().max().item());
  }
}
