// Ops in place: the record of a write to a tensor.
//
//     Tensor& Tensor::fill_(const Scalar& value) {
//       const bool recorded = autograd::records_write("fill_", *this, false);
//       …
//       if (recorded) autograd::record_write("fill_", *this, y);
//
// After a recorded write the tensor is the result of the op. If it is a view, its base (the tensor that it is a view
// of) becomes the result of an op too: the base's old elements, with the new elements at the place of the view. All
// other views of the base get new places in the graph when they are used (slot_of).
#pragma once

#include <utility>
#include <vector>

#include "base/thread_context.h"
#include "crisol/tensor.h"
#include "tensor/impl.h"
#include "tensor/trace.h"

namespace crisol::autograd {

/// Throws if the tensor that an op writes is undefined.
void require_written(const char* op, const Tensor& x);

/// Whether a write to x must be recorded: ops are recorded, and x or a written value requires a gradient. Throws,
/// before anything is written, for a leaf that requires a gradient and for a view of such a leaf. Also throws for a
/// view that was made under NoGrad, if the write would have to be recorded.
bool records_write(const char* op, const Tensor& x, bool value_wants_gradient);

/// Does nothing and returns false, unless the thread traces. In a trace, calls write(), which replaces the elements of
/// x, and notes the new elements: result() computes them, with the shape and dtype of x.
template <class Result, class Write>
bool noted_write(const char* op, const Tensor& x, const Result& result, const Write& write) {
  Trace* const trace = current_trace();
  if (trace == nullptr) return false;
  require_written(op, x);
  trace->writes(op, x);
  trace->replaces(x, result());
  {
    const PauseTrace pause;
    write();
  }
  trace->wrote(x);
  return true;
}

/// While it lives, functions that save this tensor's elements for backward save a copy, because an op in place
/// overwrites the elements.
class Overwrites {
 public:
  explicit Overwrites(const Tensor& x) noexcept
      : before_(std::exchange(thread_context().saving.overwritten, x.impl()->storage.get())) {}
  ~Overwrites() { thread_context().saving.overwritten = before_; }
  Overwrites(const Overwrites&) = delete;
  Overwrites& operator=(const Overwrites&) = delete;

 private:
  const void* const before_;
};

/// Gives x the place of `result` in the graph. x already has the elements of `result`.
void record_write(const char* op, const Tensor& x, const Tensor& result);

/// Copies the elements of `result` to x and calls record_write. Both have the same shape.
void write_result(const char* op, const Tensor& x, const Tensor& result);

/// Gives a view a new place in the graph, after a recorded write to its base.
void follow_writes(const Tensor& view);

/// Sums dy over the axes along which a tensor of this shape was broadcast. The op has a gradient.
Tensor sum_to_shape(const Tensor& dy, const Shape& shape);

/// Notes that a result of a function is a view of an input, if they share their storage.
void note_view(const Tensor& result, const std::vector<Tensor>& inputs);

/// A view of x with a place in the graph.
Tensor view_in_graph(const Tensor& x, const Shape& shape, const Shape& strides, std::int64_t offset);

}  // namespace crisol::autograd
