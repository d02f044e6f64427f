// Contexts, queues and buffers that the user's program shares with the library; see crisol/opencl_interop.h.
#pragma once

#include "runtime/memory/memory_pool.h"

struct _cl_context;
struct _cl_command_queue;
struct _cl_device_id;
struct _cl_event;

namespace crisol::runtime {

/// Adds a device that works in this context and queue. Checks that the three objects belong together.
DeviceState& adopt(_cl_device_id* device, _cl_context* context, _cl_command_queue* queue);

_cl_device_id* opencl_device(DeviceState& device);
_cl_context* opencl_context(DeviceState& device);
_cl_command_queue* opencl_queue(DeviceState& device);

/// Makes a block from a buffer of the user. Checks that the buffer belongs to the device's context, and that kernels
/// may read and write the buffer.
BlockPtr share_buffer(DeviceState& device, _cl_mem* memory);

/// An event that completes when all work that is queued now has completed.
_cl_event* mark(DeviceState& device);
/// Makes all work that is queued from now on wait for the event.
void wait_for(DeviceState& device, _cl_event* event);

}  // namespace crisol::runtime
