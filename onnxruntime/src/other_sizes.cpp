#include "other_sizes.h"

#include <algorithm>

#include "graph_parts.h"

namespace crisol::ort {

namespace {

/// Sizes from 1 to twice the largest one: dense enough to meet each kernel that an op chooses for a range of sizes.
std::vector<std::int64_t> ladder(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= 2 * largest; size += 1 + size / 4) sizes.push_back(size);
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

void OtherSizes::run(const onnx::Model& model, const NamedTensors& inputs, const Sizes& sizes) const {
  NamedTensors others;
  for (const auto& [name, tensor] : inputs) {
    const std::vector<std::string>& axes = axes_.at(name);
    std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    for (std::size_t i = 0; i < axes.size() && i < shape.size(); ++i)
      if (!axes[i].empty()) shape[i] = sizes.at(axes[i]);
    const bool is_same = std::equal(shape.begin(), shape.end(), tensor.shape().begin());
    others.emplace_back(name, is_same ? tensor : zeros(Shape(shape), tensor.dtype(), tensor.device()));
  }
  try {
    model(others);
    others.front().second.device().synchronize();
  } catch (const std::exception&) {
    // The model does not take these sizes.
  }
}

void OtherSizes::after_run(const onnx::Model& model, const NamedTensors& inputs, Clock::time_point start) {
  if (is_done_) return;
  Sizes largest = sizes_of(inputs);
  Clock::duration budget{};
  {
    const std::lock_guard lock(mutex_);
    is_done_ = is_done_ || largest.empty();
    if (is_done_ || largest == first_) return;
    inputs.front().second.device().synchronize();
    const Clock::duration spent = Clock::now() - start;
    if (first_.empty()) {
      first_ = std::move(largest);
      spent_ = spent;
      return;
    }
    is_done_ = true;
    budget = spent_ + spent;
    for (auto& [axis, size] : largest) size = std::max(size, first_[axis]);
  }
  run_others(model, inputs, largest, Clock::now() + budget);  // Without the lock: other threads may run meanwhile.
}

void OtherSizes::run_others(const onnx::Model& model, const NamedTensors& inputs, const Sizes& largest,
                            Clock::time_point end) const {
  const onnx::Model own(model);  // The programs of the other sizes go with it.
  const auto run_all = [&](const std::string& axis, const std::vector<std::int64_t>& own_sizes, bool others_are_large) {
    for (const std::int64_t size : own_sizes) {
      if (Clock::now() > end) return;
      Sizes sizes = largest;
      for (auto& [other, value] : sizes)
        if (!others_are_large) value = 1;
      sizes[axis] = size;
      run(own, inputs, sizes);
    }
  };
  // Short runs come first: a kernel compiles as long for a small tensor as for a large one.
  for (const auto& [axis, most] : largest) run_all(axis, steps(most), false);
  for (const bool others_are_large : {false, true})
    for (const auto& [axis, most] : largest) run_all(axis, ladder(most), others_are_large);
}

}  // namespace crisol::ort
