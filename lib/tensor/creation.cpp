// New tensors.
#include <cmath>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "base/thread_context.h"
#include "base/whole.h"
#include "crisol/dtype_table.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/stored_block.h"
#include "runtime/memory/transfer.h"
#include "tensor/impl.h"
#include "tensor/trace.h"
#include "tensor/upload.h"

namespace crisol {

std::size_t detail::encode(const Scalar& value, DType dtype, void* bytes) {
  return with_host_type(dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      element = static_cast<T>(is_floating(value.dtype()) ? whole_bits(value.as_double(), dtype) : value.as_int());
    else
      element = element_of<T>(value.as_double());
    std::memcpy(bytes, &element, sizeof element);
    return sizeof element;
  });
}

std::uint64_t checked_bytes(const char* op, const Shape& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  bool has_zero = false;
  for (const std::int64_t size : shape) {
    require(size >= 0, op, "negative size in shape ", shape);
    has_zero = has_zero || size == 0;
    if (size == 0) continue;  // The product of the other sizes still must not overflow, because it becomes a stride.
    require(bytes <= (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(size), op, "shape ", shape,
            " has too many elements");
    bytes *= static_cast<std::uint64_t>(size);
  }
  return has_zero ? 0 : bytes;
}

void detail::check_count(std::size_t values, const Shape& shape) {
  checked_bytes("from_vector", shape, DType::u8);
  require(static_cast<std::int64_t>(values) == shape.numel(), "from_vector", values, " values for shape ", shape,
          " with ", shape.numel(), " elements");
}

namespace {

Tensor tensor_in(runtime::BlockPtr block, std::uint64_t bytes, const Shape& shape, DType dtype) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>(std::move(block), 0, bytes);
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

}  // namespace

Tensor empty(const Shape& shape, DType dtype, Device device) {
  const std::uint64_t bytes = checked_bytes("empty", shape, dtype);
  Tensor result = tensor_in(runtime::allocate(device.state(), bytes, shape, dtype), bytes, shape, dtype);
  if (Trace* trace = current_trace()) trace->made("empty", result);
  return result;
}

Tensor full(const Shape& shape, const Scalar& value, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  unsigned char pattern[8];
  const std::size_t size = detail::encode(value, dtype, pattern);
  runtime::fill(*result.impl()->storage->block, 0, static_cast<std::size_t>(result.numel()) * size, pattern, size);
  if (Trace* trace = current_trace())
    trace->bind(result, trace->node(GraphOp::expand, {trace->number(value, dtype, device),
                                                      trace->numbers({result.shape().begin(), result.shape().end()})}));
  return result;
}

Tensor zeros(const Shape& shape, DType dtype, Device device) { return full(shape, 0, dtype, device); }
Tensor ones(const Shape& shape, DType dtype, Device device) { return full(shape, 1, dtype, device); }

namespace {

// If the thread is making a program, tensors made while this object lives are the program's constants. A capture does
// not reuse memory that was not allocated for the capture.
runtime::PauseCapture keep_in_program() noexcept { return runtime::PauseCapture(thread_context().program.is_made); }

// A tensor of rank 1 whose element i is value(i).
template <class Value>
Tensor sequence(std::int64_t count, DType dtype, Device device, Value value) {
  const std::size_t size = size_of(dtype);
  const runtime::PauseCapture kept = keep_in_program();
  // Allocates first, so that a size that is too large throws before the host's memory is filled.
  Tensor result = empty({count}, dtype, device);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  for (std::int64_t i = 0; i < count; ++i)
    detail::encode(value(i), dtype, bytes.data() + static_cast<std::size_t>(i) * size);
  runtime::write(*result.impl()->storage->block, 0, bytes.data(), bytes.size());
  if (Trace* trace = current_trace()) trace->bind_constant(result);
  return result;
}

}  // namespace

Tensor arange(double start, double end, double step, DType dtype, Device device) {
  require(step != 0 && std::isfinite((end - start) / step), "arange", "start ", start, ", end ", end, ", step ", step,
          " give no finite number of elements");
  require((end - start) / step >= 0, "arange", "step ", step, " leads away from end ", end, ", start ", start);
  require((end - start) / step < 0x1p53, "arange", "start ", start, ", end ", end, ", step ", step,
          " give more than 2^53 elements");
  const auto count = static_cast<std::int64_t>(std::ceil((end - start) / step));
  return sequence(count, dtype, device, [&](std::int64_t i) { return start + static_cast<double>(i) * step; });
}

Tensor linspace(double start, double end, std::int64_t count, DType dtype, Device device) {
  constexpr const char* op = "linspace";
  require(count >= 0, op, "the count is ", count, ", it must not be negative");
  require(std::isfinite(end - start), op, "start ", start, " and end ", end, " are not finite");
  const double step = count > 1 ? (end - start) / static_cast<double>(count - 1) : 0;
  // The second half is counted from the end, so that the last number is exactly `end`.
  return sequence(count, dtype, device, [&](std::int64_t i) {
    return i < (count + 1) / 2 ? start + static_cast<double>(i) * step
                               : end - static_cast<double>(count - 1 - i) * step;
  });
}

Tensor empty_like(const Tensor& x, std::optional<DType> dtype) {
  require(x.defined(), "empty_like", "the tensor is undefined");
  return empty(x.shape(), dtype.value_or(x.dtype()), x.device());
}

Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype) {
  require(x.defined(), "full_like", "the tensor is undefined");
  return full(x.shape(), value, dtype.value_or(x.dtype()), x.device());
}

Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }
Tensor ones_like(const Tensor& x, std::optional<DType> dtype) { return full_like(x, 1, dtype); }

Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, Device device) {
  const runtime::PauseCapture kept = keep_in_program();
  const auto size = static_cast<std::size_t>(checked_bytes("empty", shape, dtype));
  const Tensor result =
      tensor_in(runtime::copy_to_new_block(device.state(), bytes, size, shape, dtype), size, shape, dtype);
  if (Trace* trace = current_trace()) trace->bind_constant(result);
  return result;
}

