// Ops of ONNX Runtime on quantised numbers, which it writes into models that it quantises.
#include <span>
#include <vector>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "graph/ops/runs.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/domains/fused.h"
#include "onnx/ops/network/quantized.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::with_epilogue;

/// The positions of a tensor of quantised numbers, its scale and its zero point among the inputs of a node. The zero
/// point may be left out.
struct Triple {
  Triple(const Call& call, std::size_t first) : numbers(first), has_zero(call.has_input(first + 2)) {}

  template <class Value>
  Value real(std::span<const Value> in) const {
    return dequantized(in[numbers], in[numbers + 1], has_zero ? &in[numbers + 2] : nullptr, DType::f32);
  }

  std::size_t numbers;
  bool has_zero;
};

/// The positions of the scale and the zero point of the result. The zero point may be left out.
struct ResultPair {
  ResultPair(const Call& call, std::size_t first)
      : scale(first), has_zero(call.has_input(first + 1)), dtype(call.dtype_of(first + 1)) {}

  template <class Value>
  Value quantize(const Value& y, std::span<const Value> in, DType otherwise) const {
    const DType result = dtype.value_or(otherwise);
    return quantized(y, in[scale], has_zero ? &in[scale + 1] : nullptr, DType::f32, result, Range(result));
  }

  std::size_t scale;
  bool has_zero;
  std::optional<DType> dtype;
};

/// A node with quantised inputs at these positions. `f` gets the numbers that the inputs mean, and computes each
/// element by itself. The result has the type of the first input.
template <class F>
Run of_elements(Call& call, std::initializer_list<std::size_t> positions, std::size_t result, F f) {
  std::vector<Triple> triples;
  Values shapes;
  for (const std::size_t i : positions) {
    triples.emplace_back(call, i);
    shapes.push_back(call.input(i));
  }
  const ResultPair pair(call, result);
  const DType dtype = pair.dtype.value_or(call.dtype_of(positions.begin()[0]).value_or(DType::u8));
  graph::Value y = broadcast(shapes);
  y.dtype = dtype;
  call.gives(0, y);
  const auto compute = [=]<class Value>(std::span<const Value> in) {
    std::vector<Value> reals;
    reals.reserve(triples.size());
    for (const Triple& triple : triples) reals.push_back(triple.real(in));
    return pair.quantize(f(std::span<const Value>(reals)), in, dtype);
  };
  Run run([=](const Data& in, Device device) {
    const std::vector<Tensor> tensors = tensors_of(in, device);
    return Data{compute(std::span<const Tensor>(tensors))};
  });
  run.formula = [=](std::span<const Expr> in) { return compute(in); };
  return run;
}

Run q_linear_add(Call& call) {
  call.check_counts(7, 8);
  return of_elements(call, {0, 3}, 6, [](auto in) { return in[0] + in[1]; });
}

Run q_linear_mul(Call& call) {
  call.check_counts(7, 8);
  return of_elements(call, {0, 3}, 6, [](auto in) { return in[0] * in[1]; });
}

Run q_linear_sigmoid(Call& call) {
  call.check_counts(4, 5);
  return of_elements(call, {0}, 3, [](auto in) { return sigmoid(in[0]); });
}

Run q_linear_leaky_relu(Call& call) {
  call.check_counts(4, 5);
  const double alpha = call.real("alpha", 0.01f);
  return of_elements(call, {0}, 3, [alpha](auto in) { return leaky_relu(in[0], alpha); });
}

/// A node of one quantised input, whose `f` computes with the numbers that the input means.
template <class F>
Run of_tensor(Call& call, F f) {
  call.check_counts(4, 5);
  call.gives_type_of(0);
  const Triple x(call, 0);
  const ResultPair y(call, 3);
  return [=](const Data& in, Device device) {
    const std::vector<Tensor> tensors = tensors_of(in, device);
    const std::span<const Tensor> all(tensors);
    return Data{y.quantize(f(x.real(all)), all, all[0].dtype())};
  };
}

Run q_linear_softmax(Call& call) {
  const std::int64_t axis = call.integer("axis", -1);
  const bool merges = call.integer("opset", 0) < 13;  // Before version 13, softmax runs over all axes from `axis` on.
  check_axis(axis, call.rank_of(0));
  return of_tensor(call, [=](const Tensor& x) {
    return over_axes(x, axis_of(axis, x.dim()), merges, [](const Tensor& t, int along) { return softmax(t, along); });
  });
}

Run q_linear_global_average_pool(Call& call) {
  const bool channels_last = call.integer("channels_last", 0) != 0;
  call.require_rank(0, 3, Shape::max_rank);
  return of_tensor(call, [=](const Tensor& x) {
    Shape axes;
    for (int i = 2; i < x.dim(); ++i) axes.push_back(channels_last ? i - 1 : i);
    return mean(x, axes, true);
  });
}

