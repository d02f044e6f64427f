// Losses of labels from ONNX files.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/gradcheck.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: losses of labels, with weights and ignored labels") {
  manual_seed(3);
  const Tensor x = randn({3, 5, 2}), weight = rand({5}) + 0.5;
  const Tensor labels = from_vector(std::vector<std::int64_t>{0, 4, 9, 2, 1, 9}, {3, 2});
  const Tensor rows = x.transpose(1, 2).reshape({6, 5}), flat = labels.reshape(6);
  const auto loss = [&](const char* op, const char* reduction, const Tensor& w,
                        std::vector<std::string> outputs = {"y"}) {
    return run_op({op, {attribute("reduction", reduction), number("ignore_index", 9)}, 13, "", std::move(outputs)},
                  {x, labels, w});
  };
  const Tensor each = cross_entropy(rows, flat, {.reduction = Reduction::none, .ignore_index = 9});
  const Tensor used = flat.ne(9), of_rows = index_select(weight, 0, where(used, flat, 0)) * used;
  CHECK(nearly(loss("SoftmaxCrossEntropyLoss", "mean", Tensor())[0], cross_entropy(rows, flat, {.ignore_index = 9})));
  CHECK(nearly(loss("SoftmaxCrossEntropyLoss", "none", Tensor())[0], each.reshape({3, 2})));
  CHECK(nearly(loss("SoftmaxCrossEntropyLoss", "none", weight)[0], (each * of_rows).reshape({3, 2})));
  CHECK(nearly(loss("SoftmaxCrossEntropyLoss", "sum", weight)[0], sum(each * of_rows)));
  const Tensors both = loss("SoftmaxCrossEntropyLoss", "mean", weight, {"y", "log"});
  CHECK(nearly(both[0], sum(each * of_rows) / sum(of_rows)));
  CHECK(nearly(both[1], log_softmax(x, 1)));
  CHECK(nearly(loss("NegativeLogLikelihoodLoss", "mean", weight)[0],
               -sum(gather(rows, 1, where(used, flat, 0).unsqueeze(1)).squeeze(1) * of_rows) / sum(of_rows)));
  const Tensor short_labels = from_vector(std::vector<std::int32_t>{1, 4}), scores = randn({2, 5});
  CHECK(nearly(run_op({"NegativeLogLikelihoodLoss"}, {scores, short_labels})[0], nll_loss(scores, short_labels)));
  check_gradients(
      [&](const Tensors& in) {
        return run_op({"SoftmaxCrossEntropyLoss", {number("ignore_index", 9)}}, {in[0], labels, in[1]})[0];
      },
      {x, weight}, {.elements = 3});

  CHECK(refusal_of_op({"SoftmaxCrossEntropyLoss", {attribute("reduction", "max")}}, {x, labels}) ==
        Contains("reduction is \"max\", mean, sum or none expected"));
  CHECK(refusal_of_op({"SoftmaxCrossEntropyLoss"}, {x, flat}) ==
        Contains("labels of shape (6) for scores of shape (3, 5, 2)"));
  CHECK(refusal_of_op({"NegativeLogLikelihoodLoss"}, {x, labels, ones({4})}) ==
        Contains("the weight has shape (4) for 5 classes"));
}
