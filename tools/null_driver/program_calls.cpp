// Programs and kernels. A program always builds, and a kernel exists under every name. A compiler, which gets the
// source from the record, can check the source later.
#include "null_driver/facts.h"
#include "null_driver/objects.h"

namespace crisol::null_driver {

namespace {

cl_program new_program(cl_context context, std::string source, cl_int* error) {
  const auto program = new _cl_program;
  program->context = context;
  program->source = std::move(source);
  return made(program, error);
}

cl_program CL_API_CALL create_from_source(cl_context context, cl_uint count, const char** texts,
                                          const std::size_t* lengths, cl_int* error) {
  std::string source;
  for (cl_uint i = 0; i < count; ++i)
    source += lengths == nullptr || lengths[i] == 0 ? std::string(texts[i]) : std::string(texts[i], lengths[i]);
  return new_program(context, std::move(source), error);
}

// The binary of a program is its source.
cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint, const cl_device_id*, const std::size_t* lengths,
                                          const unsigned char** binaries, cl_int* status, cl_int* error) {
  if (status != nullptr) *status = CL_SUCCESS;
  return new_program(context, std::string(reinterpret_cast<const char*>(binaries[0]), lengths[0]), error);
}

cl_int CL_API_CALL build(cl_program program, cl_uint, const cl_device_id*, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* user_data) {
  program->options = options == nullptr ? "" : options;
  program->number = record().add_program(program->source, program->options);
  program->built = true;
  if (notify != nullptr) notify(program, user_data);
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info question, std::size_t room, void* value,
                                    std::size_t* size) {
  switch (question) {
    case CL_PROGRAM_NUM_DEVICES: return answer(fact_of(cl_uint{1}), room, value, size);
    case CL_PROGRAM_DEVICES: return answer(fact_of(cl_device_id{&the_device()}), room, value, size);
    case CL_PROGRAM_CONTEXT: return answer(fact_of(program->context), room, value, size);
    case CL_PROGRAM_SOURCE: return answer(program->source + '\0', room, value, size);
    case CL_PROGRAM_BINARY_SIZES: return answer(fact_of(program->source.size()), room, value, size);
    case CL_PROGRAM_BINARIES:
      if (value != nullptr) program->source.copy(*static_cast<char**>(value), program->source.size());
      if (size != nullptr) *size = sizeof(char*);
      return CL_SUCCESS;
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id, cl_program_build_info question, std::size_t room,
                                  void* value, std::size_t* size) {
  switch (question) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer(fact_of(cl_build_status{program->built ? CL_BUILD_SUCCESS : CL_BUILD_NONE}), room, value, size);
    case CL_PROGRAM_BUILD_OPTIONS: return answer(program->options + '\0', room, value, size);
    case CL_PROGRAM_BUILD_LOG: return answer(std::string(1, '\0'), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
  if (!program->built) return made<cl_kernel>(nullptr, error, CL_INVALID_PROGRAM_EXECUTABLE);
  const auto kernel = new _cl_kernel;
  retain(program);
  kernel->program = program;
  kernel->name = name;
  return made(kernel, error);
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  const cl_program program = kernel->program;
  const bool last = kernel->references == 1;
  release(kernel);
  return last ? release(program) : CL_SUCCESS;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
  if (value == nullptr) kernel->local_arguments[index] = size;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info question, std::size_t room, void* value,
                                   std::size_t* size) {
  switch (question) {
    case CL_KERNEL_FUNCTION_NAME: return answer(kernel->name + '\0', room, value, size);
    case CL_KERNEL_PROGRAM: return answer(fact_of(kernel->program), room, value, size);
    case CL_KERNEL_CONTEXT: return answer(fact_of(kernel->program->context), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_work_group_info(cl_kernel, cl_device_id, cl_kernel_work_group_info question, std::size_t room,
                                       void* value, std::size_t* size) {
  const DeviceInfo& info = the_device().info;
  switch (question) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return answer(fact_of(static_cast<std::size_t>(info.max_work_group)), room, value, size);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer(fact_of(static_cast<std::size_t>(info.subgroup_sizes.empty() ? 1 : info.subgroup_sizes.back())),
                    room, value, size);
    case CL_KERNEL_LOCAL_MEM_SIZE:
    case CL_KERNEL_PRIVATE_MEM_SIZE: return answer(fact_of(cl_ulong{0}), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace

void add_program_calls(cl_icd_dispatch& calls) {
  calls.clCreateProgramWithSource = create_from_source;
  calls.clCreateProgramWithBinary = create_from_binary;
  calls.clRetainProgram = retain;
  calls.clReleaseProgram = release;
  calls.clBuildProgram = build;
  calls.clGetProgramInfo = get_program_info;
  calls.clGetProgramBuildInfo = get_build_info;
  calls.clCreateKernel = create_kernel;
  calls.clRetainKernel = retain;
  calls.clReleaseKernel = release_kernel;
  calls.clSetKernelArg = set_argument;
  calls.clGetKernelInfo = get_kernel_info;
  calls.clGetKernelWorkGroupInfo = get_work_group_info;
}

}  // namespace crisol::null_driver
