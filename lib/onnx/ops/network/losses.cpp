// Losses of class labels.
#include "crisol/functions/loss.h"

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

struct LossOptions {
  explicit LossOptions(Call& call) {
    call.check_counts(2, 3, 2);
    // No label is INT64_MIN. So no label is ignored if the attribute is missing.
    ignore_index = call.integer("ignore_index", INT64_MIN);
    const std::string text = call.text("reduction", "mean");
    require(text == "mean" || text == "sum" || text == "none", "onnx", "reduction is ", file::in_quotes(text),
            ", mean, sum or none expected");
    reduction = text == "mean" ? Reduction::mean : text == "sum" ? Reduction::sum : Reduction::none;
  }

  std::int64_t ignore_index;
  Reduction reduction;
};

/// Scores (N, C, …) as rows (N · …, C), and their labels (N, …) as a vector.
struct Rows {
  Rows(const Tensor& scores, const Tensor& given_labels) {
    require(scores.dim() >= 2, "onnx", "scores of shape ", scores.shape(), ", (N, C, …) expected");
    Shape expected = scores.shape();
    expected.erase(1);
    require(given_labels.shape() == expected, "onnx", "labels of shape ", given_labels.shape(), " for scores of shape ",
            scores.shape());
    const std::int64_t classes = scores.size(1);
    std::int64_t places = 1;
    for (int i = 2; i < scores.dim(); ++i) places *= scores.size(i);
    x = scores.dim() == 2
            ? scores
            : scores.reshape({scores.size(0), classes, places}).transpose(1, 2).reshape({expected.numel(), classes});
    x = x.to(DType::f32);
    labels = given_labels.to(DType::i64).reshape(expected.numel());
  }

  Tensor x, labels;
};

/// Multiplies the loss of each row by the weight of its class. The mean divides by the sum of these weights.
Tensor weighted(const Tensor& losses, const Tensor& labels, const Tensor& weight, const LossOptions& options) {
  const Tensor is_used = labels.ne(options.ignore_index);
  const Tensor of_rows = index_select(weight.to(DType::f32), 0, where(is_used, labels, 0)) * is_used;
  const Tensor result = losses * of_rows;
  if (options.reduction == Reduction::none) return result;
  return options.reduction == Reduction::sum ? sum(result) : sum(result) / sum(of_rows);
}

/// The loss of scores. `loss` computes it from rows, and gets the reduction as an argument.
template <class Loss>
Tensor loss_of(const Data& in, const Tensor& scores, const LossOptions& options, Device device, Loss loss) {
  const Tensor labels = in[1].tensor(device), weight = input_of(in, 2, device);
  const Rows rows(scores, labels);
  require(!weight.defined() || weight.shape() == Shape(scores.size(1)), "onnx", "the weight has shape ",
          weight.defined() ? weight.shape() : Shape(), " for ", scores.size(1), " classes");
  const Tensor result = weight.defined() ? weighted(loss(rows, Reduction::none), rows.labels, weight, options)
                                         : loss(rows, options.reduction);
  return (options.reduction == Reduction::none ? result.reshape(labels.shape()) : result).to(scores.dtype());
}

Run negative_log_likelihood_loss(Call& call) {
  call.gives_type_of(0);
  const LossOptions options(call);
  return [=](const Data& in, Device device) {
    return Data{loss_of(in, in[0].tensor(device), options, device, [&](const Rows& rows, Reduction reduction) {
      return nll_loss(rows.x, rows.labels, reduction, options.ignore_index);
    })};
  };
}

/// The second output is the logarithm of the softmax.
Run softmax_cross_entropy_loss(Call& call) {
  call.all_give_type_of(0);
  const LossOptions options(call);
  const bool gives_logarithm = call.has_output(1);
  return [=](const Data& in, Device device) {
    const Tensor scores = in[0].tensor(device);
    const Tensor loss = loss_of(in, scores, options, device, [&](const Rows& rows, Reduction reduction) {
      return cross_entropy(rows.x, rows.labels, {.reduction = reduction, .ignore_index = options.ignore_index});
    });
    Data results{loss};
    if (gives_logarithm) results.emplace_back(log_softmax(scores, 1));
    return results;
  };
}

}  // namespace

std::vector<Row> loss_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"NegativeLogLikelihoodLoss", 12, newest, negative_log_likelihood_loss},
      {"SoftmaxCrossEntropyLoss", 12, newest, softmax_cross_entropy_loss},
  };
}

}  // namespace crisol::onnx
