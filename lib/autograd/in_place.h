// Ops in place: the record of a write to a tensor.
//
//     Tensor& Tensor::fill_(const Scalar& value) {
//       const bool recorded = autograd::records_write("fill_", *this, false);
//       …
//       if (recorded) autograd::record_write("fill_", *this, y);
//
// After a recorded write the tensor is the result of the op. If it is a view, the tensor that it is a view of becomes
// the result of an op too: its old elements, with the new ones at the place of the view. All other views of this tensor
// then get new places in the graph when they are used (slot_of).
#pragma once

#include <utility>
#include <vector>

#include "base/thread_context.h"
#include "crisol/tensor.h"
#include "tensor/impl.h"

namespace crisol::autograd {

/// Whether the graph must know of a write to x: ops are recorded, and x or a value that is written wants a gradient.
/// Throws, before anything is written, for a leaf that wants a gradient, for a view of such a leaf, and for a view that
/// was made under NoGrad if the graph would have to know. Tells a Recorder of the write.
bool records_write(const char* op, const Tensor& x, bool value_wants_gradient);

/// While it lives, functions that save elements of this tensor for backward save a copy, because an op in place
/// overwrites these elements.
class Overwrites {
 public:
  explicit Overwrites(const Tensor& x) noexcept
      : before_(std::exchange(thread_context().overwritten, x.impl()->storage.get())) {}
  ~Overwrites() { thread_context().overwritten = before_; }
  Overwrites(const Overwrites&) = delete;
  Overwrites& operator=(const Overwrites&) = delete;

 private:
  const void* const before_;
};

/// Gives x the place of `result` in the graph. x has the elements of `result` already.
void record_write(const char* op, const Tensor& x, const Tensor& result);

/// Copies the elements of `result` to x and calls record_write. Both have the same shape.
void write_result(const char* op, const Tensor& x, const Tensor& result);

/// Gives a view its place in the graph after a recorded write to the tensor that it is a view of.
void follow_writes(const Tensor& view);

/// The sum over the axes along which a tensor of this shape was broadcast to the shape of dy, with a gradient.
Tensor sum_to_shape(const Tensor& dy, const Shape& shape);

/// Notes that a result of a function is a view of an input, if they share their storage.
void note_view(const Tensor& result, const std::vector<Tensor>& inputs);

/// A view of x with a place in the graph.
Tensor view_in_graph(const Tensor& x, const Shape& shape, const Shape& strides, std::int64_t offset);

}  // namespace crisol::autograd
