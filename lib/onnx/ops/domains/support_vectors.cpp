// Support vector machines of the domain ai.onnx.ml.
#include <numeric>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/domains/estimators.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/table.h"
#include "ops/estimators/supports.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using ops::ScoreKind;
using ops::ScoreRule;
using ops::ScoreTransform;
using ops::SupportKernel;
using Floats = std::vector<float>;

/// Reads the kernel, its parameters, and the support vectors. If there are no vectors, each row of coefficients takes
/// the place of a vector, so the sums are products with this row.
ops::Supports read_supports(Call& call, std::int64_t count, std::int64_t rows_of_coefficients) {
  ops::Supports supports;
  const std::string kernel = call.text_of("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"});
  const Floats numbers = floats_of(call, "kernel_params");
  supports.vectors = floats_of(call, "support_vectors");
  supports.coefficients = floats_of(call, "coefficients");
  require(numbers.empty() || numbers.size() == 3, "onnx", "attribute kernel_params has ", numbers.size(),
          " numbers, gamma, coef0 and degree expected");
  const auto size = static_cast<std::int64_t>(supports.coefficients.size());
  if (count == 0) {
    supports.count = rows_of_coefficients;
    require(size > 0 && size % supports.count == 0, "onnx", size, " coefficients for ", supports.count, " results");
    supports.vectors = std::move(supports.coefficients);
  } else {
    supports.count = count;
    supports.kernel = kernel == "LINEAR" ? SupportKernel::linear
                      : kernel == "POLY" ? SupportKernel::polynomial
                      : kernel == "RBF"  ? SupportKernel::rbf
                                         : SupportKernel::sigmoid;
    require(size == count * rows_of_coefficients, "onnx", size, " coefficients, ", rows_of_coefficients, " x ", count,
            " expected");
    if (!numbers.empty()) {
      supports.gamma = numbers[0];
      supports.coef0 = numbers[1];
      supports.degree = numbers[2];
    }
  }
  const auto all = static_cast<std::int64_t>(supports.vectors.size());
  require(all > 0 && all % supports.count == 0, "onnx", all, " numbers of ", supports.count, " support vectors");
  supports.features = all / supports.count;
  return supports;
}

Run support_regressor(Call& call) {
  call.check_counts(1, 1);
  call.require_rank(0, 1, 2);
  const std::int64_t count = call.integer("n_supports", 0);
  require(count >= 0, "onnx", "n_supports is ", count);
  ops::Supports supports = read_supports(call, count, 1);
  if (count == 0) supports.coefficients = {1};
  supports.rho = floats_of(call, "rho");
  require(supports.rho.size() == 1, "onnx", "attribute rho has ", supports.rho.size(), " numbers, 1 expected");
  const bool is_one_class = call.integer("one_class", 0) != 0;
  transform_of(call);  // ONNX Runtime ignores it too.
  call.gives(0, value_of(DType::f32, 2));
  return [=, parts = DeviceParts<ops::DeviceSupports>([supports](Device device) {
               return ops::DeviceSupports(supports, device);
             })](const Data& in, Device device) {
    const Tensor y = ops::support_sums(rows_of(in[0].tensor(device)), parts.on(device));
    return Data{is_one_class ? y.gt(0).to(DType::f32) * 2 - 1 : y};
  };
}

/// A row of coefficients for each pair of classes. The file has coefficients (classes - 1, vectors). The column of a
/// vector of class c has the coefficients for c against each other class, in the order of the classes.
Floats coefficients_of_pairs(const Floats& given, const Numbers& counts) {
  const auto classes = static_cast<std::int64_t>(counts.size());
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  Floats pairs(static_cast<std::size_t>(classes * (classes - 1) / 2 * all));
  std::int64_t pair = 0;
  for (std::int64_t i = 0; i < classes; ++i)
    for (std::int64_t j = i + 1; j < classes; ++j, ++pair)
      for (std::int64_t c = 0, v = 0; c < classes; ++c)
        for (std::int64_t k = 0; k < counts[static_cast<std::size_t>(c)]; ++k, ++v)
          if (c == i || c == j)
            pairs[static_cast<std::size_t>(pair * all + v)] =
                given[static_cast<std::size_t>((c == i ? j - 1 : i) * all + v)];
  return pairs;
}

/// The parts of a classifier on a device.
struct PairParts {
  ops::DeviceSupports supports;
  Tensor labels, a, b;
};

