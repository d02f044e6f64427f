// Ops of ONNX Runtime from ONNX files.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: ops of ONNX Runtime") {
  manual_seed(12);
  const char* domain = "com.microsoft";
  const Tensor x = randn({2, 3, 8}), skip = randn({2, 3, 8}), scale = randn({8}), shift = randn({8}), bias = randn({8});
  const Tensors normalised =
      run_op({"SkipLayerNormalization", {}, 17, domain, {"y", "", "", "sum"}}, {x, skip, scale, shift, bias});
  CHECK(nearly(normalised[0], layer_norm(x + skip + bias, 8, scale, shift, 1e-12)));
  CHECK(nearly(normalised[1], x + skip + bias));
  const Tensor simple = run_op({"SkipSimplifiedLayerNormalization", {}, 17, domain}, {x, skip, scale})[0];
  const Tensor sum = x + skip;
  CHECK(nearly(simple, sum / sqrt((sum * sum).mean(-1, true)) * scale));
  CHECK(nearly(run_op({"SimplifiedLayerNormalization", {}, 17}, {x, scale})[0],
               x / sqrt((x * x).mean(-1, true) + 1e-5) * scale));
  CHECK(nearly(run_op({"BiasGelu", {}, 17, domain}, {x, bias})[0], gelu(x + bias)));
  CHECK(nearly(run_op({"Gelu", {}, 17, domain}, {x})[0], gelu(x)));
  CHECK(nearly(run_op({"FastGelu", {}, 17, domain}, {x, bias})[0], gelu_tanh(x + bias)));
  CHECK(nearly(run_op({"QuickGelu", {}, 17, domain}, {x})[0], x * sigmoid(x * 1.702)));
  const Tensor b = randn({2, 5, 3});
  CHECK(nearly(run_op({"FusedMatMul", {number("transA", 1), number("transB", 1), attribute("alpha", 0.5f)}, 17, domain},
                      {x, b})[0],
               matmul(x.transpose(1, 2), b.transpose(1, 2)) * 0.5));
  const Tensor image = randn({1, 3, 5, 5}), weight = randn({4, 3, 3, 3});
  CHECK(
      nearly(run_op({"FusedConv",
                     {attribute("activation", "LeakyRelu"), attribute("activation_params", std::vector<float>{0.25f})},
                     17,
                     domain},
                    {image, weight})[0],
             leaky_relu(conv2d(image, weight), 0.25)));
  const Tensor sum_of_both = randn({1, 4, 3, 3}), channels = randn({4}), conv = conv2d(image, weight, channels);
  const auto fused = [&](const std::vector<onnx_file::Proto>& attributes) {
    return run_op({"FusedConv", attributes, 17, domain}, {image, weight, channels, sum_of_both})[0];
  };
  const auto with = [](const char* name, std::vector<float> numbers = {}) -> std::vector<onnx_file::Proto> {
    if (numbers.empty()) return {attribute("activation", name)};
    return {attribute("activation", name), attribute("activation_params", numbers)};
  };
  CHECK(nearly(fused({}), conv + sum_of_both));
  CHECK(nearly(fused(with("Relu")), relu(conv + sum_of_both)));
  CHECK(nearly(fused(with("Sigmoid")), sigmoid(conv + sum_of_both)));
  CHECK(nearly(fused(with("Tanh")), tanh(conv + sum_of_both)));
  CHECK(nearly(fused(with("Clip", {-0.5f, 0.75f})), clamp(conv + sum_of_both, -0.5, 0.75)));
  CHECK(nearly(fused(with("HardSigmoid", {0.25f, 0.5f})), clamp((conv + sum_of_both) * 0.25 + 0.5, 0, 1)));
  CHECK(refusal_of_op({"FusedConv", {attribute("activation", "Clip")}, 17, domain}, {image, weight}) ==
        Contains("com.microsoft.FusedConv: 0 activation_params of Clip, 2 expected"));
  CHECK(refusal_of_op({"MoE", {}, 17, domain}, {x}) == Contains("com.microsoft.MoE of version 1: \"#0\""));
}

