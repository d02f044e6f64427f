// Inputs, axes and single numbers as ONNX gives them. Axes go from -rank to rank - 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/ops/table.h"

namespace crisol::onnx {

using Numbers = std::vector<std::int64_t>;

/// An axis from 0 to rank - 1.
int axis_of(std::int64_t axis, int rank);

/// Refuses an axis that a known number of axes does not have.
void check_axis(std::int64_t axis, std::optional<int> rank);

/// Whether a node has input i, and it has a value.
bool has_input(const graph::Data& in, std::size_t i);
/// Input i on the device; undefined if the node leaves it out.
Tensor input_of(const graph::Data& in, std::size_t i, Device device);

/// The number of an input that holds one. `what` names it in refusals.
std::int64_t number_of(const graph::Datum& input, const char* what);

/// The floating-point numbers of an input. Waits for the device.
std::vector<double> reals_of(const graph::Datum& input, Device device);

/// Axes that are an attribute in older versions of an op, and input 1 since a version. The op has no other input.
struct Axes {
  Axes(Call& call, std::int64_t input_since);
  /// Empty if none are given.
  Numbers of(const graph::Data& in) const;

  bool is_input;
  Numbers numbers;
};

}  // namespace crisol::onnx