/// The inputs are the scale and the zero point of the result, followed by triples.
Run q_linear_concat(Call& call) {
  call.check_counts(5, call.inputs());
  call.gives_type_of(2);
  require(call.inputs() % 3 == 2, "onnx", call.inputs(), " inputs, two and triples expected");
  const std::int64_t axis = call.integer("axis", 0);
  check_axis(axis, call.rank_of(2));
  const ResultPair result(call, 0);
  std::vector<Triple> triples;
  for (std::size_t i = 2; i < call.inputs(); i += 3) triples.emplace_back(call, i);
  return [=](const Data& in, Device device) {
    const std::vector<Tensor> tensors = tensors_of(in, device);
    const std::span<const Tensor> all(tensors);
    std::vector<Tensor> parts;
    parts.reserve(triples.size());
    for (const Triple& triple : triples) parts.push_back(triple.real(all));
    return Data{result.quantize(cat(parts, axis_of(axis, parts[0].dim())), all, all[2].dtype())};
  };
}

/// The bias has whole numbers that are added to the sums.
Run q_gemm(Call& call) {
  call.check_counts(6, 9);
  if (call.has_input(7))
    call.gives_type_of(call.has_input(8) ? 8 : 0);
  else
    call.gives(0, value_of(DType::f32));
  const double alpha = call.real("alpha", 1);
  const bool turns = call.integer("transA", 0) != 0;
  const WholeFactor right(call, 3, 5, Sums::rounded, call.integer("transB", 0) != 0);
  return with_epilogue([=](const Data& in, Device device, const Epilogue* epilogue) {
    const std::vector<Tensor> t = tensors_of(in, device);
    const auto given = [&](std::size_t i) { return i < t.size() ? t[i] : Tensor(); };
    const Tensor zero = given(8);
    ops::Scaling by{.result = DType::f32,
                    .left = t[1],
                    .right = alpha == 1 ? t[4] : t[4] * alpha,
                    .over = given(7),
                    .bias = given(6)};
    if (by.over.defined()) {
      by.zero = zero.defined() ? zero : zeros({}, t[0].dtype(), device);
      by.result = by.zero.dtype();
    }
    return right.product(turns ? t[0].t() : t[0], for_rows(t[2]), by, epilogue, in, device);
  });
}

Run mat_mul_integer_to_float(Call& call) {
  call.check_counts(4, 7);
  call.gives_type_of(2);
  const WholeFactor right(call, 1, 5, Sums::rounded);
  return [=](const Data& in, Device device) {
    const Tensor scale = in[2].tensor(device), bias = input_of(in, 6, device);
    const ops::Scaling by{.result = DType::f32,
                          .left = scale.to(DType::f32),
                          .right = in[3].tensor(device).to(DType::f32),
                          .bias = bias.defined() ? bias.to(DType::f32) : bias};
    const Tensor y = right.product(in[0].tensor(device), for_rows(input_of(in, 4, device)), by, in, device);
    return Data{y.to(scale.dtype())};
  };
}

Run dynamic_quantize_mat_mul(Call& call) {
  call.check_counts(3, 5);
  call.gives(0, value_of(DType::f32));
  call.require_dtype(0, DType::f32);
  const WholeFactor right(call, 1, 3, Sums::rounded);
  return [=](const Data& in, Device device) {
    const ops::RangeQuantized a = dynamically_quantized(in[0].tensor(device));
    const ops::Scaling by{
        .result = DType::f32, .left = a.scale, .right = in[2].tensor(device), .bias = input_of(in, 4, device)};
    return Data{right.product(a.numbers, a.zero, by, in, device)};
  };
}

Run quantize_linear_(Call& call) { return build_as("QuantizeLinear", call); }
Run dequantize_linear_(Call& call) { return build_as("DequantizeLinear", call); }

}  // namespace

std::vector<Row> quantized_node_rows() {
  constexpr const char* domain = microsoft_domain;
  return {
      {"DequantizeLinear", 1, 1, dequantize_linear_, domain},
      {"DynamicQuantizeMatMul", 1, 1, dynamic_quantize_mat_mul, domain},
      {"MatMulIntegerToFloat", 1, 1, mat_mul_integer_to_float, domain},
      {"QGemm", 1, 1, q_gemm, domain},
      {"QLinearAdd", 1, 1, q_linear_add, domain},
      {"QLinearConcat", 1, 1, q_linear_concat, domain},
      {"QLinearGlobalAveragePool", 1, 1, q_linear_global_average_pool, domain},
      {"QLinearLeakyRelu", 1, 1, q_linear_leaky_relu, domain},
      {"QLinearMul", 1, 1, q_linear_mul, domain},
      {"QLinearSigmoid", 1, 1, q_linear_sigmoid, domain},
      {"QLinearSoftmax", 1, 1, q_linear_softmax, domain},
      {"QuantizeLinear", 1, 1, quantize_linear_, domain},
  };
}

}  // namespace crisol::onnx
