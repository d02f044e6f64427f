// Clipping of single gradient elements.
#include <cmath>
#include <limits>
#include <memory>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::tensor_of;
using testing::values_of;

TEST_CASE("clip_grad_value bounds every element, in and outside of an optimiser's arena") {
  for (const bool in_arena : {false, true}) {
    CAPTURE(in_arena);
    std::vector<Tensor> p{zeros({3}).requires_grad_(), zeros({2, 2}).requires_grad_(), zeros({2}).requires_grad_()};
    std::unique_ptr<optim::SGD> optimizer;
    if (in_arena) optimizer = std::make_unique<optim::SGD>(p);
    sum(mul(p[0], tensor_of({-3, 0.25, std::numeric_limits<double>::quiet_NaN()}, {3}))).backward();
    sum(mul(p[1], tensor_of({0.5, 0.75, -0.5, std::numeric_limits<double>::infinity()}, {2, 2}))).backward();
    optim::clip_grad_value(p, 0.5);
    const std::vector<double> first = values_of(p[0].grad());
    CHECK(first[0] == -0.5);
    CHECK(first[1] == 0.25);
    CHECK(std::isnan(first[2]));
    check_close(p[1].grad(), {0.5, 0.5, -0.5, 0.5}, {0});
    CHECK_FALSE(p[2].grad().defined());
    check_error([&] { optim::clip_grad_value(p, 0); }, {"[clip_grad_value]", "0"});
    optim::clip_grad_value({p[2]}, 1);
    CHECK_FALSE(p[2].grad().defined());
  }
}

}  // namespace crisol
