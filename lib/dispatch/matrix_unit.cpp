#include "dispatch/matrix_unit.h"

#include <iterator>

namespace crisol::ops {

namespace {

using Kind = MatrixUnit::Kind;

constexpr MatrixUnitFacts kinds[] = {
    {Kind::none, "none", 1, 1},           {Kind::mma_sm80, "mma_sm80", 32, 2},
    {Kind::mma_sm75, "mma_sm75", 32, 2},  {Kind::mfma, "mfma", 64, 4},
    {Kind::wmma, "wmma", 32, 1},          {Kind::wmma_gfx12, "wmma_gfx12", 32, 4},
    {Kind::xmx8, "xmx8", 8, 1, true, 16}, {Kind::xmx16, "xmx16", 16, 1, true, 16},
};
static_assert(std::size(kinds) == MatrixUnit::kinds);

}  // namespace

const MatrixUnitFacts& facts_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

Kind matrix_unit_named(std::string_view name) noexcept {
  for (const MatrixUnitFacts& facts : kinds)
    if (name == facts.name) return facts.kind;
  return Kind::none;
}

}  // namespace crisol::ops
