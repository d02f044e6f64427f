// Gradients of softmax and log-softmax.
#include "crisol/functions/softmax.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("gradients of softmax and log_softmax") {
  const Tensor x = tensor_of(random_values(1, 24, -2, 2), {2, 4, 3});
  for (const int axis : {0, 1, -1}) {
    CAPTURE(axis);
    check_gradients([&](const std::vector<Tensor>& in) { return softmax(in[0], axis); }, {x});
    check_gradients([&](const std::vector<Tensor>& in) { return log_softmax(in[0], axis); }, {x});
  }
  CHECK_FALSE(softmax(x, 0).requires_grad());
  CHECK_FALSE(log_softmax(x, 0).requires_grad());
}
