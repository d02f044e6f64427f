// Buffers without contents, and the calls that copy bytes to and from them.
#include <cstdint>

#include "null_driver/facts.h"
#include "null_driver/objects.h"

namespace crisol::null_driver {

namespace {

cl_mem new_buffer(cl_context context, cl_mem_flags flags, std::size_t size, cl_int* error) {
  if (size == 0 || size > the_device().info.max_allocation) return made<cl_mem>(nullptr, error, CL_INVALID_BUFFER_SIZE);
  const auto buffer = new _cl_mem;
  buffer->context = context;
  buffer->flags = flags;
  buffer->size = size;
  return made(buffer, error);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void*, cl_int* error) {
  return new_buffer(context, flags, size, error);
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type, const void* region,
                                     cl_int* error) {
  return new_buffer(buffer->context, flags, static_cast<const cl_buffer_region*>(region)->size, error);
}

cl_int CL_API_CALL call_when_gone(cl_mem buffer, void(CL_CALLBACK* function)(cl_mem, void*), void* user_data) {
  buffer->when_gone.emplace_back(function, user_data);
  return CL_SUCCESS;
}

cl_int CL_API_CALL release_buffer(cl_mem buffer) {
  if (--buffer->references > 0) return CL_SUCCESS;
  for (auto at = buffer->when_gone.rbegin(); at != buffer->when_gone.rend(); ++at) at->first(buffer, at->second);
  delete buffer;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_memory_info(cl_mem buffer, cl_mem_info question, std::size_t room, void* value,
                                   std::size_t* size) {
  switch (question) {
    case CL_MEM_TYPE: return answer(fact_of(cl_mem_object_type{CL_MEM_OBJECT_BUFFER}), room, value, size);
    case CL_MEM_FLAGS: return answer(fact_of(buffer->flags), room, value, size);
    case CL_MEM_SIZE: return answer(fact_of(buffer->size), room, value, size);
    case CL_MEM_CONTEXT: return answer(fact_of(buffer->context), room, value, size);
    case CL_MEM_REFERENCE_COUNT: return answer(fact_of(buffer->references.load()), room, value, size);
    default: return CL_INVALID_VALUE;
  }
}

cl_int done(cl_event* event) {
  if (event != nullptr) *event = new _cl_event;
  return CL_SUCCESS;
}

bool fits(cl_mem buffer, std::size_t offset, std::size_t size) {
  return offset <= buffer->size && size <= buffer->size - offset;
}

cl_int CL_API_CALL read(cl_command_queue, cl_mem buffer, cl_bool, std::size_t offset, std::size_t size, void* bytes,
                        cl_uint, const cl_event*, cl_event* event) {
  if (!fits(buffer, offset, size)) return CL_INVALID_VALUE;
  std::memset(bytes, 0, size);
  return done(event);
}

cl_int CL_API_CALL write(cl_command_queue, cl_mem buffer, cl_bool, std::size_t offset, std::size_t size, const void*,
                         cl_uint, const cl_event*, cl_event* event) {
  return fits(buffer, offset, size) ? done(event) : CL_INVALID_VALUE;
}

cl_int CL_API_CALL copy(cl_command_queue, cl_mem from, cl_mem to, std::size_t from_offset, std::size_t to_offset,
                        std::size_t size, cl_uint, const cl_event*, cl_event* event) {
  return fits(from, from_offset, size) && fits(to, to_offset, size) ? done(event) : CL_INVALID_VALUE;
}

cl_int CL_API_CALL fill(cl_command_queue, cl_mem buffer, const void*, std::size_t, std::size_t offset, std::size_t size,
                        cl_uint, const cl_event*, cl_event* event) {
  return fits(buffer, offset, size) ? done(event) : CL_INVALID_VALUE;
}

void* CL_API_CALL map(cl_command_queue, cl_mem buffer, cl_bool, cl_map_flags, std::size_t offset, std::size_t size,
                      cl_uint, const cl_event*, cl_event* event, cl_int* error) {
  if (!fits(buffer, offset, size)) return made<void*>(nullptr, error, CL_INVALID_VALUE);
  done(event);
  return made<void*>(new std::uint64_t[size / 8 + 1](), error);
}

cl_int CL_API_CALL unmap(cl_command_queue, cl_mem, void* mapped, cl_uint, const cl_event*, cl_event* event) {
  delete[] static_cast<std::uint64_t*>(mapped);
  return done(event);
}

}  // namespace

void add_memory_calls(cl_icd_dispatch& calls) {
  calls.clCreateBuffer = create_buffer;
  calls.clCreateSubBuffer = create_sub_buffer;
  calls.clRetainMemObject = retain;
  calls.clReleaseMemObject = release_buffer;
  calls.clSetMemObjectDestructorCallback = call_when_gone;
  calls.clGetMemObjectInfo = get_memory_info;
  calls.clEnqueueReadBuffer = read;
  calls.clEnqueueWriteBuffer = write;
  calls.clEnqueueCopyBuffer = copy;
  calls.clEnqueueFillBuffer = fill;
  calls.clEnqueueMapBuffer = map;
  calls.clEnqueueUnmapMemObject = unmap;
}

}  // namespace crisol::null_driver
