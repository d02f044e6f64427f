#include "runtime/cl.h"

#include "base/text.h"

namespace crisol::runtime {

const char* cl_error_name(cl_int code) noexcept {
  switch (code) {
#define CRISOL_NAME(error) \
  case error: return #error;
    CRISOL_NAME(CL_DEVICE_NOT_FOUND)
    CRISOL_NAME(CL_DEVICE_NOT_AVAILABLE)
    CRISOL_NAME(CL_COMPILER_NOT_AVAILABLE)
    CRISOL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    CRISOL_NAME(CL_OUT_OF_RESOURCES)
    CRISOL_NAME(CL_OUT_OF_HOST_MEMORY)
    CRISOL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    CRISOL_NAME(CL_BUILD_PROGRAM_FAILURE)
    CRISOL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    CRISOL_NAME(CL_INVALID_VALUE)
    CRISOL_NAME(CL_INVALID_DEVICE)
    CRISOL_NAME(CL_INVALID_CONTEXT)
    CRISOL_NAME(CL_INVALID_COMMAND_QUEUE)
    CRISOL_NAME(CL_INVALID_MEM_OBJECT)
    CRISOL_NAME(CL_INVALID_BINARY)
    CRISOL_NAME(CL_INVALID_BUILD_OPTIONS)
    CRISOL_NAME(CL_INVALID_PROGRAM)
    CRISOL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    CRISOL_NAME(CL_INVALID_KERNEL_NAME)
    CRISOL_NAME(CL_INVALID_KERNEL)
    CRISOL_NAME(CL_INVALID_ARG_INDEX)
    CRISOL_NAME(CL_INVALID_ARG_VALUE)
    CRISOL_NAME(CL_INVALID_ARG_SIZE)
    CRISOL_NAME(CL_INVALID_KERNEL_ARGS)
    CRISOL_NAME(CL_INVALID_WORK_DIMENSION)
    CRISOL_NAME(CL_INVALID_WORK_GROUP_SIZE)
    CRISOL_NAME(CL_INVALID_WORK_ITEM_SIZE)
    CRISOL_NAME(CL_INVALID_GLOBAL_OFFSET)
    CRISOL_NAME(CL_INVALID_EVENT_WAIT_LIST)
    CRISOL_NAME(CL_INVALID_EVENT)
    CRISOL_NAME(CL_INVALID_OPERATION)
    CRISOL_NAME(CL_INVALID_BUFFER_SIZE)
    CRISOL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
#undef CRISOL_NAME
    case -9999: return "NVIDIA: illegal access to a buffer";
    default: return "unnamed OpenCL error";
  }
}

bool is_memory_error(cl_int code) noexcept {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
}

void check_cl(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  // NVIDIA's driver reports a failed kernel at some later call, with one of these codes.
  const bool may_be_late = code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE || code == -9999;
  fail(is_memory_error(code) ? ErrorCode::out_of_memory : ErrorCode::device_failure, call, cl_error_name(code), " (",
       code, ")",
       may_be_late ? "; if a kernel failed that was queued before, CRISOL_LAUNCH_BLOCKING=1 tells which" : "");
}

}  // namespace crisol::runtime
