#include "support/pointwise/pointwise_calls.h"

#include "doctest/doctest.h"

namespace crisol::testing {

const std::vector<RowUnderTest>& table_rows() {
  static const std::vector<RowUnderTest> rows = [] {
    std::vector<RowUnderTest> list;
    REQUIRE(ops::all_rows().size() == reference::elementwise_rows().size());
    for (std::size_t i = 0; i < ops::all_rows().size(); ++i)
      list.push_back({ops::all_rows()[i], &reference::elementwise_rows()[i]});
    return list;
  }();
  return rows;
}

}  // namespace crisol::testing
