// The key between the brackets of x[key], read from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "crisol/indexing.h"
#include "crisol/tensor.h"

namespace crisol::python {

/// A tensor of positions along an axis of the part that the other entries select.
struct Positions {
  int axis;
  Tensor index;
};

/// What to take of a tensor.
struct Key {
  std::vector<TensorIndex> basic;    ///< The entries of x, in which the tensors' axes are whole.
  std::vector<Positions> positions;  ///< The tensors of whole numbers, in the order of their axes.
  bool together = true;              ///< No other axis lies between the axes of the tensors.
  bool new_front = false;            ///< x first gets an axis of size 1, which a mask of rank 0 selects or not.
  std::optional<Tensor> whole_mask;  ///< The key is one mask in the shape of x.

  /// x, or x with the new axis.
  Tensor source(const Tensor& x) const { return new_front ? x.unsqueeze(0) : x; }
  /// The same for a whole mask, with the positions of its true elements.
  Key with_positions(const Tensor& x) const;
};

/// Reads a key. Raises IndexError for a position outside its axis, too many entries, and objects that are no entries.
Key read_key(const Tensor& x, nanobind::handle key);

/// Raises IndexError if a position lies outside its axis.
void check_position(std::int64_t position, std::int64_t size, int axis);

/// Raises IndexError.
[[noreturn]] void raise_key(const std::string& text);

/// The shape to which both shapes broadcast.
Shape broadcast_of(const Shape& a, const Shape& b);

}  // namespace crisol::python
