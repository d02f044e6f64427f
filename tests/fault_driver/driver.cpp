// An OpenCL driver for tests. It passes all calls on to the true driver, the library CRISOL_FAULT_DRIVER, but chosen
// calls fail. If CRISOL_POSE_DEVICE is set, it also poses as the device in that file (pose.h).
//
// Each OpenCL object starts with a pointer to its driver's table of functions, and the loader makes each call through
// this table. All objects of a driver share one table. So this library asks the true driver for its platform, and
// replaces some entries of the table by its own functions.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "fault_driver/control.h"
#include "fault_driver/pose.h"

using crisol::testing::Call;
using crisol::testing::check_posed_buffer;
using crisol::testing::check_posed_launch;
using crisol::testing::FaultControl;
using crisol::testing::is_posing;

namespace {

FaultControl control;
cl_icd_dispatch original;  // The true driver's functions.

/// Counts the call. Returns the error code with which it must fail, or CL_SUCCESS.
cl_int planned(Call call) {
  const int kind = static_cast<int>(call);
  ++control.calls[kind];
  if (const int delay = control.delay_us; delay > 0) usleep(static_cast<useconds_t>(delay));
  const int failing = control.kind;
  if (failing != kind && failing != crisol::testing::call_kinds) return CL_SUCCESS;
  const long left = --control.countdown;
  return left == 0 || (left < 0 && control.lasting) ? control.code.load() : CL_SUCCESS;
}

// Replaces `entry`. It returns an error code itself or, if it creates an object, through its last argument.
template <auto entry, Call call>
struct Replaced;

template <class Result, class... Args, Result (CL_API_CALL* cl_icd_dispatch::*entry)(Args...), Call call>
struct Replaced<entry, call> {
  static Result CL_API_CALL run(Args... args) {
    const cl_int code = planned(call);
    if (code == CL_SUCCESS) return (original.*entry)(args...);
    if constexpr (std::is_pointer_v<Result>) {
      cl_int* const returned = std::get<sizeof...(Args) - 1>(std::tie(args...));
      if (returned != nullptr) *returned = code;
      return nullptr;
    } else {
      return code;
    }
  }
};

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int* error) {
  if (const cl_int code = is_posing() ? check_posed_buffer(context, size) : CL_SUCCESS; code != CL_SUCCESS) {
    if (error != nullptr) *error = code;
    return nullptr;
  }
  const cl_mem made =
      Replaced<&cl_icd_dispatch::clCreateBuffer, Call::allocate>::run(context, flags, size, host, error);
  if (made != nullptr) ++control.live_buffers;
  return made;
}

cl_int CL_API_CALL retain_buffer(cl_mem memory) {
  ++control.live_buffers;
  return original.clRetainMemObject(memory);
}

cl_int CL_API_CALL release_buffer(cl_mem memory) {
  --control.live_buffers;
  return original.clReleaseMemObject(memory);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                          const std::size_t* range, const std::size_t* group, cl_uint count, const cl_event* before,
                          cl_event* event) {
  if (const cl_int code = is_posing() ? check_posed_launch(queue, kernel, dimensions, group) : CL_SUCCESS;
      code != CL_SUCCESS)
    return code;
  return Replaced<&cl_icd_dispatch::clEnqueueNDRangeKernel, Call::launch>::run(queue, kernel, dimensions, offset, range,
                                                                               group, count, before, event);
}

template <auto entry, Call call>
void replace(cl_icd_dispatch& table) {
  table.*entry = &Replaced<entry, call>::run;
}

void replace_all(cl_icd_dispatch& table) {
  using D = cl_icd_dispatch;
  replace<&D::clCreateProgramWithSource, Call::create>(table);
  replace<&D::clCreateProgramWithBinary, Call::create>(table);
  replace<&D::clCreateKernel, Call::create>(table);
  replace<&D::clBuildProgram, Call::build>(table);
  replace<&D::clSetKernelArg, Call::argument>(table);
  replace<&D::clEnqueueReadBuffer, Call::transfer>(table);
  replace<&D::clEnqueueWriteBuffer, Call::transfer>(table);
  replace<&D::clEnqueueCopyBuffer, Call::transfer>(table);
  replace<&D::clEnqueueFillBuffer, Call::transfer>(table);
  replace<&D::clEnqueueMarkerWithWaitList, Call::transfer>(table);
  replace<&D::clEnqueueBarrierWithWaitList, Call::transfer>(table);
  replace<&D::clFinish, Call::wait>(table);
  replace<&D::clFlush, Call::wait>(table);
  table.clEnqueueNDRangeKernel = launch;
  table.clCreateBuffer = create_buffer;
  table.clRetainMemObject = retain_buffer;
  table.clReleaseMemObject = release_buffer;
  if (is_posing()) crisol::testing::add_pose(table, original);
}

using GetExtension = void*(CL_API_CALL*)(const char*);
using GetPlatforms = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);

GetExtension true_extension() {
  static const GetExtension function = [] {
    const char* path = std::getenv("CRISOL_FAULT_DRIVER");
    void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr
                              : reinterpret_cast<GetExtension>(dlsym(library, "clGetExtensionFunctionAddress"));
  }();
  return function;
}

cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  const auto get = reinterpret_cast<GetPlatforms>(true_extension()("clIcdGetPlatformIDsKHR"));
  cl_platform_id first = nullptr;
  if (get(1, &first, nullptr) == CL_SUCCESS && original.clGetPlatformInfo == nullptr) {
    cl_icd_dispatch* table = *reinterpret_cast<cl_icd_dispatch**>(first);
    std::memcpy(&original, table, offsetof(cl_icd_dispatch, clEnqueueBarrierWithWaitList) + sizeof(void*));
    // The table may be in memory that became read-only after loading.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(table) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(table) + sizeof *table;
    if (mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0) replace_all(*table);
  }
  return get(room, platforms, count);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) FaultControl* crisol_fault_control() { return &control; }

__attribute__((visibility("default"))) void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (true_extension() == nullptr) return nullptr;
  return std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? reinterpret_cast<void*>(&get_platforms)
                                                          : true_extension()(name);
}

// Some loaders look for this symbol before they ask for platforms.
__attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                            cl_platform_info what, std::size_t room,
                                                                            void* value, std::size_t* size) {
  if (is_posing()) return crisol::testing::posed_platform_info(platform, what, room, value, size);
  return original.clGetPlatformInfo(platform, what, room, value, size);
}

}  // extern "C"
