#include "optim/flat_gradients.h"

#include "autograd/node.h"
#include "optim/arena.h"

namespace crisol::optim {

std::vector<Tensor> flat_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> parts;
  const Storage* last = nullptr;  // The last gradient of the last part, if this part is in an arena.
  for (const Tensor& p : parameters) {
    const Tensor gradient = p.grad();
    if (!gradient.defined()) continue;
    const Storage* storage = gradient.impl()->storage.get();
    const bool in_arena = autograd::slot_of(p)->gradient_buffer.defined();
    const bool follows = last != nullptr && in_arena && storage->block == last->block &&
                         storage->base >= last->base + last->bytes &&
                         storage->base - (last->base + last->bytes) < arena_alignment * sizeof(float);
    if (follows) {
      const std::uint64_t first = parts.back().impl()->storage->base;
      parts.back() = make_slice_of_arena(
          parts.back(), 0, {static_cast<std::int64_t>((storage->base + storage->bytes - first) / sizeof(float))});
    } else {
      parts.push_back(in_arena ? gradient.reshape({gradient.numel()}) : gradient);
    }
    last = in_arena ? storage : nullptr;
  }
  return parts;
}

}  // namespace crisol::optim
