// Ops of the domain ai.onnx.ml that prepare features.
#include <algorithm>
#include <cmath>

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/domains/estimators.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using Reals = std::vector<double>;

void check_features(const char* name, std::size_t count, const Tensor& x) {
  require(x.dim() >= 1 && (count == 1 || static_cast<std::int64_t>(count) == x.size(-1)), "onnx", "attribute ", name,
          " has ", count, " numbers, the input has shape ", x.shape());
}

/// Negative positions count from the end. skl2onnx writes -1 for missing neighbours, and multiplies their values by 0.
Run array_feature_extractor(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const Datum stored = call.stored(1);
  const Numbers known = stored.defined() ? stored.numbers() : Numbers{-1};
  const bool may_be_negative = std::any_of(known.begin(), known.end(), [](std::int64_t at) { return at < 0; });
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), index = in[1].tensor(device);
    require(x.dim() >= 1, "onnx", "the input has no axis");
    const Tensor positions = may_be_negative ? where(index.lt(0), index + x.size(-1), index) : index;
    const Tensor picked = index_select(x, -1, positions.reshape({index.numel()}));
    return Data{x.dim() == 1 ? picked.unsqueeze(0) : picked};
  };
}

Run binarizer(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const double threshold = call.real("threshold", 0);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{gt(x, threshold).to(x.dtype())};
  };
}

Run scaler(Call& call) {
  call.check_counts(1, 1);
  call.gives(0, value_of(DType::f32));
  const Reals offset = call.reals("offset", {0}), scale = call.reals("scale", {1});
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device).to(DType::f32);
    check_features("offset", offset.size(), x);
    check_features("scale", scale.size(), x);
    return Data{(x - from_vector(offset, DType::f32, device)) * from_vector(scale, DType::f32, device)};
  };
}

/// MAX divides by the largest number of a row, as in ONNX's text and in ONNX Runtime. scikit-learn and ONNX's reference
/// in NumPy divide by the largest magnitude instead.
Run normalizer(Call& call) {
  call.check_counts(1, 1);
  call.gives(0, value_of(DType::f32));
  const std::string name = call.text_of("norm", {"MAX", "L1", "L2"});
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device).to(DType::f32);
    require(x.dim() >= 1, "onnx", "the input has no axis");
    if (x.dim() == 2 && !autograd::observed({x}))
      return Data{ops::divide_rows(x, name == "MAX"  ? ops::RowNorm::largest
                                      : name == "L1" ? ops::RowNorm::l1
                                                     : ops::RowNorm::l2)};
    const Tensor divisor = name == "MAX" ? x.max(-1, true) : norm(x, name == "L1" ? 1 : 2, -1, true);
    return Data{x / where(divisor.eq(0), 1.0, divisor)};
  };
}

Run imputer(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
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
      return Data{where(is_missing, from_vector(reals, x.dtype(), device), x)};
    }
    const Tensor values = from_vector(whole, x.dtype(), device);
    return Data{where(x.eq(replaced_whole), values, x)};
  };
}

Run feature_vectorizer(Call& call) {
  call.check_counts(1, call.inputs());
  call.gives(0, value_of(DType::f32));
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

/// The categories of a OneHotEncoder in the form of the input: numbers, or positions of texts.
Numbers positions_of_categories(Call& call) {
  const std::vector<std::string> names = call.texts("cats_strings");
  if (names.empty()) {
    const Numbers categories = call.integers("cats_int64s");
    require(!categories.empty(), "onnx", "attributes cats_int64s and cats_strings are missing");
    return categories;
  }
  const graph::Texts texts = call.texts_of_input();
  require(texts != nullptr, "onnx", "the categories are texts, the input is numbers");
  Numbers categories;
  for (const std::string& name : names) {
    const auto at = std::find(texts->begin(), texts->end(), name);
    categories.push_back(at == texts->end() ? -1 : at - texts->begin());
  }
  return categories;
}

/// Adds a last axis: 1 at the element's position in the list of categories, and 0 elsewhere. If the attribute zeros is
/// 0, each element must be a category. A run then waits for the device to check this.
Run one_hot_encoder(Call& call) {
  call.check_counts(1, 1);
  const Numbers categories = positions_of_categories(call);
  const bool takes_others = call.integer("zeros", 1) != 0;
  call.gives(0, value_of(DType::f32, call.rank_of(0) ? std::optional<int>(*call.rank_of(0) + 1) : std::nullopt));
  return [=](const Data& in, Device device) {
    const Tensor keys = from_vector(categories, device);
    const Tensor x = in[0].tensor(device).to(DType::i64), found = is_same(x.unsqueeze(-1), keys).to(DType::f32);
    if (!takes_others && x.numel() > 0) {
      const Tensor known = found.sum({-1}).reshape({x.numel()});
      require(known.min().item() > 0, "onnx", "with zeros 0 each element must be a category, ",
              x.reshape({x.numel()})[known.argmin(0).item<std::int64_t>()].item<std::int64_t>(), " is none");
    }
    return Data{found};
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
      {"Normalizer", 1, newest, normalizer, ml},
      {"OneHotEncoder", 1, newest, one_hot_encoder, ml},
      {"Scaler", 1, newest, scaler, ml},
  };
}

}  // namespace crisol::onnx
