// Tensors by name.
#include "crisol/named_tensors.h"

#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;

TEST_CASE("NamedTensors finds a tensor by its name") {
  const NamedTensors tensors{{"b", from_vector<float>({1, 2})}, {"a", full({}, 3)}};
  CHECK(tensors["a"].item() == 3);
  CHECK(tensors["b"].to_vector<float>() == std::vector<float>{1, 2});
  CHECK(tensors[0].first == "b");
  CHECK(tensors.contains("a"));
  CHECK(!tensors.contains("c"));
  testing::check_error([&] { tensors["c"]; }, {"no tensor 'c'", "there are 2: 'b', 'a'"});
  testing::check_error([&] { NamedTensors()["c"]; }, {"no tensor 'c'", "there are 0"});
  NamedTensors many;
  for (int i = 0; i < 30; ++i) many.emplace_back(std::string(100, 'x') + std::to_string(i), full({}, i));
  testing::check_error([&] { many["c"]; }, {"there are 30", "…"});
  const std::vector<std::pair<std::string, Tensor>> pairs{{"x", full({}, 1)}};
  CHECK(NamedTensors(pairs)["x"].item() == 1);
}