Tensor upload_beside(std::unique_ptr<std::byte[]> bytes, const Shape& shape, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  runtime::write_beside(*result.impl()->storage->block, 0, std::move(bytes),
                        static_cast<std::size_t>(result.numel()) * size_of(dtype));
  return result;
}

namespace {

void write_in_parts(runtime::Block& block, std::string_view bytes,
                    const std::function<void(std::string_view part)>& read) {
  // Smaller tensors are copied on the host, because waiting for the transfer would take longer.
  constexpr std::size_t least = std::size_t{256} << 10, part_bytes = std::size_t{4} << 20;
  if (bytes.size() < least) {
    runtime::write(block, 0, bytes.data(), bytes.size());
    read(bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
    const std::string_view part = bytes.substr(at, part_bytes);
    runtime::write_now(block, at, part.data(), part.size());
    read(part);
  }
}

void require_bytes(std::string_view bytes, const Shape& shape, DType dtype) {
  require(bytes.size() == checked_bytes("upload", shape, dtype), "upload", bytes.size(), " bytes for shape ", shape,
          " of ", dtype);
}

}  // namespace

Tensor upload_in_parts(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                       const std::function<void(std::string_view part)>& read) {
  require_bytes(bytes, shape, dtype);
  const runtime::PauseCapture kept = keep_in_program();
  Tensor result = empty(shape, dtype, device);
  write_in_parts(*result.impl()->storage->block, bytes, read);
  if (Trace* trace = current_trace()) trace->bind_constant(result);
  return result;
}

Tensor stored_tensor(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                     std::function<void()> begin, std::function<void(std::string_view part)> read) {
  require_bytes(bytes, shape, dtype);
  runtime::DeviceState& state = device.state();
  const auto read_block = [&state, bytes, shape, dtype, begin = std::move(begin), read = std::move(read)] {
    begin();
    runtime::BlockPtr block = runtime::allocate(state, bytes.size(), shape, dtype);
    write_in_parts(*block, bytes, read);
    return block;
  };
  const Tensor result =
      tensor_in(std::make_shared<runtime::StoredBlock>(state, bytes.size(), read_block), bytes.size(), shape, dtype);
  if (Trace* trace = current_trace()) trace->bind_constant(result);
  return result;
}

}  // namespace crisol
