// Plans, as values.
#include "dispatch/plan.h"

#include "doctest/doctest.h"

namespace crisol::dispatch {

TEST_CASE("plan: a plan that takes in another one knows where the result of the part is") {
  Plan in_operand;
  in_operand.result = operand(1, 3);
  Plan in_workspace;
  in_workspace.workspace(4);
  in_workspace.result = in_workspace.workspace(8);

  Plan whole;
  const Place own = whole.workspace(16);
  const Place first = whole.append(in_operand, {operand(4), own.offset_by(5)});
  CHECK(first.kind == Place::Kind::workspace);
  CHECK(first.index == own.index);
  CHECK(first.offset == 8);
  const Place second = whole.append(in_workspace, {operand(4)});
  CHECK(second.kind == Place::Kind::workspace);
  CHECK(second.index == 2);
  CHECK(whole.workspace_bytes() == 28);
}

TEST_CASE("plan: a part can make a derived copy") {
  Plan maker;
  const auto [from, to] = operands<2>();
  const Place scratch = maker.workspace(4);
  maker.add({"runtime/fill.cl", "fill_words"}, {{1}, {1}}, from, scratch);
  maker.add({"runtime/fill.cl", "fill_words"}, {{1}, {1}}, scratch, to);

  Plan whole;
  whole.workspace(16);
  const Place weight = operand(2);
  static constexpr char kind[] = "test";
  const Place copy = whole.derive(weight, {kind}, 32, maker);
  CHECK(copy.kind == Place::Kind::derived);
  CHECK(copy.index == 0);
  CHECK(whole.workspace_bytes() == 16 + 4 + 32);
  CHECK(whole.arg_count() == 4);
}

}  // namespace crisol::dispatch
