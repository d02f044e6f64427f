#include "crisol/nn/parameter.h"

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "nn/clone_context.h"

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

void take_values(const Tensor& tensor, const Tensor& value) {
  if (value.shape() == tensor.shape() && value.dtype() == tensor.dtype() && value.device() == tensor.device()) {
    ops::copy_into(tensor, value.shares_storage_with(tensor) ? ops::clone(value) : value);  // They may overlap.
    return;
  }
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
  require(is_floating(value.dtype()) || !requires_grad(), "Parameter", "only f32 and f16 tensors have gradients, the ",
          "value is ", value.dtype());
  take_values(*this, value);
  return *this;
}

Buffer::Buffer(const Buffer& other) : Tensor(tensor_for_copy(other)), absent_name_(other.absent_name_) {}

Buffer& Buffer::operator=(const Tensor& value) {
  check_value("Buffer", value);
  if (!defined()) {
    check_present("Buffer", absent_name_);
    Tensor::operator=(value);
    return *this;
  }
  take_values(*this, value);
  return *this;
}

}  // namespace crisol::nn
