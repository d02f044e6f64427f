#include "base/interned_text.h"

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace crisol {

namespace {

class Texts {
 public:
  Texts() { add(""); }

  std::uint32_t number_of(std::string_view text) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    const auto found = numbers_.find(text);  // Another thread may have added the text.
    return found != numbers_.end() ? found->second : add(text);
  }

  const std::string& text_of(std::uint32_t number) {
    const std::shared_lock lock(mutex_);
    return texts_.at(number);
  }

 private:
  std::uint32_t add(std::string_view text) {
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }

  std::shared_mutex mutex_;
  std::deque<std::string> texts_;  // A deque, because texts must not change their address.
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

Texts& texts() {
  static auto& all = *new Texts;  // Never deleted, because threads may outlive static objects.
  return all;
}

}  // namespace

std::uint32_t intern(std::string_view text) { return texts().number_of(text); }

const std::string& interned(std::uint32_t number) { return texts().text_of(number); }

}  // namespace crisol
