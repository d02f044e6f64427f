#include "optim/flat_parts.h"

#include "autograd/node.h"
#include "optim/arena_layout.h"

namespace crisol::optim {

namespace {

/// Parts for all defined tensors. Neighbours in an arena become one part. `tensors[i]` belongs to `parameters[i]`.
std::vector<FlatPart> join_neighbours(const std::vector<Tensor>& parameters, const std::vector<Tensor>& tensors) {
  std::vector<FlatPart> parts;
  const Storage* last = nullptr;  // The last tensor of the last part, if this part is in an arena.
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (!tensor.defined()) {
      last = nullptr;
      continue;
    }
    const autograd::Slot* slot = autograd::slot_of(parameters[i]);
    const Storage* storage = tensor.impl()->storage.get();
    const bool in_arena = slot != nullptr && slot->gradient_buffer.defined() && tensor.is_contiguous() &&
                          storage->bytes == static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    const bool follows = last != nullptr && in_arena && storage->block == last->block &&
                         storage->base >= last->base + last->bytes &&
                         storage->base - (last->base + last->bytes) < ArenaLayout::alignment * size_of(tensor.dtype());
    if (follows) {
      FlatPart& part = parts.back();
      const std::uint64_t first = part.elements.impl()->storage->base;
      part.elements = make_slice_of_arena(
          part.elements, 0,
          {static_cast<std::int64_t>((storage->base + storage->bytes - first) / size_of(tensor.dtype()))});
      part.last = i + 1;
    } else {
      parts.push_back({in_arena ? tensor.reshape({tensor.numel()}) : tensor, i, i + 1});
    }
    last = in_arena ? storage : nullptr;
  }
  return parts;
}

}  // namespace

std::vector<FlatPart> flat_values(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> values;
  for (const Tensor& p : parameters) values.push_back(p.detach());
  return join_neighbours(parameters, values);
}

std::vector<Tensor> flat_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients, parts;
  for (const Tensor& p : parameters) gradients.push_back(p.grad());
  for (const FlatPart& part : join_neighbours(parameters, gradients)) parts.push_back(part.elements);
  return parts;
}

}  // namespace crisol::optim
