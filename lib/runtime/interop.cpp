#include "runtime/interop.h"

#include <algorithm>

#include "base/text.h"
#include "runtime/device/device_state.h"

namespace crisol::runtime {

namespace {

constexpr bool retain = true;

}  // namespace

DeviceState& adopt(_cl_device_id* device, _cl_context* context, _cl_command_queue* queue) {
  constexpr const char* op = "adopt_opencl";
  require(device != nullptr && context != nullptr && queue != nullptr, op, "device, context or queue is null");
  cl::Context the_context(context, retain);
  cl::CommandQueue the_queue(queue, retain);
  const cl::Device the_device(device, retain);
  std::vector<cl::Device> devices;
  check_cl(the_context.getInfo(CL_CONTEXT_DEVICES, &devices), "clGetContextInfo");
  const auto same = [&](const cl::Device& one) { return one() == device; };
  require(std::any_of(devices.begin(), devices.end(), same), op, "the context has ", devices.size(),
          " devices, and this is none of them");
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  cl_command_queue_properties properties = 0;
  const auto ask = [&](cl_uint what, std::size_t size, void* value) {
    check_cl(clGetCommandQueueInfo(queue, what, size, value, nullptr), "clGetCommandQueueInfo");
  };
  ask(CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context);
  ask(CL_QUEUE_DEVICE, sizeof queue_device, &queue_device);
  ask(CL_QUEUE_PROPERTIES, sizeof properties, &properties);
  require(queue_context == context, op, "the queue is of another context");
  require(queue_device == device, op, "the queue is of another device");
  require((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0, op, "the queue is out of order");
  return add_device(the_device, std::move(the_context), std::move(the_queue));
}

_cl_device_id* opencl_device(DeviceState& device) { return device.device()(); }
_cl_context* opencl_context(DeviceState& device) { return device.context()(); }
_cl_command_queue* opencl_queue(DeviceState& device) { return device.queue(); }

void wait_for(DeviceState& device, _cl_event* event) {
  check_cl(clEnqueueBarrierWithWaitList(device.queue(), 1, &event, nullptr), "clEnqueueBarrierWithWaitList");
}

_cl_event* mark(DeviceState& device) {
  cl_event event = nullptr;
  check_cl(clEnqueueMarkerWithWaitList(device.queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  // Without the flush, another queue that waits for this event would wait forever.
  check_cl(clFlush(device.queue()), "clFlush");
  return event;
}

BlockPtr share_buffer(DeviceState& device, _cl_mem* memory) {
  constexpr const char* op = "from_opencl";
  cl_context context = nullptr;
  cl_mem_flags flags = 0;
  std::size_t bytes = 0;
  const auto ask = [&](cl_uint what, std::size_t size, void* value) {
    check_cl(clGetMemObjectInfo(memory, what, size, value, nullptr), "clGetMemObjectInfo");
  };
  ask(CL_MEM_CONTEXT, sizeof context, &context);
  ask(CL_MEM_FLAGS, sizeof flags, &flags);
  ask(CL_MEM_SIZE, sizeof bytes, &bytes);
  require(context == device.context()(), op, "the buffer is of another context than ", device.info().name);
  require((flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) == 0, op,
          "the buffer is read-only or write-only for kernels");
  cl::Buffer kept(memory, retain);
  BlockPtr block = std::make_shared<Block>(device, memory, bytes);
  kept() = nullptr;  // The block now owns this reference.
  return block;
}

}  // namespace crisol::runtime
