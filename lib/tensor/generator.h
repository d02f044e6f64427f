// What a Generator handle points to.
#pragma once

#include <mutex>

#include "crisol/random.h"

namespace crisol {

struct GeneratorImpl {
  explicit GeneratorImpl(Device device) : state(empty({2}, DType::i64, device)) {}

  /// A draw and the advance of the counter are one step.
  std::mutex mutex;
  const Tensor state;  ///< i64 (2), read as ulong: seed, counter.
};

}  // namespace crisol
