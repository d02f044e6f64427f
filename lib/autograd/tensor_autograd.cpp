// The members of Tensor that deal with gradients.
#include "autograd/call.h"
#include "autograd/in_place.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "ops/collapse.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;

bool Tensor::requires_grad() const noexcept {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot != nullptr && (slot->wanted || slot->node != nullptr);
}

bool Tensor::is_leaf() const noexcept {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot == nullptr || slot->node == nullptr;
}

Tensor& Tensor::requires_grad_(bool wanted) {
  require(is_floating(dtype()) || !wanted, "requires_grad_", "only tensors of ", TypesThat{is_floating},
          " have gradients, this one is ", dtype());
  require(is_leaf(), "requires_grad_", "the tensor is the result of a recorded op; detach() it first");
  autograd::ensure_slot(*this).wanted = wanted;
  return *this;
}

Tensor Tensor::grad() const {
  const autograd::Slot* slot = autograd::slot_of(*this);
  return slot == nullptr ? Tensor() : slot->gradient;
}

Tensor Tensor::detach() const { return make_alias(*this); }

Tensor& Tensor::fill_(const Scalar& value) {
  constexpr const char* op = "fill_";
  const bool is_noted = autograd::noted_write(
      op, *this, [&] { return full({}, value, dtype(), device()).expand(shape()); }, [&] { fill_(value); });
  if (is_noted) return *this;
  const bool recorded = autograd::records_write(op, *this, false);
  ops::fill_into(*this, value);
  if (recorded) {
    const Tensor y = make_alias(*this);
    autograd::observe(op, {*this}, y, autograd::unnoted);
    autograd::record_write(op, *this,
                           autograd::record(op, y, {*this}, [](const Tensor& dy) { return zeros_like(dy); }));
  }
  return *this;
}

void Tensor::copy_from(const Tensor& source) {
  constexpr const char* op = "copy_from";
  require(source.defined(), op, "the source is undefined");
  require(ops::broadcast_shape(op, shape(), source.shape()) == shape(), op, "shape ", source.shape(),
          " does not broadcast to ", shape());
  const bool is_noted = autograd::noted_write(
      op, *this, [&] { return source.to(device()).to(dtype()).expand(shape()); }, [&] { copy_from(source); });
  if (is_noted) return;
  if (!autograd::records_write(op, *this, source.requires_grad())) return ops::copy_into(*this, source);
  const Tensor value = source.to(device()).to(dtype());
  ops::copy_into(*this, value);
  const auto backward = [shape = value.shape()](const Tensor& dy, Needs needs) {
    return Gradients{needs[0] ? zeros_like(dy) : Tensor(), needs[1] ? autograd::sum_to_shape(dy, shape) : Tensor()};
  };
  const Tensor y = make_alias(*this);
  autograd::observe(op, {*this, value}, y, autograd::unnoted);
  autograd::record_write(op, *this, autograd::record(op, y, {*this, value}, backward));
}

}  // namespace crisol
