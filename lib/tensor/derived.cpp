#include "base/thread_context.h"
#include "tensor/impl.h"

namespace crisol {

DerivedData::Entry* DerivedData::entry_of(const DerivedKey& key, std::uint64_t version) {
  if (version_ != version) {
    entries_.clear();
    version_ = version;
  }
  for (Entry& entry : entries_)
    if (entry.key == key) return &entry;
  return nullptr;
}

DerivedData::Found DerivedData::find(const DerivedKey& key, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  if (const Entry* entry = entry_of(key, version)) return {entry->data, true};
  entries_.push_back({key, nullptr});
  holds_.store(true, std::memory_order_relaxed);
  return {nullptr, thread_context().program.is_made};
}

std::shared_ptr<void> DerivedData::keep(const DerivedKey& key, std::uint64_t version, std::shared_ptr<void> data) {
  const std::lock_guard lock(mutex_);
  Entry* entry = entry_of(key, version);
  if (entry == nullptr) return data;  // The storage was written meanwhile, so only this call can use the data.
  if (entry->data == nullptr) entry->data = std::move(data);
  return entry->data;
}

void DerivedData::drop() noexcept {
  if (!holds_.load(std::memory_order_relaxed)) return;
  std::vector<Entry> entries;  // Destroyed after the lock is released, because freeing a block locks its pool.
  const std::lock_guard lock(mutex_);
  entries.swap(entries_);
  holds_.store(false, std::memory_order_relaxed);
}

}  // namespace crisol
