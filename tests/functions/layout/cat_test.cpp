// Gradients of joining, splitting and padding.
#include "crisol/functions/cat.h"

#include "crisol/functions/pad.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

namespace crisol {

using testing::check_gradients;
using testing::random_tensor;

TEST_CASE("gradients of cat and stack") {
  check_gradients([](const std::vector<Tensor>& in) { return cat(in, 1); },
                  {random_tensor(1, {2, 3}), random_tensor(2, {2, 1}), random_tensor(3, {2, 4})});
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return cat({in[0], in[1], in[0]}, -2);
      },
      {random_tensor(1, {2, 3}), random_tensor(2, {1, 3})});
  for (const int axis : {0, 1, -1})
    check_gradients([&](const std::vector<Tensor>& in) { return stack(in, axis); },
                    {random_tensor(1, {2, 3}), random_tensor(2, {2, 3})});
}

TEST_CASE("gradients of split and chunk, with and without use of every piece") {
  const Tensor x = random_tensor(4, {2, 7});
  check_gradients([](const std::vector<Tensor>& in) { return cat(chunk(in[0], 3, 1), 1); }, {x});
  check_gradients([](const std::vector<Tensor>& in) { return split(in[0], 3, -1)[1]; }, {x});
  check_gradients(
      [](const std::vector<Tensor>& in) {
        const std::vector<Tensor> pieces = split(in[0], std::vector<std::int64_t>{3, 1, 3}, 1);
        return cat({pieces[2], pieces[0], pieces[0]}, 0);
      },
      {x});
}

TEST_CASE("gradients of pad, growing and cropping") {
  const Tensor x = random_tensor(5, {2, 3, 4});
  for (const std::vector<AxisPadding>& paddings :
       {std::vector<AxisPadding>{{1, 2}}, std::vector<AxisPadding>{{0, 0}, {2, 1}},
        std::vector<AxisPadding>{{-1, 1}, {0, 0}, {1, -1}}})
    check_gradients([&](const std::vector<Tensor>& in) { return pad(in[0], paddings, 3); }, {x});
}

}  // namespace crisol
