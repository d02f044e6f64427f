// Conversion of exceptions to statuses and messages.
#include "base/per_thread.h"
#include "c_api/handles.h"
#include "crisol/version.h"

namespace crisol::c_api {

namespace {

/// The message of the last call that failed in this thread.
struct LastMessage {
  std::string text;
};

crisol_status code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return CRISOL_INVALID_ARGUMENT;
    case ErrorCode::device_not_found: return CRISOL_DEVICE_NOT_FOUND;
    case ErrorCode::build_failure: return CRISOL_BUILD_FAILURE;
    case ErrorCode::out_of_memory: return CRISOL_OUT_OF_MEMORY;
    case ErrorCode::device_failure: return CRISOL_DEVICE_FAILURE;
    case ErrorCode::io: return CRISOL_IO;
  }
  return CRISOL_INTERNAL;
}

crisol_status noted(crisol_status status, const char* text) noexcept {
  try {
    std::string& message = per_thread<LastMessage>().text;
    message.clear();
    message = text;
  } catch (...) {
    // There is no memory for a message, so the caller gets only the status.
  }
  return status;
}

}  // namespace

crisol_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return noted(code_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return noted(CRISOL_OUT_OF_MEMORY, "no host memory");
  } catch (const std::exception& error) {
    return noted(CRISOL_INTERNAL, error.what());
  } catch (...) {
    return noted(CRISOL_INTERNAL, "unknown exception");
  }
}

std::vector<Tensor> tensors_of(const crisol_tensor* const* list, int count, const char* op, const char* name) {
  require(count >= 0 && (count == 0 || list != nullptr), op, name, ": ", count, " tensors at ",
          list == nullptr ? "null" : "an address");
  std::vector<Tensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back(tensor_of(list[i], op, name));
  return tensors;
}

std::vector<std::int64_t> numbers_of(const std::int64_t* numbers, std::int64_t count, const char* op,
                                     const char* name) {
  require(count >= 0 && (count == 0 || numbers != nullptr), op, name, ": ", count, " numbers at ",
          numbers == nullptr ? "null" : "an address");
  return std::vector<std::int64_t>(numbers, numbers + count);
}

Shape shape_of(const std::int64_t* numbers, int count, const char* op, const char* name) {
  require(count >= 0 && count <= Shape::max_rank, op, name, " has ", count, " numbers, allowed are 0 to ",
          Shape::max_rank);
  require(count == 0 || numbers != nullptr, op, name, " is null");
  return Shape(numbers, static_cast<std::size_t>(count));
}

Device device_of(crisol_device device, const char* op) {
  if (device == CRISOL_DEFAULT_DEVICE) return Device();
  const std::vector<Device> all = devices();
  require(device >= 0 && device < static_cast<crisol_device>(all.size()), op, "device ", device, " of ", all.size());
  return all[static_cast<std::size_t>(device)];
}

DType dtype_of(crisol_dtype dtype, const char* op) {
  require(dtype >= 0 && dtype < CRISOL_DTYPE_COUNT, op, "dtype ", dtype, " is none");
  return static_cast<DType>(dtype);
}

static_assert(CRISOL_DTYPE_COUNT == detail::dtype_count);
static_assert(CRISOL_MAX_RANK == Shape::max_rank);

}  // namespace crisol::c_api

const char* crisol_error_message() { return crisol::per_thread<crisol::c_api::LastMessage>().text.c_str(); }
const char* crisol_version() { return crisol::version(); }
