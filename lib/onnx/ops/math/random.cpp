// Random numbers. A node with a seed draws the same numbers in every run. A node without a seed draws from the default
// generator.
#include <bit>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/sampling.h"
#include "crisol/random.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"
#include "tensor/generator.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// The generator from which a node draws.
struct Source {
  explicit Source(Call& call) : has_seed(call.has("seed")), seed(call.real("seed", 0)) {}

  Generator of(Device device) const {
    return has_seed ? started_anew(std::bit_cast<std::uint64_t>(seed), device) : default_generator(device);
  }

  bool has_seed;
  double seed;
};

DType floating_type(std::int64_t number) {
  const DType dtype = dtype_of_number(number);
  require(is_floating(dtype), "onnx", "random numbers of ", dtype, " are not supported, f32 and f16 are");
  return dtype;
}

/// Draws numbers in a shape, in f32: uniform in [low, high), or normal with mean and scale.
using Draw = std::function<Tensor(const Shape& shape, Device device)>;

Draw uniform(Call& call) {
  const Source source(call);
  const double low = call.real("low", 0), high = call.real("high", 1);
  require(low <= high, "onnx", "low is ", low, ", high is ", high);
  return [=](const Shape& shape, Device device) {
    Tensor x = empty(shape, DType::f32, device);
    return uniform_(x, low, high, source.of(device));
  };
}

Draw normal(Call& call) {
  const Source source(call);
  const double mean = call.real("mean", 0), scale = call.real("scale", 1);
  require(scale >= 0, "onnx", "scale is ", scale);
  return [=](const Shape& shape, Device device) {
    Tensor x = empty(shape, DType::f32, device);
    return normal_(x, mean, scale, source.of(device));
  };
}

/// Marks a run whose outputs differ each time.
Run drawing(const Call& call, Run run) {
  run.is_random = !call.has("seed");
  return run;
}

template <Draw (*make)(Call&)>
Run of_shape(Call& call) {
  call.check_counts(0, 0);
  require(call.has("shape"), "onnx", "attribute shape is missing");
  const Shape shape(call.integers("shape"));
  const DType dtype = floating_type(call.integer("dtype", 1));
  call.gives(0, value_of(dtype, shape.rank()));
  const Draw draw = make(call);
  return drawing(call, [=](const Data&, Device device) { return Data{draw(shape, device).to(dtype)}; });
}

template <Draw (*make)(Call&)>
Run like(Call& call) {
  call.check_counts(1, 1);
  std::optional<DType> dtype;
  if (call.has("dtype")) dtype = floating_type(call.integer("dtype", 0));
  call.gives(0, value_of(dtype ? dtype : call.dtype_of(0), call.rank_of(0)));
  const Draw draw = make(call);
  return drawing(call, [=](const Data& in, Device device) {
    const DType result = dtype.value_or(in[0].dtype());
    require(is_floating(result), "onnx", "random numbers of ", result, " are not supported, f32 and f16 are");
    return Data{draw(in[0].shape(), device).to(result)};
  });
}

Run bernoulli_(Call& call) {
  call.check_counts(1, 1);
  const Source source(call);
  std::optional<DType> dtype;
  if (call.has("dtype")) dtype = dtype_of_number(call.integer("dtype", 0));
  call.gives(0, value_of(dtype ? dtype : call.dtype_of(0), call.rank_of(0)));
  return drawing(call, [=](const Data& in, Device device) {
    const Tensor probabilities = in[0].tensor(device);
    const Tensor drawn = rand(probabilities.shape(), source.of(device));
    return Data{lt(drawn, probabilities).to(dtype.value_or(probabilities.dtype()))};
  });
}

Run multinomial_(Call& call) {
  call.check_counts(1, 1);
  const Source source(call);
  const std::int64_t count = call.integer("sample_size", 1);
  require(count >= 1, "onnx", "sample_size is ", count);
  const DType dtype = dtype_of_number(call.integer("dtype", 6));
  require(holds_counts(dtype), "onnx", "samples of ", dtype, ", ", TypesThat{holds_counts}, " expected");
  call.gives(0, value_of(dtype, 2));
  return drawing(call, [=](const Data& in, Device device) {
    // The input holds logarithms of probabilities, whose sum may be any number.
    const Tensor logits = in[0].tensor(device);
    require(logits.dim() == 2, "onnx", "an input of shape ", logits.shape(), ", a matrix expected");
    const Tensor weights = exp(logits - logits.max({1}, true));
    return Data{multinomial(weights, count, true, source.of(device)).to(dtype)};
  });
}

/// x with some elements set to 0 and the others enlarged, and a mask of the elements that were kept.
Data dropped(const Tensor& x, double ratio, const Generator& generator) {
  require(ratio >= 0 && ratio < 1, "onnx", "ratio is ", ratio, ", a number from 0 to below 1 expected");
  const Tensor kept = ge(rand(x.shape(), generator), ratio);
  return {where(kept, x * (1 / (1 - ratio)), 0), kept};
}

/// Before version 7, an attribute asks for evaluation. Up to version 11, nodes always evaluate. Later versions have an
/// input that may ask for training. In evaluation, the mask says that all elements are kept.
Run dropout_(Call& call) {
  call.check_counts(1, call.version() < 12 ? 1 : 3, 2);
  require(call.version() >= 7 || call.integer("is_test", 0) != 0, "onnx", "is_test 0 is not supported");
  call.real("ratio", 0.5);
  const graph::Datum trains = call.stored(2);
  const bool may_train = call.has_input(2) && !(trains.defined() && number_of(trains, "training_mode") == 0);
  if (may_train) call.require_floating(0);
  const bool has_seed = call.has("seed"), has_mask = call.has_output(1), gives_bool = call.version() >= 10;
  const auto seed = static_cast<std::uint64_t>(call.integer("seed", 0));
  call.gives_same();
  graph::Value mask = call.input(0);
  if (gives_bool) mask.dtype = DType::boolean;
  call.gives(1, mask);
  Run run = [=](const Data& in, Device device) {
    if (may_train && in[2].number() != 0)
      return dropped(in[0].tensor(device), has_input(in, 1) ? in[1].number() : 0.5,
                     has_seed ? started_anew(seed, device) : default_generator(device));
    Data results{in[0]};
    if (has_mask) results.emplace_back(ones(in[0].shape(), gives_bool ? DType::boolean : in[0].dtype(), device));
    return results;
  };
  run.is_random = may_train && !has_seed;
  return run;
}

}  // namespace

std::vector<Row> random_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Bernoulli", 15, newest, bernoulli_},
      {"Multinomial", 7, newest, multinomial_},
      {"Dropout", 1, newest, dropout_},
      {"RandomNormal", 1, newest, of_shape<normal>},
      {"RandomNormalLike", 1, newest, like<normal>},
      {"RandomUniform", 1, newest, of_shape<uniform>},
      {"RandomUniformLike", 1, newest, like<uniform>},
  };
}

}  // namespace crisol::onnx
