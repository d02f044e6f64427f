// Ops of the domain ai.onnx.ml that read and make labels.
#include "onnx/ops/domains/labels.h"

#include <cstdlib>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

using graph::Data;
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

Tensor is_same(const Tensor& a, const Tensor& b) {
  const Tensor equal = a.eq(b);
  return is_floating(a.dtype()) ? logical_or(equal, logical_and(isnan(a), isnan(b))) : equal;
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

std::vector<Row> label_rows() { return {{"ZipMap", 1, newest_ml_version, zip_map, ml_domain}}; }

}  // namespace crisol::onnx
