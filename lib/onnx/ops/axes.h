// Inputs, axes and single numbers in the form in which ONNX gives them. Axes are -rank to rank - 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/ops/table.h"

namespace crisol::onnx {

using Numbers = std::vector<std::int64_t>;

/// The axis as a number from 0 to rank - 1.
int axis_of(std::int64_t axis, int rank);

/// Throws for an axis that does not exist, if the number of axes is known.
void check_axis(std::int64_t axis, std::optional<int> rank);

/// f(x, axis). If `merges`, the axes from `axis` on count as one, as in older versions of some ops.
template <class F>
Tensor over_axes(const Tensor& x, int axis, bool merges, F f) {
  if (!merges || axis == x.dim() - 1) return f(x, axis);
  return f(x.flatten(axis, -1), axis).reshape(x.shape());
}

/// Whether a node has input i, and the input has a value.
bool has_input(const graph::Data& in, std::size_t i);
/// Input i on the device. Undefined if the node leaves it out.
Tensor input_of(const graph::Data& in, std::size_t i, Device device);

/// The number of an input that holds one number. `what` names the input in messages.
std::int64_t number_of(const graph::Datum& input, const char* what);

/// The floating-point numbers of an input. Waits for the device.
std::vector<double> reals_of(const graph::Datum& input, Device device);

/// Axes that are an attribute in older versions of an op, and input 1 in newer versions. The op has no other input.
struct Axes {
  Axes(Call& call, std::int64_t input_since);
  /// The axes. Empty if none are given.
  Numbers of(const graph::Data& in) const;

  bool is_input;
  Numbers numbers;
};

}  // namespace crisol::onnx
