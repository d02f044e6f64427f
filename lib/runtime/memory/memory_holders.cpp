#include "runtime/memory/memory_holders.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "base/forked.h"
#include "base/text.h"
#include "runtime/device/device_state.h"
#include "runtime/op_scope.h"

namespace crisol::runtime {

HeldBlock::~HeldBlock() {
  if (held_ && !system::forked()) device().holders().remove(*this);
}

void HeldBlock::hold(const BlockContents& contents) noexcept {
  set_op(current_op());
  contents_ = contents;
  held_ = true;
  device().holders().add(*this);
}

BlockPtr allocate(DeviceState& device, std::uint64_t bytes) {
  BlockPtr block = device.pool().allocate(bytes);
  static_cast<HeldBlock&>(*block).hold({});
  return block;
}

BlockPtr allocate(DeviceState& device, std::uint64_t bytes, const Shape& shape, DType dtype) {
  BlockPtr block = device.pool().allocate(bytes);
  static_cast<HeldBlock&>(*block).hold({shape, dtype, true});
  return block;
}

void MemoryHolders::add(HeldBlock& block) noexcept {
  const std::lock_guard lock(mutex_);
  block.after_ = first_;
  if (first_ != nullptr) first_->before_ = &block;
  first_ = &block;
}

void MemoryHolders::remove(HeldBlock& block) noexcept {
  const std::lock_guard lock(mutex_);
  (block.before_ == nullptr ? first_ : block.before_->after_) = block.after_;
  if (block.after_ != nullptr) block.after_->before_ = block.before_;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return concat(bytes, " bytes");
  double amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  char text[40];
  std::snprintf(text, sizeof text, amount < 10 ? "%.1f %s" : "%.0f %s", amount, unit);
  return text;
}

std::string contents_text(const Block& block) {
  if (block.pooled()) {
    const BlockContents& contents = static_cast<const HeldBlock&>(block).contents();
    if (contents.is_tensor) return concat(contents.shape, ' ', contents.dtype);
  }
  return bytes_text(block.bytes());
}

std::string MemoryHolders::largest() const {
  constexpr std::size_t most = 5;
  using Group = std::pair<std::string, std::uint64_t>;  // The name, and the bytes of a block.
  std::map<Group, std::uint64_t> counts;
  {
    const std::lock_guard lock(mutex_);
    for (const HeldBlock* block = first_; block != nullptr; block = block->after_) {
      const std::string op = block->op() == nullptr ? "unused" : block->op();
      const std::string what = block->contents().is_tensor ? contents_text(*block) : "workspace";
      ++counts[{concat(op, ' ', what), block->bytes()}];
    }
  }
  std::vector<std::pair<Group, std::uint64_t>> groups(counts.begin(), counts.end());
  const auto bytes_of = [](const auto& group) { return group.first.second * group.second; };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return bytes_of(a) > bytes_of(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i) {
    const auto& [group, count] = groups[i];
    text += concat(i == 0 ? "" : "; ", group.first, ": ", count, " × ", bytes_text(group.second));
  }
  if (groups.size() > most) text += concat("; and ", groups.size() - most, " more");
  return text;
}

}  // namespace crisol::runtime