/// The scores of ONNX Runtime without probabilities are those of the pairs. For a single pair with score s they are
/// {-s, s}, also with LOGISTIC. With other transforms they are {1 - s, s}, and the transform is not applied.
ScoreRule rule_of_pairs(std::size_t classes, ScoreTransform transform) {
  if (classes != 2) return {.kind = ScoreKind::each, .transform = transform};
  if (transform <= ScoreTransform::logistic) return {.kind = ScoreKind::sign, .transform = transform};
  return {.kind = ScoreKind::share};
}

/// A classifier without support vectors: the score of a class is a product with the coefficients of the class.
Run linear_scores(Call& call, const ops::Supports& given, const ClassLabels& labels, const ScoreRule& rule) {
  const std::size_t classes = labels.numbers.size();
  ops::Supports supports = given;
  supports.coefficients.assign(classes * classes, 0);
  for (std::size_t i = 0; i < classes; ++i) supports.coefficients[i * classes + i] = 1;
  require(!given.rho.empty(), "onnx", "attribute rho has no number");
  supports.rho.assign(classes, given.rho.front());
  require(!call.has("prob_a") && !call.has("prob_b"), "onnx", "probabilities need support vectors");
  const DeviceParts<PairParts> parts([supports, labels](Device device) {
    return PairParts{{supports, device}, list_or_none(labels.numbers, device), {}, {}};
  });
  return [=](const Data& in, Device device) {
    const PairParts all = parts.on(device);
    const Tensor sums = ops::support_sums(rows_of(in[0].tensor(device)), all.supports);
    const ops::Scores scores = ops::row_scores(sums, {}, all.labels, rule);
    return Data{scores.labels, scores.values};
  };
}

Run pair_classifier(Call& call, ops::Supports supports, const ClassLabels& labels, const Numbers& counts,
                    ScoreTransform transform) {
  const std::size_t classes = counts.size(), pairs = classes * (classes - 1) / 2;
  const Floats a = floats_of(call, "prob_a"), b = floats_of(call, "prob_b");
  require(supports.rho.size() == pairs, "onnx", "attribute rho has ", supports.rho.size(), " numbers for ", pairs,
          " pairs of classes");
  require((a.empty() || a.size() == pairs) && a.size() == b.size(), "onnx", "prob_a has ", a.size(),
          " numbers, prob_b has ", b.size(), " for ", pairs, " pairs of classes");
  supports.coefficients = coefficients_of_pairs(supports.coefficients, counts);
  const DeviceParts<PairParts> parts([=](Device device) {
    return PairParts{
        {supports, device}, list_or_none(labels.numbers, device), list_or_none(a, device), list_or_none(b, device)};
  });
  const ScoreRule rule = rule_of_pairs(classes, transform);
  return [=](const Data& in, Device device) {
    const PairParts all = parts.on(device);
    const Tensor sums = ops::support_sums(rows_of(in[0].tensor(device)), all.supports);
    const ops::Scores scores = ops::pair_scores(sums, all.a, all.b, all.labels);
    if (!all.a.defined()) return Data{scores.labels, ops::row_scores(sums, {}, {}, rule).values};
    if (transform == ScoreTransform::none) return Data{scores.labels, scores.values};
    const ScoreRule each{.kind = ScoreKind::each, .transform = transform};
    return Data{scores.labels, ops::row_scores(scores.values, {}, {}, each).values};
  };
}

Run support_classifier(Call& call) {
  call.check_counts(1, 1, 2);
  call.require_rank(0, 1, 2);
  const ClassLabels labels = class_labels(call, "classlabels_ints", "classlabels_strings");
  const Numbers counts = call.integers("vectors_per_class");
  const std::size_t classes = labels.numbers.size();
  require(counts.empty() || (counts.size() == classes && classes > 1), "onnx", "attribute vectors_per_class has ",
          counts.size(), " numbers for ", classes, " classes");
  for (const std::int64_t count : counts) require(count >= 0, "onnx", "vectors_per_class has ", count);
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto rows = static_cast<std::int64_t>(classes);
  ops::Supports supports = read_supports(call, all, all == 0 ? rows : rows - 1);
  supports.rho = floats_of(call, "rho");
  const ScoreTransform transform = transform_of(call);
  call.gives(0, labels.value());
  call.gives(1, value_of(DType::f32, 2));
  if (all == 0) return linear_scores(call, supports, labels, {.kind = ScoreKind::each, .transform = transform});
  return pair_classifier(call, std::move(supports), labels, counts, transform);
}

}  // namespace

std::vector<Row> support_vector_rows() {
  constexpr std::int64_t newest = newest_ml_version;
  return {
      {"SVMClassifier", 1, newest, support_classifier, ml_domain},
      {"SVMRegressor", 1, newest, support_regressor, ml_domain},
  };
}

}  // namespace crisol::onnx
