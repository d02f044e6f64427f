#include "dispatch/matrix_unit.h"

#include <iterator>

namespace crisol::dispatch {

namespace {

using Kind = MatrixUnit::Kind;

constexpr MatrixUnitFacts kinds[] = {
    {Kind::none, "none", 1, 1},
    {Kind::mma_sm80, "mma_sm80", LANES_MMA, RUN_MMA},
    {Kind::mma_sm75, "mma_sm75", LANES_MMA, RUN_MMA},
    {Kind::mfma, "mfma", LANES_MFMA, RUN_MFMA},
    {Kind::wmma, "wmma", LANES_WMMA, RUN_WMMA},
    {Kind::wmma_gfx12, "wmma_gfx12", LANES_WMMA, RUN_WMMA_GFX12},
    {Kind::xmx8, "xmx8", LANES_XMX8, RUN_XMX, true, 16},
    {Kind::xmx16, "xmx16", LANES_XMX16, RUN_XMX, true, 16},
};
static_assert(std::size(kinds) == MatrixUnit::kinds);

}  // namespace

const MatrixUnitFacts& facts_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

Kind matrix_unit_named(std::string_view name) noexcept {
  for (const MatrixUnitFacts& facts : kinds)
    if (name == facts.name) return facts.kind;
  return Kind::none;
}

}  // namespace crisol::dispatch
