// The gradient of dropout, and its behaviour outside training.
#include "crisol/functions/dropout.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("gradient of dropout") {
  const Tensor x = tensor_of(random_values(1, 21), {3, 7});
  // Each call by the checker must drop the same elements.
  check_gradients([&](const std::vector<Tensor>& in) { return dropout(in[0], 0.4, true, Generator(3)); }, {x});
  CHECK_FALSE(dropout(x).requires_grad());
}

TEST_CASE("dropout: outside training the result is the input") {
  Generator generator(1);
  const Tensor x = ones({4});
  CHECK(dropout(x, 0.5, false, generator).impl() == x.impl());
  CHECK(dropout(x, 0.5, false).impl() == x.impl());
  CHECK(generator.state() == GeneratorState{1, 0});
  check_error([&] { dropout(x, 1.5, false, generator); }, {"[dropout]", "1.5"});
  manual_seed(9);
  const Tensor y = dropout(x, 0.5);
  CHECK(values_of(y) == values_of(dropout(x, 0.5, true, Generator(9))));
}
