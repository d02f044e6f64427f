// New tensors.
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "base/whole.h"
#include "runtime/transfer.h"
#include "tensor/impl.h"

namespace crisol {

namespace {

// Writes one element of `value` in the dtype's layout. Integer dtypes keep the lowest bits, as on the device.
std::size_t encode(double value, DType dtype, void* bytes) {
  const auto put = [&](auto encoded) {
    std::memcpy(bytes, &encoded, sizeof encoded);
    return sizeof encoded;
  };
  switch (dtype) {
    case DType::f32: return put(static_cast<float>(value));
    case DType::f16: return put(Half(static_cast<float>(value)));
    case DType::i32: return put(static_cast<std::int32_t>(whole_part(value)));
    case DType::i64: return put(whole_part(value));
    case DType::u8: return put(static_cast<std::uint8_t>(whole_part(value)));
    case DType::boolean: return put(static_cast<std::uint8_t>(value != 0));
  }
  return 0;
}

}  // namespace

std::uint64_t checked_bytes(const char* op, const Shape& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  bool has_zero = false;
  for (const std::int64_t size : shape) {
    require(size >= 0, op, "negative size in shape ", shape);
    has_zero = has_zero || size == 0;
    if (size == 0) continue;  // The product of the other sizes becomes a stride, so it must not overflow either.
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

Tensor empty(const Shape& shape, DType dtype, Device device) {
  const std::uint64_t bytes = checked_bytes("empty", shape, dtype);
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>(runtime::allocate(device.state(), bytes), 0, bytes);
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  unsigned char pattern[8];
  const std::size_t size = encode(value, dtype, pattern);
  runtime::fill(*result.impl()->storage->block, 0, static_cast<std::size_t>(result.numel()) * size, pattern, size);
  return result;
}

Tensor zeros(const Shape& shape, DType dtype, Device device) { return full(shape, 0, dtype, device); }
Tensor ones(const Shape& shape, DType dtype, Device device) { return full(shape, 1, dtype, device); }

Tensor arange(double start, double end, double step, DType dtype, Device device) {
  require(step != 0 && std::isfinite((end - start) / step), "arange", "start ", start, ", end ", end, ", step ", step,
          " give no finite number of elements");
  require((end - start) / step >= 0, "arange", "step ", step, " leads away from end ", end, ", start ", start);
  require((end - start) / step < 0x1p53, "arange", "start ", start, ", end ", end, ", step ", step,
          " give more than 2^53 elements");
  const auto count = static_cast<std::int64_t>(std::ceil((end - start) / step));
  const std::size_t size = size_of(dtype);
  Tensor result = empty({count}, dtype, device);  // Before the host's memory: too large a size throws here.
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  for (std::int64_t i = 0; i < count; ++i)
    encode(start + static_cast<double>(i) * step, dtype, bytes.data() + static_cast<std::size_t>(i) * size);
  runtime::write(*result.impl()->storage->block, 0, bytes.data(), bytes.size());
  return result;
}

Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  runtime::write(*result.impl()->storage->block, 0, bytes, static_cast<std::size_t>(result.numel()) * size_of(dtype));
  return result;
}

Tensor upload_beside(std::unique_ptr<std::byte[]> bytes, const Shape& shape, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  runtime::write_beside(*result.impl()->storage->block, 0, std::move(bytes),
                        static_cast<std::size_t>(result.numel()) * size_of(dtype));
  return result;
}

}  // namespace crisol
