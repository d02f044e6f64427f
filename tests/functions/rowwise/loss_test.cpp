// Gradients of the losses.
#include "crisol/functions/loss.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("gradients of the losses") {
  const Tensor x = tensor_of(random_values(1, 20, -2, 2), {4, 5}), target = tensor_of(random_values(2, 20), {4, 5});
  const Tensor labels = tensor_of({1, 4, -100, 0}, {4}, DType::i64);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    CAPTURE(static_cast<int>(reduction));
    for (const double smoothing : {0.0, 0.2})
      check_gradients(
          [&](const std::vector<Tensor>& in) {
            return cross_entropy(in[0], labels, {reduction, smoothing});
          },
          {x});
    check_gradients([&](const std::vector<Tensor>& in) { return nll_loss(in[0], labels, reduction); }, {x});
    check_gradients([&](const std::vector<Tensor>& in) { return mse_loss(in[0], in[1], reduction); }, {x, target});
  }
  CHECK_FALSE(cross_entropy(x, labels).requires_grad());
}
