#include "crisol/nn/parameter.h"

#include "autograd/call.h"
#include "autograd/in_place.h"
#include "autograd/node.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/nn/identity.h"
#include "crisol/ops/copy.h"
#include "nn/clone_context.h"
#include "runtime/capture/capture.h"

namespace crisol::nn {

namespace {

void check_value(const char* kind, const Tensor& value) {
  require(value.defined(), kind, "an undefined tensor cannot be assigned");
  require(value.is_leaf(), kind, "the value of shape ", value.shape(),
          " is the result of a recorded op; detach() it first");
}

void check_present(const char* kind, const std::string& absent_name) {
  require(absent_name.empty(), kind, "the layer was made without ", absent_name, "; make it with ", absent_name);
}

bool fits(const Tensor& value, const Tensor& tensor) {
  return value.shape() == tensor.shape() && value.dtype() == tensor.dtype() && value.device() == tensor.device();
}

void copy_values(const Tensor& tensor, const Tensor& value) {
  ops::copy_into(tensor, value.shares_storage_with(tensor) ? ops::clone(value) : value);  // Both may overlap in memory.
}

void take_new_memory(const Tensor& tensor, const Tensor& value) {
  const Tensor memory = ops::clone(value);
  if (autograd::Slot* slot = autograd::slot_of(tensor)) {
    slot->gradient = Tensor();
    slot->gradient_buffer = Tensor();
  }
  autograd::replace_leaf(tensor, memory);
}

}  // namespace

Parameter::Parameter(Tensor value, bool requires_grad) : Tensor(std::move(value)) {
  if (defined()) requires_grad_(requires_grad);
}

Parameter::Parameter(const Parameter& other) : Tensor(tensor_for_copy(other)), absent_name_(other.absent_name_) {}

Parameter& Parameter::operator=(const Parameter& other) {
  check_value("Parameter", other);
  if (!defined()) {
    check_present("Parameter", absent_name_);
    Tensor::operator=(other);
    return *this;
  }
  require(shape() == other.shape(), "Parameter", "a parameter of shape ", shape(), " cannot be tied to one of shape ",
          other.shape());
  autograd::tie(*this, other);
  return *this;
}

Parameter& Parameter::operator=(const Tensor& value) {
  check_value("Parameter", value);
  if (!defined()) {
    check_present("Parameter", absent_name_);
    Tensor::operator=(Parameter(value));
    return *this;
  }
  require(is_floating(value.dtype()) || !requires_grad(), "Parameter", "only tensors of ", TypesThat{is_floating},
          " have gradients, the ", "value is ", value.dtype());
  fits(value, *this) ? copy_values(*this, value) : take_new_memory(*this, value);
  return *this;
}

const void* identity_of(const Tensor& parameter) noexcept { return autograd::identity_of(parameter); }

void replace_elements(const Tensor& x, const Tensor& value) {
  constexpr const char* op = "replace_elements";
  require(x.defined() && value.defined(), op, "a tensor is undefined");
  require(fits(value, x), op, "the value is ", value.dtype(), ' ', value.shape(), " on ", value.device(), ", ",
          x.dtype(), ' ', x.shape(), " on ", x.device(), " expected");
  const Tensor alias = x.detach(), kept = value.shares_storage_with(x) ? ops::clone(value) : value.detach();
  // The old elements move, so that x keeps its place in an optimiser's memory.
  autograd::replace_leaf(x, can_move_elements(x) ? take_place(alias) : empty(x.shape(), x.dtype(), x.device()));
  x.impl()->view_of = nullptr;
  x.impl()->unrecorded_view_of.reset();
  ops::copy_into(x.detach(), kept);
}

void take_elements(const Buffer& x, const Tensor& value) {
  check_value("Buffer", value);
  const Tensor whole = whole_of(x), elements = value.detach();
  for (const Tensor& handle : {whole, static_cast<const Tensor&>(x)}) {
    autograd::replace_leaf(handle, elements);
    handle.impl()->view_of = nullptr;
    handle.impl()->unrecorded_view_of.reset();
  }
}

Buffer::Buffer(const Buffer& other) : Tensor(tensor_for_copy(other)), absent_name_(other.absent_name_) {}

Buffer& Buffer::operator=(const Tensor& value) {
  const bool is_same = defined() && value.defined() && fits(value, *this) && value.strides() == strides() &&
                       value.impl()->storage == impl()->storage && value.offset() == offset();
  if (is_same) return *this;
  check_value("Buffer", value);
  require(!grad_enabled() || !value.requires_grad(), "Buffer", "the value of shape ", value.shape(),
          " wants a gradient, and a buffer has none; detach() it first");
  if (!defined()) {
    check_present("Buffer", absent_name_);
    Tensor::operator=(value);
    return *this;
  }
  const auto take = [&] {
    if (runtime::current_capturer() != nullptr && fits(value, *this)) return copy_values(*this, value);
    take_new_memory(*this, value);
    impl()->autograd = nullptr;
    impl()->view_of = nullptr;
    impl()->unrecorded_view_of.reset();
  };
  const auto write = [&] { copy_from(value.shares_storage_with(*this) ? value.clone() : value); };
  fits(value, *this) ? autograd::noted_in_parts(take, write) : take();
  return *this;
}

}  // namespace crisol::nn

namespace crisol {

Tensor::Tensor(const nn::Buffer& buffer)
    : Tensor(buffer.defined()
                 ? autograd::view_in_graph(buffer, buffer.shape(), buffer.strides(), buffer.offset()).impl()
                 : nullptr) {}

Tensor& Tensor::operator=(const nn::Buffer& buffer) & { return *this = Tensor(buffer); }

}  // namespace crisol
