// Tensors, views and gradients for C.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/thread_context.h"
#include "c_api/handles.h"
#include "crisol/autograd.h"
#include "crisol/random.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_tensor_create(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                   const void* data, crisol_tensor** result) {
  constexpr const char* op = "tensor_create";
  return give(result, op, [&] {
    const Shape shape = shape_of(sizes, rank, op, "sizes");
    const DType type = dtype_of(dtype, op);
    const Device place = device_of(device, op);
    return data == nullptr ? empty(shape, type, place) : from_bytes(data, shape, type, place);
  });
}

crisol_status crisol_tensor_full(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes, double value,
                                 crisol_tensor** result) {
  constexpr const char* op = "tensor_full";
  return give(result, op, [&] {
    return full(shape_of(sizes, rank, op, "sizes"), value, dtype_of(dtype, op), device_of(device, op));
  });
}

crisol_status crisol_tensor_arange(crisol_device device, crisol_dtype dtype, double start, double end, double step,
                                   crisol_tensor** result) {
  constexpr const char* op = "tensor_arange";
  return give(result, op, [&] { return arange(start, end, step, dtype_of(dtype, op), device_of(device, op)); });
}

crisol_status crisol_tensor_linspace(crisol_device device, crisol_dtype dtype, double start, double end, int64_t count,
                                     crisol_tensor** result) {
  constexpr const char* op = "tensor_linspace";
  return give(result, op, [&] { return linspace(start, end, count, dtype_of(dtype, op), device_of(device, op)); });
}

crisol_status crisol_tensor_eye(crisol_device device, crisol_dtype dtype, int64_t rows, int64_t columns,
                                crisol_tensor** result) {
  constexpr const char* op = "tensor_eye";
  return give(result, op, [&] { return eye(rows, columns, dtype_of(dtype, op), device_of(device, op)); });
}

crisol_status crisol_tensor_rand(crisol_device device, int rank, const int64_t* sizes, crisol_tensor** result) {
  constexpr const char* op = "tensor_rand";
  return give(result, op, [&] { return rand(shape_of(sizes, rank, op, "sizes"), device_of(device, op)); });
}

crisol_status crisol_tensor_randn(crisol_device device, int rank, const int64_t* sizes, crisol_tensor** result) {
  constexpr const char* op = "tensor_randn";
  return give(result, op, [&] { return randn(shape_of(sizes, rank, op, "sizes"), device_of(device, op)); });
}

crisol_status crisol_manual_seed(uint64_t seed) {
  return guarded([&] { manual_seed(seed); });
}

crisol_status crisol_generator_state(crisol_device device, uint64_t* seed, uint64_t* counter) {
  constexpr const char* op = "generator_state";
  return guarded([&] { give_generator_state(default_generator(device_of(device, op)).state(), seed, counter, op); });
}

crisol_status crisol_set_generator_state(crisol_device device, uint64_t seed, uint64_t counter) {
  return guarded([&] { default_generator(device_of(device, "set_generator_state")).set_state({seed, counter}); });
}

crisol_status crisol_tensor_share(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "tensor_share", [](const Tensor& t) { return t; });
}

void crisol_tensor_destroy(crisol_tensor* x) { delete x; }

crisol_status crisol_tensor_dtype(const crisol_tensor* x, crisol_dtype* dtype) {
  constexpr const char* op = "tensor_dtype";
  return guarded([&] { need(dtype, op, "dtype") = static_cast<crisol_dtype>(tensor_of(x, op, "x").dtype()); });
}

crisol_status crisol_tensor_device(const crisol_tensor* x, crisol_device* device) {
  constexpr const char* op = "tensor_device";
  return guarded([&] { need(device, op, "device") = tensor_of(x, op, "x").device().index(); });
}

crisol_status crisol_tensor_rank(const crisol_tensor* x, int* rank) {
  constexpr const char* op = "tensor_rank";
  return guarded([&] { need(rank, op, "rank") = tensor_of(x, op, "x").dim(); });
}

crisol_status crisol_tensor_sizes(const crisol_tensor* x, int64_t* sizes) {
  constexpr const char* op = "tensor_sizes";
  return guarded([&] {
    const Shape shape = tensor_of(x, op, "x").shape();
    std::copy(shape.begin(), shape.end(), &need(sizes, op, "sizes"));
  });
}

crisol_status crisol_tensor_strides(const crisol_tensor* x, int64_t* strides) {
  constexpr const char* op = "tensor_strides";
  return guarded([&] {
    const Shape steps = tensor_of(x, op, "x").strides();
    std::copy(steps.begin(), steps.end(), &need(strides, op, "strides"));
  });
}

crisol_status crisol_tensor_count(const crisol_tensor* x, int64_t* elements) {
  constexpr const char* op = "tensor_count";
  return guarded([&] { need(elements, op, "elements") = tensor_of(x, op, "x").numel(); });
}

namespace {

void check_bytes(const Tensor& x, std::size_t bytes, const char* op) {
  const std::size_t wanted = static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
  require(bytes == wanted, op, bytes, " bytes for ", x.numel(), " elements of ", x.dtype(), ", which take ", wanted);
}

}  // namespace

crisol_status crisol_tensor_read(const crisol_tensor* x, void* data, size_t bytes) {
  constexpr const char* op = "tensor_read";
  return guarded([&] {
    const Tensor& tensor = tensor_of(x, op, "x");
    check_bytes(tensor, bytes, op);
    require(data != nullptr || bytes == 0, op, "data is null");
    tensor.read_bytes(data);
  });
}

