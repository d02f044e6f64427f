// Ops of the domain ai.onnx.ml that prepare features, and linear regression.
#include <cmath>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using Reals = std::vector<double>;

/// A line of numbers that broadcasts to inputs: one for all features, or one for each.
Tensor line(const Reals& values, DType dtype, Device device) {
  return from_vector(values, Shape(static_cast<std::int64_t>(values.size())), dtype, device);
}

void check_features(const char* name, std::size_t count, const Tensor& x) {
  require(x.dim() >= 1 && (count == 1 || static_cast<std::int64_t>(count) == x.size(-1)), "onnx", "attribute ", name,
          " has ", count, " numbers, the input has shape ", x.shape());
}

Run array_feature_extractor(Call& call) {
  call.check_counts(2, 2);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), index = in[1].tensor(device);
    require(x.dim() >= 1, "onnx", "the input has no axis");
    const Tensor picked = index_select(x, -1, index.reshape({index.numel()}));
    return Data{x.dim() == 1 ? picked.unsqueeze(0) : picked};
  };
}

Run binarizer(Call& call) {
  call.check_counts(1, 1);
  const double threshold = call.real("threshold", 0);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{gt(x, threshold).to(x.dtype())};
  };
}

Run scaler(Call& call) {
  call.check_counts(1, 1);
  const Reals offset = call.reals("offset", {0}), scale = call.reals("scale", {1});
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device).to(DType::f32);
    check_features("offset", offset.size(), x);
    check_features("scale", scale.size(), x);
    return Data{(x - line(offset, DType::f32, device)) * line(scale, DType::f32, device)};
  };
}

/// The definitions of the norm MAX differ in the sign, so it is refused.
Run normalizer(Call& call) {
  call.check_counts(1, 1);
  const std::string name = call.text("norm", "MAX");
  require(name == "L1" || name == "L2", "onnx", "norm \"", name, "\" is not supported, L1 and L2 are");
  const double p = name == "L1" ? 1 : 2;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device).to(DType::f32);
    require(x.dim() >= 1, "onnx", "the input has no axis");
    const Tensor divisor = norm(x, p, -1, true);
    return Data{x / where(divisor.eq(0), 1.0, divisor)};
  };
}

Run imputer(Call& call) {
  call.check_counts(1, 1);
  const Reals reals = call.reals("imputed_value_floats", {});
  const Numbers whole = call.integers("imputed_value_int64s");
  const double replaced_real = call.real("replaced_value_float", 0);
  const std::int64_t replaced_whole = call.integer("replaced_value_int64", 0);
  require(reals.empty() != whole.empty(), "onnx", "imputed_value_floats has ", reals.size(),
          " numbers, imputed_value_int64s has ", whole.size(), "; one of them must be empty");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(is_floating(x.dtype()) == whole.empty(), "onnx", "the input is ", x.dtype(), ", the imputed values are ",
            whole.empty() ? "floats" : "integers");
    check_features("imputed_value", reals.size() + whole.size(), x);
    if (whole.empty()) {
      const Tensor is_missing = std::isnan(replaced_real) ? isnan(x) : x.eq(replaced_real);
      return Data{where(is_missing, line(reals, x.dtype(), device), x)};
    }
    const Tensor values = from_vector(whole, Shape(static_cast<std::int64_t>(whole.size())), x.dtype(), device);
    return Data{where(x.eq(replaced_whole), values, x)};
  };
}

Run feature_vectorizer(Call& call) {
  call.check_counts(1, call.inputs());
  const Numbers widths = call.integers("inputdimensions");
  require(widths.empty() || widths.size() == call.inputs(), "onnx", widths.size(), " inputdimensions for ",
          call.inputs(), " inputs");
  return [=](const Data& in, Device device) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Tensor x = in[i].tensor(device).to(DType::f32);
      require(x.dim() == 1 || x.dim() == 2, "onnx", "input ", i, " has shape ", x.shape(), ", at most 2 axes expected");
      require(widths.empty() || widths[i] == x.size(-1), "onnx", "input ", i, " has shape ", x.shape(), ", ",
              widths.empty() ? 0 : widths[i], " features expected");
      parts.push_back(x.dim() == 1 ? x.unsqueeze(0) : x);
    }
    return Data{cat(parts, 1)};
  };
}

Run linear_regressor(Call& call) {
  call.check_counts(1, 1);
  const Reals coefficients = call.reals("coefficients", {}), intercepts = call.reals("intercepts", {});
  const std::int64_t targets = call.integer("targets", 1);
  const std::string transform = call.text("post_transform", "NONE");
  require(transform == "NONE" || transform == "LOGISTIC" || transform == "SOFTMAX", "onnx", "post_transform \"",
          transform, "\" is not supported");
  const auto count = static_cast<std::int64_t>(coefficients.size());
  require(targets >= 1 && count > 0 && count % targets == 0, "onnx", count, " coefficients for ", targets, " targets");
  require(intercepts.empty() || static_cast<std::int64_t>(intercepts.size()) == targets, "onnx", intercepts.size(),
          " intercepts for ", targets, " targets");
  return [=](const Data& in, Device device) {
    const Tensor given = in[0].tensor(device).to(DType::f32);
    const Tensor x = given.dim() == 1 ? given.unsqueeze(0) : given;
    const Tensor weight = line(coefficients, DType::f32, device).reshape({targets, count / targets});
    Tensor y = linear(x, weight, intercepts.empty() ? Tensor() : line(intercepts, DType::f32, device));
    if (transform == "LOGISTIC") y = sigmoid(y);
    if (transform == "SOFTMAX") y = softmax(y, -1);
    return Data{y};
  };
}

}  // namespace

std::vector<Row> feature_rows() {
  constexpr std::int64_t newest = newest_ml_version;
  constexpr const char* ml = ml_domain;
  return {
      {"ArrayFeatureExtractor", 1, newest, array_feature_extractor, ml},
      {"Binarizer", 1, newest, binarizer, ml},
      {"FeatureVectorizer", 1, newest, feature_vectorizer, ml},
      {"Imputer", 1, newest, imputer, ml},
      {"LinearRegressor", 1, newest, linear_regressor, ml},
      {"Normalizer", 1, newest, normalizer, ml},
      {"Scaler", 1, newest, scaler, ml},
  };
}

}  // namespace crisol::onnx
