// Makes choices from bytes. A fuzzer mutates the bytes, or a test draws them at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace crisol::fuzz {

class ByteReader {
 public:
  ByteReader(const std::uint8_t* bytes, std::size_t count) : next_(bytes), end_(bytes + count) {}

  bool done() const noexcept { return next_ == end_; }
  /// Returns 0 after the end.
  std::uint8_t byte() noexcept { return done() ? std::uint8_t{0} : *next_++; }
  /// Returns a number from 0 to count - 1.
  int below(int count) noexcept { return byte() % count; }
  bool flag() noexcept { return below(2) == 1; }

  /// Mostly a number from low to high, but sometimes a number that breaks arithmetic.
  std::int64_t number(int low, int high) noexcept {
    constexpr std::int64_t wild[] = {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::int64_t{1} << 62,
                                     std::int64_t{1} << 40,
                                     std::int64_t{1} << 32,
                                     (std::int64_t{1} << 32) + 1,
                                     std::int64_t{1} << 31,
                                     -(std::int64_t{1} << 32)};
    const int choice = byte();
    return choice >= 248 ? wild[choice - 248] : low + choice % (high - low + 1);
  }
  /// The same, as an int.
  int small_number(int low, int high) noexcept {
    const std::int64_t value = number(low, high);
    if (value > std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
    if (value < std::numeric_limits<int>::min()) return std::numeric_limits<int>::min();
    return static_cast<int>(value);
  }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace crisol::fuzz
