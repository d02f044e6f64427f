// Tensors over the user's OpenCL buffers, and the buffers of tensors.
#include "runtime/interop.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/host_memory.h"

#include "base/text.h"
#include "crisol/opencl_interop.h"
#include "tensor/grad_mode.h"
#include "tensor/impl.h"
#include "tensor/kernel_args.h"

namespace crisol {

Device adopt_opencl(_cl_device_id* device, _cl_context* context, _cl_command_queue* queue) {
  return Device(runtime::adopt(device, context, queue));
}

_cl_device_id* opencl_device(Device device) { return runtime::opencl_device(device.state()); }
_cl_context* opencl_context(Device device) { return runtime::opencl_context(device.state()); }
_cl_command_queue* opencl_queue(Device device) { return runtime::opencl_queue(device.state()); }

void wait_for_opencl(Device device, _cl_event* event) {
  require(event != nullptr, "wait_for_opencl", "the event is null");
  runtime::wait_for(device.state(), event);
}

namespace {

/// A contiguous tensor whose first element is `offset` bytes into the block.
Tensor over(const runtime::BlockPtr& block, const Shape& shape, DType dtype, std::size_t offset) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>(block, 0, block->bytes());
  impl->offset = static_cast<std::int64_t>(offset / size_of(dtype));
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

}  // namespace

Tensor from_host_memory(void* memory, const Shape& shape, DType dtype, Device device) {
  constexpr const char* op = "from_host_memory";
  require(memory != nullptr, op, "the memory is null");
  require(reinterpret_cast<std::uintptr_t>(memory) % size_of(dtype) == 0, op, "the address ", memory,
          " is no multiple of ", size_of(dtype), " bytes of ", dtype);
  const runtime::BlockPtr block = runtime::block_over(device.state(), memory, checked_bytes(op, shape, dtype));
  return block == nullptr ? Tensor() : over(block, shape, dtype, 0);
}

Tensor from_opencl(_cl_mem* memory, const Shape& shape, DType dtype, Device device, std::size_t offset) {
  constexpr const char* op = "from_opencl";
  require(memory != nullptr, op, "the buffer is null");
  const std::uint64_t bytes = checked_bytes(op, shape, dtype);
  require(offset % size_of(dtype) == 0, op, "offset ", offset, " is no multiple of ", size_of(dtype), " bytes of ",
          dtype);
  const runtime::BlockPtr block = runtime::share_buffer(device.state(), memory);
  require(offset <= block->bytes() && bytes <= block->bytes() - offset, op, "shape ", shape, " of ", dtype,
          " at offset ", offset, " needs more than the buffer's ", block->bytes(), " bytes");
  return over(block, shape, dtype, offset);
}

OpenclBuffer opencl_buffer(const Tensor& x) {
  require(x.defined(), "opencl_buffer", "the tensor is undefined");
  const runtime::BufferView view = in(x);
  return {view.block->memory(), static_cast<std::size_t>(view.offset) * size_of(x.dtype())};
}

OpenclBuffer opencl_buffer_for_writing(const Tensor& x) {
  const OpenclBuffer buffer = opencl_buffer(x);
  require_in_place_allowed("opencl_buffer_for_writing", x);
  runtime::check_not_capturing("a program of the user's writes a tensor");
  x.impl()->storage->is_known_outside = true;
  x.impl()->storage->written();
  return buffer;
}

_cl_event* opencl_event(const Tensor& x) {
  require(x.defined(), "opencl_event", "the tensor is undefined");
  return runtime::mark(state_of(x));
}

}  // namespace crisol
