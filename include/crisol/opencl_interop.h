// Use of the library together with your own OpenCL code. The library and the program can use the same context, queue
// and buffers, without copies.
//
//     Tensor y = relu(x);
//     OpenclBuffer buffer = opencl_buffer_for_writing(y);
//     clSetKernelArg(mine, 0, sizeof buffer.memory, &buffer.memory);  // Its element 0 is at buffer.offset.
//     clEnqueueNDRangeKernel(opencl_queue(y.device()), mine, …);      // Runs after what made y,
//     Tensor z = sum(y);                                              // which runs after that.
//
// The types are OpenCL's: _cl_mem* is cl_mem. This header includes no OpenCL header.
#pragma once

#include <cstddef>

#include "crisol/device.h"
#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

struct _cl_context;
struct _cl_command_queue;
struct _cl_device_id;
struct _cl_event;
struct _cl_mem;

namespace crisol {

/// Makes a device that works in your context and your queue. Both are retained as long as the process runs. The device
/// appears in devices(), but is never the default device by itself. For the library it differs from the device that the
/// library found itself: to() moves tensors between the two. Throws invalid_argument if the context or the queue has
/// another device, or if the queue is not in order.
CRISOL_API Device adopt_opencl(_cl_device_id* device, _cl_context* context, _cl_command_queue* queue);

/// The cl_device_id of a device. This function and the functions below retain no object for the caller, unless they say
/// so.
CRISOL_API _cl_device_id* opencl_device(Device device);
/// The context of the device's buffers, programs and queues.
CRISOL_API _cl_context* opencl_context(Device device);
/// The in-order queue of all kernels. Uploads of a DataLoader run in another queue, and this queue waits for them.
CRISOL_API _cl_command_queue* opencl_queue(Device device);

/// Makes a contiguous tensor over your buffer. Its first element starts `offset` bytes into the buffer. The buffer is
/// retained (clRetainMemObject) until the last tensor over it is destroyed. Throws invalid_argument if the buffer
/// belongs to another context, is too small for the shape, is not readable and writable by kernels, or if offset is not
/// a multiple of the element's size.
CRISOL_API Tensor from_opencl(_cl_mem* memory, const Shape& shape, DType dtype = DType::f32, Device device = Device(),
                              std::size_t offset = 0);

/// Makes a contiguous tensor over your host memory, on a device that computes in the host's memory, as CPUs do. On
/// other devices the result is undefined. Keep the memory until the last tensor over it is gone and the device has
/// finished its work. Before the host reads what the device wrote, call synchronize() or read the tensor.
CRISOL_API Tensor from_host_memory(void* memory, const Shape& shape, DType dtype = DType::f32,
                                   Device device = Device());

/// The place of a tensor in OpenCL memory.
struct OpenclBuffer {
  _cl_mem* memory;     ///< The tensor retains it. It is not retained for the caller.
  std::size_t offset;  ///< Bytes before the first element. strides() gives the places of the other elements.
};

/// The buffer of a tensor, for reading. The buffer may hold other tensors too.
CRISOL_API OpenclBuffer opencl_buffer(const Tensor& x);
/// The buffer of a tensor, for writing. backward() then refuses to use values that it saved before. Refuses a leaf that
/// wants a gradient, except under NoGrad.
CRISOL_API OpenclBuffer opencl_buffer_for_writing(const Tensor& x);

/// An event that completes when all work that is queued so far for the tensor's device has run. The caller releases it.
CRISOL_API _cl_event* opencl_event(const Tensor& x);
/// Makes all work that is queued for the device from now on wait for this event, which must belong to the same context.
CRISOL_API void wait_for_opencl(Device device, _cl_event* event);

}  // namespace crisol
