// Hashes for lookup keys and checksums; not for security.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace crisol {

/// 2^64 divided by the golden ratio, rounded to an odd number. Its multiples are spread over all 64-bit numbers.
inline constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15u;

/// A 64-bit hash of text, which reads eight bytes at a time.
class Hash {
 public:
  explicit Hash(std::uint64_t seed = 0) noexcept : state_(seed ^ golden_ratio) {}

  void add(std::uint64_t word) noexcept {
    // The finaliser of MurmurHash3, applied to the running state.
    state_ = (state_ ^ word) * 0xff51afd7ed558ccdu;
    state_ ^= state_ >> 33;
    state_ *= 0xc4ceb9fe1a85ec53u;
    state_ ^= state_ >> 29;
  }

  void add(std::string_view text) noexcept {
    add(static_cast<std::uint64_t>(text.size()));
    while (text.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data(), 8);
      add(word);
      text.remove_prefix(8);
    }
    std::uint64_t word = 0;
    if (!text.empty()) std::memcpy(&word, text.data(), text.size());  // The pointer of an empty view may be null.
    add(word);
  }

  std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

inline std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) noexcept {
  Hash hash(seed);
  hash.add(text);
  return hash.value();
}

}  // namespace crisol
