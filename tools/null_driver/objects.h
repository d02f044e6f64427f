// The driver's OpenCL objects. They have a reference count and the data that queries need.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crisol/device.h"
#include "null_driver/opencl.h"
#include "null_driver/record.h"

namespace crisol::null_driver {

/// The calls of this driver. The loader finds this table at the beginning of each object.
extern cl_icd_dispatch table;

/// The record of the program's calls so far.
Record& record();

struct Object {
  cl_icd_dispatch* dispatch = &table;
  std::atomic<cl_uint> references{1};
};

template <class Handle>
cl_int CL_API_CALL retain(Handle object) {
  ++object->references;
  return CL_SUCCESS;
}

template <class Handle>
cl_int CL_API_CALL release(Handle object) {
  if (--object->references == 0) delete object;
  return CL_SUCCESS;
}

/// Sets the last argument of a call that makes an object, and returns the object.
template <class Handle>
Handle made(Handle object, cl_int* error, cl_int code = CL_SUCCESS) {
  if (error != nullptr) *error = code;
  return object;
}

// Each function fills its part of the table.
void add_platform_calls(cl_icd_dispatch& calls);
void add_program_calls(cl_icd_dispatch& calls);
void add_memory_calls(cl_icd_dispatch& calls);
void add_queue_calls(cl_icd_dispatch& calls);

/// The platform and its only device. They live as long as the process.
_cl_platform_id& the_platform();
_cl_device_id& the_device();

}  // namespace crisol::null_driver

struct _cl_platform_id : crisol::null_driver::Object {};

struct _cl_device_id : crisol::null_driver::Object {
  crisol::DeviceInfo info;
};

struct _cl_context : crisol::null_driver::Object {};

struct _cl_command_queue : crisol::null_driver::Object {
  cl_context context = nullptr;
  cl_command_queue_properties properties = 0;
};

/// Holds no bytes: every read returns zeros.
struct _cl_mem : crisol::null_driver::Object {
  cl_context context = nullptr;
  cl_mem_flags flags = 0;
  std::size_t size = 0;
  std::vector<std::pair<void(CL_CALLBACK*)(cl_mem, void*), void*>> when_gone;  ///< The last one is called first.
};

struct _cl_program : crisol::null_driver::Object {
  cl_context context = nullptr;
  std::string source, options;
  std::size_t number = 0;  ///< The number in the record, set when the program is built.
  bool built = false;
};

struct _cl_kernel : crisol::null_driver::Object {
  cl_program program = nullptr;
  std::string name;
  std::map<cl_uint, std::size_t> local_arguments;  ///< Bytes of local memory, by argument.
};

struct _cl_event : crisol::null_driver::Object {};
