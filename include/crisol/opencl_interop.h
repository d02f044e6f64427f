// Your own OpenCL beside the library's: its context, queue and buffers, or yours, without copies.
//
//     Tensor y = relu(x);
//     OpenclBuffer buffer = opencl_buffer_for_writing(y);
//     clSetKernelArg(mine, 0, sizeof buffer.memory, &buffer.memory);  // Its element 0 lies at buffer.offset.
//     clEnqueueNDRangeKernel(opencl_queue(y.device()), mine, …);      // Runs after what made y,
//     Tensor z = sum(y);                                              // which runs after that.
//
// The types are OpenCL's: _cl_mem* is cl_mem. No OpenCL header is needed for this one.
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

/// A device that works in a context and a queue of yours; both are kept as long as the process runs. It takes its place
/// in devices(), but is chosen by nobody else. To the library it is another device than the one that it found itself:
/// tensors of the two meet through to(). Throws invalid_argument when the device is not the context's or the queue's,
/// or the queue is not in order.
CRISOL_API Device adopt_opencl(_cl_device_id* device, _cl_context* context, _cl_command_queue* queue);

/// OpenCL's name of a device. Nothing is retained for the caller, here and below.
CRISOL_API _cl_device_id* opencl_device(Device device);
/// The context of the device's buffers, programs and queues.
CRISOL_API _cl_context* opencl_context(Device device);
/// The queue of all kernels, which is in order. Uploads that a DataLoader makes run in another one, and this one waits
/// for them.
CRISOL_API _cl_command_queue* opencl_queue(Device device);

/// A tensor over a buffer of yours, contiguous, its first element `offset` bytes into the buffer. The buffer is kept
/// (clRetainMemObject) until the last tensor over it goes. Throws invalid_argument when the buffer is of another
/// context, too small for the shape, not writable and readable by kernels, or offset is not a multiple of the element's
/// size.
CRISOL_API Tensor from_opencl(_cl_mem* memory, const Shape& shape, DType dtype = DType::f32, Device device = Device(),
                              std::size_t offset = 0);

/// Where a tensor lies.
struct OpenclBuffer {
  _cl_mem* memory;     ///< Kept by the tensor, not retained for the caller.
  std::size_t offset;  ///< Bytes before the first element; strides() tells where the others are.
};

/// For reading. The buffer may hold other tensors, too.
CRISOL_API OpenclBuffer opencl_buffer(const Tensor& x);
/// For writing: backward() then knows that the values it saved are gone. Refused on a leaf that wants a gradient unless
/// under NoGrad.
CRISOL_API OpenclBuffer opencl_buffer_for_writing(const Tensor& x);

/// An event that is complete when all work that was queued for the tensor's device so far has run. The caller releases
/// it.
CRISOL_API _cl_event* opencl_event(const Tensor& x);
/// Lets all work that is queued for the device from now on wait for an event of the same context.
CRISOL_API void wait_for_opencl(Device device, _cl_event* event);

}  // namespace crisol
