#include "dispatch/rehearsal.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_set>

#include "crisol/precision.h"
#include "dispatch/requests.h"
#include "runtime/capture/capture.h"

namespace crisol::dispatch {

namespace {

/// Hashes of keys. If two keys had the same hash, which is unlikely, a kernel would only be built later.
struct Rehearsed {
  static constexpr std::size_t most = 1 << 14;
  std::shared_mutex mutex;
  std::unordered_set<std::uint64_t> keys;
};

Rehearsed& all_rehearsed() {
  static auto& all = *new Rehearsed;  // Never destroyed, because threads may outlive static objects.
  return all;
}

}  // namespace

CallKey::CallKey(const char* op, const runtime::DeviceState& device) {
  hash_.add(reinterpret_cast<std::uintptr_t>(op));
  hash_.add(reinterpret_cast<std::uintptr_t>(&device));
  hash_.add(static_cast<std::uint64_t>(precision()));
  hash_.add(std::uint64_t{runtime::current_capturer() != nullptr});
  hash_.add(forced_variants());
}

bool is_rehearsed(const CallKey& key) {
  Rehearsed& all = all_rehearsed();
  const std::shared_lock lock(all.mutex);
  return all.keys.count(key.value()) > 0;
}

void note_rehearsed(const CallKey& key) {
  Rehearsed& all = all_rehearsed();
  const std::lock_guard lock(all.mutex);
  if (all.keys.size() >= Rehearsed::most) all.keys.clear();
  all.keys.insert(key.value());
}

void forget_rehearsed() noexcept {
  Rehearsed& all = all_rehearsed();
  const std::lock_guard lock(all.mutex);
  all.keys.clear();
}

}  // namespace crisol::dispatch