TEST_CASE("onnx: products of ONNX Runtime with an activation, and with factors whose first axis is the rows") {
  manual_seed(13);
  const char* domain = "com.microsoft";
  const Tensor a = randn({3, 4}), b = randn({5, 4}), c = randn({5});
  const Tensor product = matmul(a, b.t()) * 0.5 + c * 2.0;
  const auto gemm = [&](const char* name, const std::vector<std::pair<const char*, float>>& numbers = {}) {
    std::vector<onnx_file::Proto> attributes{attribute("activation", name), attribute("alpha", 0.5f),
                                             attribute("beta", 2.f), number("transB", 1)};
    for (const auto& [key, value] : numbers) attributes.push_back(attribute(key, value));
    return run_op({"FusedGemm", attributes, 17, domain}, {a, b, c})[0];
  };
  CHECK(nearly(gemm("Relu"), relu(product)));
  CHECK(nearly(gemm("LeakyRelu", {{"activation_alpha", 0.25f}}), leaky_relu(product, 0.25)));
  CHECK(nearly(gemm("LeakyRelu"), leaky_relu(product, 0.01)));
  CHECK(nearly(gemm("HardSigmoid", {{"activation_alpha", 0.5f}, {"activation_beta", 0.25f}}),
               clamp(product * 0.5 + 0.25, 0, 1)));
  CHECK(nearly(gemm("Selu", {{"activation_alpha", 1.5f}, {"activation_gamma", 2.f}}),
               where(product.gt(0), product, expm1(product) * 1.5) * 2.0));
  CHECK(nearly(gemm("Elu"), elu(product)));
  CHECK(nearly(gemm("Softsign"), product / (abs(product) + 1.0)));
  CHECK(nearly(gemm("ThresholdedRelu", {{"activation_alpha", 0.5f}}), where(product.gt(0.5), product, 0)));
  CHECK(refusal_of_op({"FusedGemm", {attribute("activation", "Sin")}, 17, domain}, {a, b, c}) ==
        Contains("the activation \"Sin\" is not supported"));
  // A is (M, B, C, K) and B is (N, B, C, K).
  const Tensor left = randn({3, 2, 4, 5}), right = randn({6, 2, 4, 5});
  const Tensor y =
      run_op({"FusedMatMul", {number("transBatchA", 1), number("transBatchB", 1), number("transB", 1)}, 17, domain},
             {left, right})[0];
  CHECK(nearly(y, matmul(left.permute({1, 2, 0, 3}), right.permute({1, 2, 3, 0}))));
  for (const DType dtype : {DType::f32, DType::f16})
    CHECK(run_op({"FusedMatMul", {}, 17, domain}, {a.to(dtype), b.t().to(dtype)})[0].dtype() == dtype);
}

TEST_CASE("onnx: MatMulNBits") {
  const std::int64_t columns = 40, rows = 3;
  manual_seed(5);
  const Tensor x = randn({2, columns}), bias = randn({rows});
  for (const std::int64_t bits : {4, 8})
    for (const std::int64_t block : {16, 32}) {
      CAPTURE(bits);
      CAPTURE(block);
      const std::int64_t blocks = (columns + block - 1) / block, bytes = block * bits / 8;
      std::vector<std::uint8_t> codes, zeros;
      for (std::int64_t i = 0; i < rows * blocks * bytes; ++i) codes.push_back(static_cast<std::uint8_t>(i * 89 + 7));
      for (std::int64_t i = 0; i < rows * ((blocks * bits + 7) / 8); ++i)
        zeros.push_back(static_cast<std::uint8_t>(i * 53 + 11));
      const Tensor scales = rand({rows * blocks}) + 0.5;
      const auto of = [bits](const std::vector<std::uint8_t>& from, std::int64_t first, std::int64_t i) {
        const int byte = from[static_cast<std::size_t>(first + i * bits / 8)];
        return bits == 8 ? byte : i % 2 == 0 ? byte % 16 : byte / 16;
      };
      const std::vector<float> factors = scales.to_vector<float>();
      for (const bool has_zeros : {false, true}) {
        std::vector<float> weight;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t b = r * blocks + c / block;
            const int zero = has_zeros ? of(zeros, r * ((blocks * bits + 7) / 8), c / block) : 1 << (bits - 1);
            weight.push_back(factors[static_cast<std::size_t>(b)] *
                             static_cast<float>(of(codes, b * bytes, c % block) - zero));
          }
        const Tensor y = linear(x, from_vector(weight, {rows, columns}), bias);
        const OnnxOp op{"MatMulNBits",
                        {number("K", columns), number("N", rows), number("bits", bits), number("block_size", block)},
                        17,
                        "com.microsoft"};
        const Tensor packed = from_vector(codes, {rows, blocks, bytes});
        const Tensor points = has_zeros ? from_vector(zeros, {static_cast<std::int64_t>(zeros.size())}) : Tensor();
        CHECK(allclose(run_op(op, {x, packed, scales, points, Tensor(), bias})[0], y, 1e-4, 1e-3));
        CHECK(refusal_of_op(op, {x, packed, scales, points, ones({columns}), bias}) == Contains("g_idx"));
      }
    }
}
