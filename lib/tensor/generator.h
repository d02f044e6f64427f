// The object that a Generator handle points to.
#pragma once

#include <mutex>

#include "crisol/random.h"

namespace crisol {

struct GeneratorImpl {
  explicit GeneratorImpl(Device device) : state(empty({2}, DType::i64, device)) {}

  /// Held during a draw and the advance of the counter.
  std::mutex mutex;
  const Tensor state;  ///< i64 (2), read as ulong: the seed and the counter.
};

/// A generator that starts with the seed. In a capture, each replay starts it again, so that each replay draws the same
/// numbers.
Generator started_anew(std::uint64_t seed, Device device);

/// Gets each generator from which this thread draws.
struct DrawObserver {
  virtual ~DrawObserver() = default;
  /// Called before the draw is queued.
  virtual void before_draw(const Generator& generator) = 0;
};

}  // namespace crisol
