// Ops of the domain ai.onnx.ml that read and make labels.
#include "onnx/ops/domains/labels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;
using graph::Run;
using graph::Texts;
using Strings = std::vector<std::string>;

graph::Value ClassLabels::value() const {
  graph::Value value = value_of(DType::i64, 1);
  value.texts = texts;
  return value;
}

ClassLabels class_labels(Call& call, const char* ints, const char* strings) {
  ClassLabels labels{call.integers(ints), nullptr};
  Strings texts = call.texts(strings);
  require(labels.numbers.empty() != texts.empty(), "onnx", "attribute ", ints, " has ", labels.numbers.size(),
          " labels, ", strings, " has ", texts.size(), "; one of them must be empty");
  if (texts.empty()) return labels;
  for (std::size_t i = 0; i < texts.size(); ++i) labels.numbers.push_back(static_cast<std::int64_t>(i));
  labels.texts = std::make_shared<const Strings>(std::move(texts));
  return labels;
}

Tensor matches(const Tensor& x, const Tensor& keys) {
  const Tensor elements = x.unsqueeze(-1), equal = elements.eq(keys);
  return is_floating(keys.dtype()) ? logical_or(equal, logical_and(isnan(elements), isnan(keys))) : equal;
}

namespace {

/// A node whose input has positions of texts. The output has the elements of `list` at these positions.
template <class List>
Run look_up(List list, DType dtype) {
  return [list = std::move(list), dtype](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Tensor table = from_vector(list, device).to(dtype);
    return Data{index_select(table, 0, x.reshape({x.numel()})).reshape(x.shape())};
  };
}

}  // namespace

Run cast_texts(Call& call, const Strings& texts, DType dtype) {
  call.check_counts(1, 1);
  std::vector<double> reals;
  Numbers whole;
  for (const std::string& text : texts) {
    char* end = nullptr;
    if (is_floating(dtype))
      reals.push_back(std::strtod(text.c_str(), &end));
    else
      whole.push_back(std::strtoll(text.c_str(), &end, 10));
    require(!text.empty() && end == text.c_str() + text.size(), "onnx", file::in_quotes(text), " is no number of ",
            dtype);
  }
  call.gives(0, value_of(dtype, call.rank_of(0)));
  if (!is_floating(dtype)) return look_up(std::move(whole), dtype);
  return look_up(std::vector<float>(reals.begin(), reals.end()), dtype);
}

namespace {

/// The keys or the values of a LabelEncoder. They are whole numbers, real numbers, texts, or a tensor (since version
/// 4).
struct LabelList {
  struct Names {
    const char *whole, *reals, *texts, *tensor;
  };
  Numbers whole;
  std::vector<double> reals;
  Strings texts;
  Datum stored;

  LabelList(Call& call, const Names& names)
      : whole(call.integers(names.whole)), reals(call.reals(names.reals)), texts(call.texts(names.texts)) {
    Strings more = call.texts_of_tensor(names.tensor);
    if (more.empty()) stored = call.tensor(names.tensor);
    require((whole.empty() ? 0 : 1) + (reals.empty() ? 0 : 1) + (texts.empty() ? 0 : 1) + (more.empty() ? 0 : 1) +
                    (stored.defined() ? 1 : 0) ==
                1,
            "onnx", "one of ", names.whole, ", ", names.reals, ", ", names.texts, " and ", names.tensor,
            " must have elements");
    if (!more.empty()) texts = std::move(more);
  }
  bool is_text() const { return !texts.empty(); }
  std::int64_t size() const {
    return stored.defined() ? stored.shape().numel()
                            : static_cast<std::int64_t>(whole.size() + reals.size() + texts.size());
  }
  /// The type, if they are numbers.
  DType dtype() const { return stored.defined() ? stored.dtype() : whole.empty() ? DType::f32 : DType::i64; }
  /// The numbers on a device.
  Tensor tensor(Device device) const {
    if (stored.defined()) return stored.tensor(device).reshape({size()});
    return whole.empty() ? from_vector(reals, DType::f32, device) : from_vector(whole, device);
  }
};

/// The values that a LabelEncoder gives: numbers, or positions in a list of texts. `otherwise` is for elements that are
/// no key.
struct Results {
  LabelList list;
  Scalar otherwise = std::int64_t{0};
  Texts texts;        ///< The list of texts. Null for numbers.
  Numbers positions;  ///< The positions of the values' texts.

