// What the C handles hold, and how exceptions become statuses.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/text.h"
#include "crisol/c/crisol.h"
#include "crisol/nn/module.h"
#include "crisol/optim.h"
#include "crisol/tensor.h"

struct crisol_tensor {
  crisol::Tensor value;
};

struct crisol_model {
  std::unique_ptr<crisol::nn::Module> module;
  crisol::NamedTensors parameters;
};

struct crisol_optimizer {
  std::unique_ptr<crisol::optim::Optimizer> value;
};

namespace crisol::c_api {

/// Notes the exception that is being handled as this thread's message; its status.
crisol_status status_of_exception() noexcept;

/// Runs the body; what it throws becomes the status.
template <class Body>
crisol_status guarded(const Body& body) noexcept {
  try {
    body();
    return CRISOL_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// What a pointer points to; refuses null, naming the argument.
template <class T>
T& need(T* pointer, const char* op, const char* name) {
  require(pointer != nullptr, op, name, " is null");
  return *pointer;
}

inline const Tensor& tensor_of(const crisol_tensor* x, const char* op, const char* name) {
  return need(x, op, name).value;
}
/// The undefined tensor for null.
inline Tensor optional_tensor(const crisol_tensor* x) { return x == nullptr ? Tensor() : x->value; }

std::vector<Tensor> tensors_of(const crisol_tensor* const* list, int count, const char* op, const char* name);

/// `count` sizes or axes.
Shape shape_of(const std::int64_t* numbers, int count, const char* op, const char* name);

Device device_of(crisol_device device, const char* op);
DType dtype_of(crisol_dtype dtype, const char* op);

/// Gives the caller what `make` returns as a handle.
template <class Make>
crisol_status give(crisol_tensor** result, const char* op, const Make& make) noexcept {
  return guarded([&] {
    crisol_tensor*& place = need(result, op, "result");
    place = new crisol_tensor{make()};
  });
}

/// The same for an op of one tensor.
template <class Make>
crisol_status give_from(const crisol_tensor* x, crisol_tensor** result, const char* op, const Make& make) noexcept {
  return give(result, op, [&] { return make(tensor_of(x, op, "x")); });
}

/// Two results; those whose pointers are null are not wanted.
inline void give_both(crisol_tensor** first, const Tensor& a, crisol_tensor** second, const Tensor& b) {
  std::unique_ptr<crisol_tensor> one(first == nullptr ? nullptr : new crisol_tensor{a});
  std::unique_ptr<crisol_tensor> two(second == nullptr ? nullptr : new crisol_tensor{b});
  if (first != nullptr) *first = one.release();
  if (second != nullptr) *second = two.release();
}

}  // namespace crisol::c_api
