// The key between the brackets of x[key], read from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <string>
#include <vector>

#include "crisol/indexing.h"
#include "crisol/tensor.h"

namespace crisol::python {

/// The entries of a key, as Tensor's operator[] takes them.
struct Key {
  std::vector<TensorIndex> entries;
  std::deque<Tensor> tensors;  ///< The tensors to which the entries refer.
  int used_axes = 0;           ///< The number of axes of x that entries use.
  bool new_front = false;      ///< Whether x first gets a new axis of size 1. A mask of rank 0 selects its element or
                               /// not.

  /// x, or x with the new axis.
  Tensor source(const Tensor& x) const { return new_front ? x.unsqueeze(0) : x; }
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
