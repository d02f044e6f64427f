#include "ops/result.h"

#include <vector>

#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/overlap.h"

namespace crisol::ops {

namespace {

// Whether the kernels must write elsewhere because an input is the given tensor.
bool is_an_input(const char* op, const Tensor& into, std::span<const Tensor* const> inputs) {
  require(into.defined(), op, "out is undefined");
  require_no_overlap(op, into);
  bool found = false;
  for (const Tensor* const x : inputs) {
    if (x == nullptr || !x->defined()) continue;
    require_device(op, "the input", *x, "out", into);
    const Overlap overlap = overlap_of(*x, into);
    require(overlap != Overlap::partial, op, "an input of shape ", x->shape(), " and out of shape ", into.shape(),
            " share a part of their elements; out may be the input itself, or a tensor that shares nothing with it");
    found = found || overlap == Overlap::same;
  }
  return found;
}

void require_like(const char* op, const Tensor& into, const Shape& shape, DType dtype) {
  require_dtype(op, "out", into, dtype);
  require_shape(op, "out", into, shape);
}

bool suits(const Tensor& x, Result::Layout layout) {
  if (layout == Result::Layout::any || x.is_contiguous()) return true;
  return layout == Result::Layout::matrix && (x.strides()[x.dim() - 2] == 1 || x.strides()[x.dim() - 1] == 1);
}

}  // namespace

Result::Result(const char* op, const Tensor* into, const Shape& shape, DType dtype, Device device,
               std::span<const Tensor* const> inputs, Layout layout, std::optional<DType> computed) {
  const bool converts = computed.has_value() && *computed != dtype;
  bool is_input = false;
  if (into != nullptr) {
    is_input = is_an_input(op, *into, inputs);
    require_like(op, *into, shape, dtype);
    require(into->device() == device, op, "out is on ", into->device(), ", the result on ", device);
    if (!converts && !is_input && suits(*into, layout)) {
      place_ = *into;
      return;
    }
  }
  place_ = empty(shape, computed.value_or(dtype), device);
  if (into == nullptr && !converts) return;
  result_ = into != nullptr ? *into : empty(shape, dtype, device);
  copy_ = std::make_unique<const std::function<void()>>(prepare_copy(result_, place_));
}

Tensor Result::done() {
  if (!copy_) return std::move(place_);
  (*copy_)();
  return std::move(result_);
}

void require_apart(const char* op, const Tensor* a, const Tensor* b) {
  if (a == nullptr || b == nullptr || !a->defined() || !b->defined()) return;
  require(overlap_of(*a, *b) == Overlap::none, op, "two results, of the shapes ", a->shape(), " and ", b->shape(),
          ", share elements");
}

void require_writable(const char* op, GivenTensors into, std::initializer_list<const Tensor*> inputs) {
  for (const Tensor* const one : into) is_an_input(op, *one, {inputs.begin(), inputs.size()});
  for (std::size_t i = 0; i < into.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) require_apart(op, into.begin()[k], into.begin()[i]);
}

void copy_results(const char* op, GivenTensors into, std::span<const Tensor> results) {
  std::vector<std::function<void()>> copies;
  for (const Tensor* const one : into) {
    const Tensor& result = results[copies.size()];
    require_like(op, *one, result.shape(), result.dtype());
    copies.push_back(prepare_copy(*one, result));
  }
  for (const auto& copy : copies) copy();
}

}  // namespace crisol::ops