  explicit Results(Call& call) : list(call, {"values_int64s", "values_floats", "values_strings", "values_tensor"}) {
    const Strings text_tensor = call.texts_of_tensor("default_tensor");
    const std::int64_t whole = call.integer("default_int64", -1);
    const double real = call.real("default_float", -0.0);
    std::string text = call.text("default_string", "_Unused");
    if (!list.is_text()) {
      const Datum stored = call.tensor("default_tensor");
      otherwise = is_floating(list.dtype()) ? Scalar(real) : Scalar(whole);
      if (!stored.defined()) return;
      require(stored.shape().numel() == 1 && stored.dtype() == list.dtype(), "onnx", "default_tensor has shape ",
              stored.shape(), " and is ", stored.dtype(), ", one number of type ", list.dtype(), " expected");
      otherwise = is_floating(list.dtype()) ? Scalar(stored.number()) : Scalar(stored.numbers()[0]);
      return;
    }
    if (!text_tensor.empty()) text = text_tensor.front();
    Strings all;
    std::map<std::string, std::int64_t> known;
    const auto position_of = [&](const std::string& one) {
      const auto [at, is_new] = known.try_emplace(one, static_cast<std::int64_t>(all.size()));
      if (is_new) all.push_back(one);
      return at->second;
    };
    for (const std::string& one : list.texts) positions.push_back(position_of(one));
    otherwise = Scalar(position_of(text));
    texts = std::make_shared<const Strings>(std::move(all));
  }
  DType dtype() const { return texts ? DType::i64 : list.dtype(); }
  Tensor tensor(Device device) const { return texts ? from_vector(positions, device) : list.tensor(device); }
};

/// For each text, its position in the list of keys. For a text that is no key, it is the number of keys.
Numbers places_of_keys(const Strings& texts, const Strings& keys) {
  std::map<std::string_view, std::int64_t> place;
  for (std::size_t i = 0; i < keys.size(); ++i) place.try_emplace(keys[i], static_cast<std::int64_t>(i));
  Numbers places;
  for (const std::string& text : texts) {
    const auto at = place.find(text);
    places.push_back(at == place.end() ? static_cast<std::int64_t>(keys.size()) : at->second);
  }
  return places;
}

/// For each element, the value of the key that equals it, or the default.
Run label_encoder(Call& call) {
  call.check_counts(1, 1);
  const LabelList keys(call, {"keys_int64s", "keys_floats", "keys_strings", "keys_tensor"});
  const Results results(call);
  require(keys.size() == results.list.size(), "onnx", keys.size(), " keys and ", results.list.size(), " values");
  graph::Value y = value_of(results.dtype(), call.rank_of(0));
  y.texts = results.texts;
  call.gives(0, y);
  const auto otherwise = [results](const Shape& shape, Device device) {
    return full(shape, results.otherwise, results.dtype(), device);
  };
  if (keys.is_text()) {
    const Texts texts = call.texts_of_input();
    require(texts != nullptr, "onnx", "the keys are texts, the input is numbers or texts that only the run knows");
    return [=, places = places_of_keys(*texts, keys.texts)](const Data& in, Device device) {
      const Tensor x = in[0].tensor(device), all = cat({results.tensor(device), otherwise({1}, device)}, 0);
      const Tensor table = index_select(all, 0, from_vector(places, device));
      return Data{index_select(table, 0, x.reshape({x.numel()})).reshape(x.shape())};
    };
  }
  call.require_dtype(0, keys.dtype());
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), found = matches(x, keys.tensor(device)).to(DType::f32);
    const Tensor picked = index_select(results.tensor(device), 0, found.argmax(-1).reshape({x.numel()}));
    return Data{where(found.sum({-1}).gt(0), picked.reshape(x.shape()), otherwise(x.shape(), device))};
  };
}

/// The node's result in ONNX is a sequence of maps. Here it is a tensor with a row for each map. The keys are among the
/// known facts about the output.
Run zip_map(Call& call) {
  call.check_counts(1, 1);
  call.require_dtype(0, DType::f32);
  call.require_rank(0, 1, 2);
  const ClassLabels keys = class_labels(call, "classlabels_int64s", "classlabels_strings");
  Strings names = keys.texts ? *keys.texts : Strings();
  for (std::size_t i = names.size(); i < keys.numbers.size(); ++i) names.push_back(std::to_string(keys.numbers[i]));
  const auto columns = static_cast<std::int64_t>(names.size());
  graph::Value value = value_of(DType::f32, 2);
  value.texts = std::make_shared<const Strings>(std::move(names));
  call.gives(0, value);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    require(x.dim() > 0 && x.size(-1) == columns, "onnx", "the input has shape ", x.shape(), ", ", columns,
            " columns expected");
    return Data{x.dim() == 1 ? x.unsqueeze(0) : x};
  };
}

}  // namespace

std::vector<Row> label_rows() {
  return {
      {"LabelEncoder", 2, newest_ml_version, label_encoder, ml_domain},
      {"ZipMap", 1, newest_ml_version, zip_map, ml_domain},
  };
}

}  // namespace crisol::onnx