crisol_status crisol_tensor_write(crisol_tensor* x, const void* data, size_t bytes) {
  constexpr const char* op = "tensor_write";
  return guarded([&] {
    Tensor tensor = tensor_of(x, op, "x");
    check_bytes(tensor, bytes, op);
    require(data != nullptr || bytes == 0, op, "data is null");
    tensor.copy_from(from_bytes(data, tensor.shape(), tensor.dtype(), tensor.device()));
  });
}

crisol_status crisol_tensor_item(const crisol_tensor* x, double* value) {
  constexpr const char* op = "tensor_item";
  return guarded([&] { need(value, op, "value") = tensor_of(x, op, "x").item<double>(); });
}

crisol_status crisol_tensor_copy(crisol_tensor* x, const crisol_tensor* source) {
  constexpr const char* op = "tensor_copy";
  return guarded([&] {
    Tensor tensor = tensor_of(x, op, "x");
    tensor.copy_from(tensor_of(source, op, "source"));
  });
}

crisol_status crisol_reshape(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result) {
  constexpr const char* op = "reshape";
  return give_from(x, result, op, [&](const Tensor& t) { return t.reshape(shape_of(sizes, rank, op, "sizes")); });
}

crisol_status crisol_expand(const crisol_tensor* x, int rank, const int64_t* sizes, crisol_tensor** result) {
  constexpr const char* op = "expand";
  return give_from(x, result, op, [&](const Tensor& t) { return t.expand(shape_of(sizes, rank, op, "sizes")); });
}

crisol_status crisol_permute(const crisol_tensor* x, const int64_t* axes, crisol_tensor** result) {
  constexpr const char* op = "permute";
  return give_from(x, result, op, [&](const Tensor& t) { return t.permute(shape_of(axes, t.dim(), op, "axes")); });
}

crisol_status crisol_transpose(const crisol_tensor* x, int axis_a, int axis_b, crisol_tensor** result) {
  return give_from(x, result, "transpose", [&](const Tensor& t) { return t.transpose(axis_a, axis_b); });
}

crisol_status crisol_narrow(const crisol_tensor* x, int axis, int64_t start, int64_t length, crisol_tensor** result) {
  return give_from(x, result, "narrow", [&](const Tensor& t) { return t.narrow(axis, start, length); });
}

crisol_status crisol_select(const crisol_tensor* x, int axis, int64_t index, crisol_tensor** result) {
  return give_from(x, result, "select", [&](const Tensor& t) { return t.select(axis, index); });
}

crisol_status crisol_slice(const crisol_tensor* x, int axis, int64_t start, int64_t length, int64_t step,
                           crisol_tensor** result) {
  constexpr const char* op = "slice";
  return give_from(x, result, op, [&](const Tensor& t) {
    const std::int64_t size = t.size(axis);
    require(step != 0, op, "the step is 0");
    require(length >= 0, op, "the length is ", length);
    if (length == 0) return t.narrow(axis, 0, 0);
    require(start >= 0 && start < size, op, "start ", start, " is not on axis ", axis, " of shape ", t.shape());
    const std::int64_t room = step < 0 ? start : size - 1 - start;
    const bool fits = length == 1 || (step >= -room && step <= room && length - 1 <= room / std::abs(step));
    require(fits, op, "start ", start, ", length ", length, ", step ", step, " leave axis ", axis, " of shape ",
            t.shape());
    if (length == 1) return t.narrow(axis, start, 1);
    const std::int64_t stop = start + (length - 1) * step + (step < 0 ? -1 : 1);
    const Slice slice(start, stop < 0 ? std::nullopt : std::optional(stop), step);
    return t.transpose(axis, 0)[slice].transpose(axis, 0);
  });
}

crisol_status crisol_squeeze(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "squeeze", [&](const Tensor& t) { return t.squeeze(axis); });
}

crisol_status crisol_unsqueeze(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "unsqueeze", [&](const Tensor& t) { return t.unsqueeze(axis); });
}

crisol_status crisol_contiguous(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "contiguous", [](const Tensor& t) { return t.contiguous(); });
}

crisol_status crisol_clone(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "clone", [](const Tensor& t) { return t.clone(); });
}

crisol_status crisol_to_device(const crisol_tensor* x, crisol_device device, crisol_tensor** result) {
  return give_from(x, result, "to_device", [&](const Tensor& t) { return t.to(device_of(device, "to_device")); });
}

crisol_status crisol_to_dtype(const crisol_tensor* x, crisol_dtype dtype, crisol_tensor** result) {
  return give_from(x, result, "to_dtype", [&](const Tensor& t) { return t.to(dtype_of(dtype, "to_dtype")); });
}

crisol_status crisol_set_requires_grad(crisol_tensor* x, int wanted) {
  return guarded([&] { need(x, "set_requires_grad", "x").value.requires_grad_(wanted != 0); });
}

crisol_status crisol_requires_grad(const crisol_tensor* x, int* wanted) {
  constexpr const char* op = "requires_grad";
  return guarded([&] { need(wanted, op, "wanted") = tensor_of(x, op, "x").requires_grad() ? 1 : 0; });
}

crisol_status crisol_backward(const crisol_tensor* x, const crisol_tensor* gradient, int retain_graph) {
  return guarded([&] { tensor_of(x, "backward", "x").backward(optional_tensor(gradient), retain_graph != 0); });
}

crisol_status crisol_grad(const crisol_tensor* x, crisol_tensor** result) {
  constexpr const char* op = "grad";
  return guarded([&] {
    const Tensor gradient = tensor_of(x, op, "x").grad();
    crisol_tensor*& place = need(result, op, "result");
    place = gradient.defined() ? new crisol_tensor{gradient} : nullptr;
  });
}

crisol_status crisol_detach(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "detach", [](const Tensor& t) { return t.detach(); });
}

int crisol_set_grad_enabled(int enabled) { return std::exchange(thread_context().grad.enabled, enabled != 0) ? 1 : 0; }
