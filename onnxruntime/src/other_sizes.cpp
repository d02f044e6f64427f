#include "other_sizes.h"

#include <algorithm>

#include "graph_parts.h"

namespace crisol::ort {

namespace {

/// Sizes from 1 to a multiple of the largest one, for kernels that an op chooses for a range of sizes.
std::vector<std::int64_t> ladder(std::int64_t largest) {
  constexpr std::int64_t times = 8;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= times * largest; size += 1 + size / 4) sizes.push_back(size);
  return sizes;
}

/// Sizes with all remainders, for kernels that an op chooses by the remainder of a size, such as tiles of an image's
/// rows. If not all sizes are taken, distances vary, so that no remainder is left out.
std::vector<std::int64_t> steps(std::int64_t largest) {
  constexpr std::int64_t most = 128;
  const double distance = largest <= most ? 1 : static_cast<double>(largest / most) + 0.618;
  std::vector<std::int64_t> sizes;
  for (double size = 1; size <= static_cast<double>(largest); size += distance)
    sizes.push_back(static_cast<std::int64_t>(size));
  return sizes;
}

bool have_shapes(const NamedTensors& inputs, const std::vector<Shape>& shapes) {
  return std::equal(inputs.begin(), inputs.end(), shapes.begin(), shapes.end(),
                    [](const auto& input, const Shape& shape) { return input.second.shape() == shape; });
}

}  // namespace

void OtherSizes::add_input(const std::string& name, const OrtValueInfo* value) { axes_[name] = axes_of(value); }

OtherSizes::Sizes OtherSizes::sizes_of(const NamedTensors& inputs) const {
  Sizes sizes;
  for (const auto& [name, tensor] : inputs) {
    const std::vector<std::string>& axes = axes_.at(name);
    const std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    for (std::size_t i = 0; i < axes.size() && i < shape.size(); ++i)
      if (!axes[i].empty()) sizes.emplace(axes[i], shape[i]);
  }
  return sizes;
}

bool OtherSizes::prepare(const onnx::Model& model, const NamedTensors& inputs, const Sizes& sizes) const {
  constexpr std::uint64_t most_bytes = 1 << 26;  // Of inputs. Larger ones would take much memory within the model.
  NamedTensors others;
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : inputs) {
    const std::vector<std::string>& axes = axes_.at(name);
    std::vector<std::int64_t> sizes_of_input(tensor.shape().begin(), tensor.shape().end());
    for (std::size_t i = 0; i < axes.size() && i < sizes_of_input.size(); ++i)
      if (!axes[i].empty()) sizes_of_input[i] = sizes.at(axes[i]);
    const Shape shape(sizes_of_input);
    bytes += static_cast<std::uint64_t>(shape.numel()) * size_of(tensor.dtype());
    if (bytes > most_bytes) return false;
    others.emplace_back(name, shape == tensor.shape() ? tensor : zeros(shape, tensor.dtype(), tensor.device()));
  }
  try {
    return model.prepare(others) > 0;
  } catch (const std::exception&) {
    return false;  // The model does not take these sizes.
  }
}

void OtherSizes::after_run(const onnx::Model& model, const NamedTensors& inputs, Clock::time_point start) {
  if (is_done_) return;
  Sizes largest;
  Clock::duration budget{};
  {
    const std::lock_guard lock(mutex_);
    if (is_done_ || have_shapes(inputs, first_shapes_)) return;
    largest = sizes_of(inputs);
    is_done_ = largest.empty();
    if (is_done_) return;
    inputs.front().second.device().synchronize();
    const Clock::duration spent = Clock::now() - start;
    if (first_.empty()) {
      for (const auto& [name, tensor] : inputs) first_shapes_.push_back(tensor.shape());
      first_ = std::move(largest);
      spent_ = spent;
      return;
    }
    is_done_ = true;
    budget = spent_ + spent;
    for (auto& [axis, size] : largest) size = std::max(size, first_[axis]);
  }
  prepare_others(model, inputs, largest, budget);  // Without the lock: other threads may run meanwhile.
}

void OtherSizes::prepare_others(const onnx::Model& model, const NamedTensors& inputs, const Sizes& largest,
                                Clock::duration budget) const {
  const auto prepare_all = [&](const std::string& axis, const std::vector<std::int64_t>& own_sizes,
                               bool others_are_large) {
    for (const std::int64_t size : own_sizes) {
      if (budget <= Clock::duration::zero()) return;
      Sizes sizes = largest;
      for (auto& [other, value] : sizes)
        if (!others_are_large) value = 1;
      sizes[axis] = size;
      const auto start = Clock::now();
      if (!prepare(model, inputs, sizes)) budget -= Clock::now() - start;
    }
  };
  for (const bool others_are_large : {false, true})
    for (const auto& [axis, most] : largest) prepare_all(axis, steps(most), others_are_large);
  for (const bool others_are_large : {false, true})
    for (const auto& [axis, most] : largest) prepare_all(axis, ladder(most), others_are_large);
}

}  // namespace crisol::ort
