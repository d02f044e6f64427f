// Queues and events. A queue finishes every command at once. A kernel is written down and not run.
#include "null_driver/facts.h"
#include "null_driver/objects.h"

namespace crisol::null_driver {

namespace {

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id, cl_command_queue_properties properties,
                                          cl_int* error) {
  const auto queue = new _cl_command_queue;
  queue->context = context;
  queue->properties = properties;
  return made(queue, error);
}

cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info question, std::size_t room, void* value,
                                  std::size_t* size) {
  switch (question) {
    case CL_QUEUE_CONTEXT: return answer(fact_of(queue->context), room, value, size);
    case CL_QUEUE_DEVICE: return answer(fact_of(cl_device_id{&the_device()}), room, value, size);
    case CL_QUEUE_PROPERTIES: return answer(fact_of(queue->properties), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

// Checks the sizes as clEnqueueNDRangeKernel of OpenCL 1.2 does.
cl_int check_sizes(const DeviceInfo& info, const Launch& launch) {
  if (launch.global.empty() || launch.global.size() > info.max_work_item_sizes.size()) return CL_INVALID_WORK_DIMENSION;
  std::size_t group = 1;
  for (std::size_t d = 0; d < launch.local.size(); ++d) {
    if (launch.local[d] > info.max_work_item_sizes[d]) return CL_INVALID_WORK_ITEM_SIZE;
    if (launch.local[d] == 0 || launch.global[d] % launch.local[d] != 0) return CL_INVALID_WORK_GROUP_SIZE;
    group *= launch.local[d];
  }
  return group <= info.max_work_group ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

cl_int CL_API_CALL queue_kernel(cl_command_queue, cl_kernel kernel, cl_uint dimensions, const std::size_t*,
                                const std::size_t* global, const std::size_t* local, cl_uint, const cl_event*,
                                cl_event* event) {
  Launch launch;
  launch.global.assign(global, global + dimensions);
  if (local != nullptr) launch.local.assign(local, local + dimensions);
  if (const cl_int error = check_sizes(the_device().info, launch); error != CL_SUCCESS) return error;
  for (const auto& [index, bytes] : kernel->local_arguments) launch.local_argument_bytes += bytes;
  if (launch.local_argument_bytes > the_device().info.local_memory) return CL_OUT_OF_RESOURCES;
  record().add_launch(kernel->program->number, kernel->name, launch);
  if (event != nullptr) *event = new _cl_event;
  return CL_SUCCESS;
}

cl_int CL_API_CALL mark(cl_command_queue, cl_uint, const cl_event*, cl_event* event) {
  if (event != nullptr) *event = new _cl_event;
  return CL_SUCCESS;
}

cl_int CL_API_CALL finish(cl_command_queue) { return CL_SUCCESS; }

cl_int CL_API_CALL wait_for_events(cl_uint, const cl_event*) { return CL_SUCCESS; }

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info question, std::size_t room, void* value,
                                  std::size_t* size) {
  switch (question) {
    case CL_EVENT_COMMAND_EXECUTION_STATUS: return answer(fact_of(cl_int{CL_COMPLETE}), room, value, size);
    case CL_EVENT_REFERENCE_COUNT: return answer(fact_of(event->references.load()), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_profiling_info(cl_event, cl_profiling_info, std::size_t room, void* value, std::size_t* size) {
  return answer(fact_of(cl_ulong{0}), room, value, size);
}

cl_int CL_API_CALL call_when_done(cl_event event, cl_int, void(CL_CALLBACK* function)(cl_event, cl_int, void*),
                                  void* user_data) {
  function(event, CL_COMPLETE, user_data);
  return CL_SUCCESS;
}

}  // namespace

void add_queue_calls(cl_icd_dispatch& calls) {
  calls.clCreateCommandQueue = create_queue;
  calls.clRetainCommandQueue = retain;
  calls.clReleaseCommandQueue = release;
  calls.clGetCommandQueueInfo = get_queue_info;
  calls.clEnqueueNDRangeKernel = queue_kernel;
  calls.clEnqueueMarkerWithWaitList = mark;
  calls.clEnqueueBarrierWithWaitList = mark;
  calls.clFlush = finish;
  calls.clFinish = finish;
  calls.clWaitForEvents = wait_for_events;
  calls.clGetEventInfo = get_event_info;
  calls.clGetEventProfilingInfo = get_profiling_info;
  calls.clSetEventCallback = call_when_done;
  calls.clRetainEvent = retain;
  calls.clReleaseEvent = release;
}

}  // namespace crisol::null_driver
