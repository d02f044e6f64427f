// Drawing from a generator.
#pragma once

#include <cstdint>

#include "base/thread_context.h"
#include "runtime/dry_run.h"
#include "runtime/launch.h"
#include "tensor/generator.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// The number of blocks of four words that are needed for `elements` words.
inline std::int64_t random_blocks(std::int64_t elements) { return elements / 4 + (elements % 4 != 0); }

/// Does what multinomial() does. Kernels note rows from which nothing can be drawn with this fault_number. With 0 they
/// are not noted.
Tensor categories(const Tensor& weights, std::int64_t num_samples, bool replacement, const Generator& generator,
                  std::int32_t number);

/// Adds `blocks` to the generator's counter, in the order of the queue.
inline void advance(runtime::BuiltKernel& kernel, const Generator& generator, std::int64_t blocks) {
  const Tensor& state = generator.impl().state;
  runtime::launch(state_of(state), kernel, {{1}, {1}}, out(state), static_cast<std::uint64_t>(blocks));
}

inline runtime::BuiltKernel& advance_kernel(const Generator& generator) {
  return runtime::resolve(state_of(generator.impl().state), {"random/random_uniform.cl", "random_advance"});
}

/// Queues `kernel`, with one work-item for each block of four elements and the arguments (generator state, args…). Then
/// advances the generator.
template <class... Args>
void draw(const Generator& generator, runtime::BuiltKernel& kernel, std::int64_t elements, const Args&... args) {
  GeneratorImpl& impl = generator.impl();
  runtime::DeviceState& device = state_of(impl.state);
  runtime::BuiltKernel& next = advance_kernel(generator);
  const std::int64_t blocks = random_blocks(elements);
  if (blocks == 0 || runtime::in_dry_run()) return;
  if (DrawObserver* observer = thread_context().saving.draw_observer) observer->before_draw(generator);
  const std::lock_guard lock(impl.mutex);
  runtime::launch(device, kernel, runtime::flat_range(device, blocks), in(impl.state), args...);
  advance(next, generator, blocks);
}

/// Converts a probability p in [0, 1] to a bound for 24 random bits. The condition floor(word / 2^8) < bound has the
/// probability p, rounded up to a multiple of 2^-24.
std::uint32_t probability_bound(double p);

}  // namespace crisol::ops
