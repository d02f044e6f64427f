// Random tensors from counter-based generators.
#pragma once

#include <cstdint>
#include <memory>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol {

struct GeneratorImpl;

/// All that a generator is: writing it down and setting it later repeats the numbers that follow.
struct GeneratorState {
  std::uint64_t seed = 0;     ///< The key.
  std::uint64_t counter = 0;  ///< Blocks of four words used so far.

  friend bool operator==(const GeneratorState& a, const GeneratorState& b) noexcept {
    return a.seed == b.seed && a.counter == b.counter;
  }
};

/// A source of random numbers on one device: Philox 4x32-10 (Salmon et al. 2011), keyed by the seed. Element i of a
/// draw comes from word i % 4 of block counter + i / 4, and a draw of n elements uses ceil(n / 4) blocks; so integers,
/// uniform and bernoulli numbers have the same bits on every device, and normal numbers differ by a few ulp at most.
/// Seed and counter live in device memory, so a captured sequence of launches draws new numbers each time it is run.
/// A handle: copies are the same generator. Several threads may draw from one; which gets which numbers is then open.
class CRISOL_API Generator {
 public:
  explicit Generator(std::uint64_t seed, Device device = Device());

  /// Where it draws.
  Device device() const;
  /// Starts over with another seed, counter 0.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }
  /// Waits for all queued work.
  GeneratorState state() const;
  /// Goes on from there.
  void set_state(const GeneratorState& state);

  /// Used by the library.
  GeneratorImpl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<GeneratorImpl> impl_;
};

/// This thread's generator on a device, made at first use: what the functions below draw from when none is given. Until
/// manual_seed, its seed is 67280421310721 plus the number of threads that had such a generator before this one.
CRISOL_API Generator& default_generator(Device device = Device());

/// Seeds this thread's default generators, on every device, also those not made yet.
CRISOL_API void manual_seed(std::uint64_t seed);

/// Uniform in [0, 1): multiples of 2^-24. f32.
CRISOL_API Tensor rand(const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor rand(const Shape& shape, Device device = Device());

/// Normal, mean 0, standard deviation 1, |z| < 6.8, by Box-Muller: within 4 ulp of the formula in exact arithmetic on
/// the same words. f32.
CRISOL_API Tensor randn(const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor randn(const Shape& shape, Device device = Device());

/// Integers in [low, high): low + floor(word (high - low) / 2^32), biased by less than (high - low) / 2^32. dtype i64
/// or i32. Refuses high <= low, a range above 2^32, and bounds that i32 cannot hold.
CRISOL_API Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Generator& generator,
                          DType dtype = DType::i64);
/// The same from the default generator.
CRISOL_API Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype = DType::i64,
                          Device device = Device());

/// 1 with probability p, else 0: a uniform number is below p, which is rounded up to a multiple of 2^-24. f32. Refuses
/// p outside [0, 1].
CRISOL_API Tensor bernoulli(double p, const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor bernoulli(double p, const Shape& shape, Device device = Device());

/// A random order of 0 … n-1, i64 (n). Shuffled on the host, so it waits: from i = n-1 down to 1, element i is
/// exchanged with element floor(word (i + 1) / 2^32), the words of the draw taken in order. Refuses n < 0 and n > 2^32.
CRISOL_API Tensor randperm(std::int64_t n, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor randperm(std::int64_t n, Device device = Device());

/// Overwrites an f32 tensor with uniform numbers low + (high - low) u in [low, high), u as rand gives. Refuses
/// low > high and bounds that are not finite; low = high gives that value.
CRISOL_API Tensor& uniform_(Tensor& t, double low, double high, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor& uniform_(Tensor& t, double low = 0, double high = 1);

/// Overwrites an f32 tensor with normal numbers mean + deviation z, z as randn gives. Refuses a negative deviation.
CRISOL_API Tensor& normal_(Tensor& t, double mean, double deviation, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor& normal_(Tensor& t, double mean = 0, double deviation = 1);

}  // namespace crisol
