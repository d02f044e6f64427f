// Platform, device and context.
#include "null_driver/facts.h"
#include "null_driver/objects.h"

namespace crisol::null_driver {

namespace {

cl_int CL_API_CALL get_platform_info(cl_platform_id, cl_platform_info question, std::size_t room, void* value,
                                     std::size_t* size) {
  return answer(platform_fact(the_device().info, question), room, value, size);
}

cl_int CL_API_CALL get_device_ids(cl_platform_id, cl_device_type type, cl_uint room, cl_device_id* devices,
                                  cl_uint* count) {
  cl_device_type own = 0;
  answer(device_fact(the_device().info, CL_DEVICE_TYPE), sizeof own, &own, nullptr);
  if ((type & (own | CL_DEVICE_TYPE_DEFAULT)) == 0) return CL_DEVICE_NOT_FOUND;
  if (devices != nullptr && room > 0) devices[0] = &the_device();
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info question, std::size_t room, void* value,
                                   std::size_t* size) {
  if (question == CL_DEVICE_PLATFORM) return answer(fact_of(cl_platform_id{&the_platform()}), room, value, size);
  return answer(device_fact(device->info, question), room, value, size);
}

// The device lives as long as the process, so its reference count is ignored.
cl_int CL_API_CALL keep_device(cl_device_id) { return CL_SUCCESS; }

cl_context CL_API_CALL create_context(const cl_context_properties*, cl_uint, const cl_device_id*,
                                      void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*), void*,
                                      cl_int* error) {
  return made(new _cl_context, error);
}

cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info question, std::size_t room, void* value,
                                    std::size_t* size) {
  switch (question) {
    case CL_CONTEXT_NUM_DEVICES: return answer(fact_of(cl_uint{1}), room, value, size);
    case CL_CONTEXT_DEVICES: return answer(fact_of(cl_device_id{&the_device()}), room, value, size);
    case CL_CONTEXT_REFERENCE_COUNT: return answer(fact_of(context->references.load()), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace

void add_platform_calls(cl_icd_dispatch& calls) {
  calls.clGetPlatformInfo = get_platform_info;
  calls.clGetDeviceIDs = get_device_ids;
  calls.clGetDeviceInfo = get_device_info;
  calls.clRetainDevice = keep_device;
  calls.clReleaseDevice = keep_device;
  calls.clCreateContext = create_context;
  calls.clRetainContext = retain;
  calls.clReleaseContext = release;
  calls.clGetContextInfo = get_context_info;
}

}  // namespace crisol::null_driver
