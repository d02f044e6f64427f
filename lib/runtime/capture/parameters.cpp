// Parameters of a capture: operands whose memory may be another one in each replay.
#include <algorithm>
#include <iterator>

#include "runtime/capture/capturer.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/block.h"

namespace crisol::runtime {

bool made_for(const Capturer& capturer, const Block& block) noexcept { return capturer.made(block); }
bool uses(const Capturer& capturer, const Block& block) { return capturer.uses(block); }
std::optional<std::size_t> add_parameter(Capturer& capturer, const Block& block) {
  return capturer.add_parameter(block);
}
void set_parameter(Capturer& capturer, std::size_t number, const Block& block) {
  capturer.set_parameter(number, block);
}
void let_go(Capturer& capturer, const Block& block) { capturer.let_go(block); }

bool Capturer::made(const Block& block) const noexcept {
  return block.pooled() && static_cast<const PooledBlock&>(block).made_for_ == number_;
}

std::optional<std::size_t> Capturer::add_parameter(const Block& block) {
  if (in_command_buffer_ || parts_.size() > 1) return {};
  std::vector<Use> uses;
  std::copy_if(uses_.begin(), uses_.end(), std::back_inserter(uses),
               [memory = block.memory()](const Use& use) { return use.memory == memory; });
  if (uses.empty()) return {};
  parameters_.push_back(std::move(uses));
  return parameters_.size() - 1;
}

void Capturer::set_parameter(std::size_t number, const Block& block) {
  _cl_mem* const memory = block.memory();
  for (const Use& use : parameters_[number]) set_memory(parts_[use.part].commands[use.command], use.place, memory);
}

void Capturer::let_go(const Block& block) {
  _cl_mem* const memory = block.memory();
  used_.erase(memory);
  std::erase_if(memory_, [memory](const cl::Memory& kept) { return kept() == memory; });
  if (std::erase(reserved_, memory) > 0) device_.pool().release_reserved(memory);
}

}  // namespace crisol::runtime
