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

/// The full state of a generator. A generator with a saved state repeats the numbers that followed it.
struct GeneratorState {
  std::uint64_t seed = 0;     ///< The key.
  std::uint64_t counter = 0;  ///< Number of used blocks. A block has four words of 32 bits.

  friend bool operator==(const GeneratorState& a, const GeneratorState& b) noexcept {
    return a.seed == b.seed && a.counter == b.counter;
  }
};

/// A source of random numbers on one device: Philox 4x32-10 (Salmon et al. 2011). The seed is its key. A draw is one
/// call that makes n numbers. Its element i comes from word i % 4 of block counter + i / 4, and it uses ceil(n / 4)
/// blocks.
///
/// Integers, uniform and bernoulli numbers have the same bits on every device. Normal numbers differ by a few ulp at
/// most. Seed and counter are in device memory, so each replay of a captured graph draws new numbers. Copies of this
/// handle are the same generator. Several threads may draw from one generator, but the order of their draws is then
/// undefined.
class CRISOL_API Generator {
 public:
  explicit Generator(std::uint64_t seed, Device device = Device());

  /// The device of the generator.
  Device device() const;
  /// Restarts with another seed and counter 0.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }
  /// The state now. Waits for all queued work.
  GeneratorState state() const;
  /// Continues from a state.
  void set_state(const GeneratorState& state);

  /// Used by the library.
  GeneratorImpl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<GeneratorImpl> impl_;
};

/// This thread's generator on a device. It is made at first use. The functions below use it if no generator is given.
/// Before manual_seed, its seed is 67280421310721 plus the number of threads that got such a generator earlier.
CRISOL_API Generator& default_generator(Device device = Device());

/// Seeds this thread's default generators on all devices. This includes generators that are made later.
CRISOL_API void manual_seed(std::uint64_t seed);

/// Uniform numbers in [0, 1) of default_dtype(). In f32 and f64 they are multiples of 2^-24.
CRISOL_API Tensor rand(const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor rand(const Shape& shape, Device device = Device());

/// Normal numbers of default_dtype() with mean 0 and standard deviation 1, by the Box-Muller method in f32. |z| < 6.8.
/// The error against the exact value of the formula is at most 4 ulp of f32.
CRISOL_API Tensor randn(const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor randn(const Shape& shape, Device device = Device());

/// Integers in [low, high), i64 or i32: low + floor(word (high - low) / 2^32). Their bias is below (high - low) / 2^32.
/// Refuses high <= low, a range above 2^32, and for i32 bounds that i32 cannot hold.
CRISOL_API Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Generator& generator,
                          DType dtype = DType::i64);
/// The same from the default generator.
CRISOL_API Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype = DType::i64,
                          Device device = Device());

/// 1 with probability p, else 0, of default_dtype(). An element is 1 if the uniform number of rand is below p. p is
/// rounded up to a multiple of 2^-24. Refuses p outside [0, 1].
CRISOL_API Tensor bernoulli(double p, const Shape& shape, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor bernoulli(double p, const Shape& shape, Device device = Device());

/// A random permutation of 0 … n-1, as i64 (n). The host shuffles, so the call waits. From i = n-1 down to 1, it
/// exchanges element i with element floor(word (i + 1) / 2^32), and takes the words of the draw in order. Refuses n < 0
/// and n > 2^32.
CRISOL_API Tensor randperm(std::int64_t n, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor randperm(std::int64_t n, Device device = Device());

/// Overwrites a tensor of floating-point numbers with uniform numbers in [low, high): low + (high - low) u, with u from
/// rand. If low = high, all elements get this value. The bounds and the numbers are f32, also in a tensor of f64. In
/// halves they are rounded, and stay below high. Refuses low > high, and bounds that are not finite.
CRISOL_API Tensor& uniform_(Tensor& t, double low, double high, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor& uniform_(Tensor& t, double low = 0, double high = 1);

/// Overwrites a tensor of floating-point numbers with normal numbers, which are computed in f32: mean + deviation z,
/// with z from randn. Refuses a negative deviation.
CRISOL_API Tensor& normal_(Tensor& t, double mean, double deviation, const Generator& generator);
/// The same from the default generator.
CRISOL_API Tensor& normal_(Tensor& t, double mean = 0, double deviation = 1);

}  // namespace crisol
