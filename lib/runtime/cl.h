// The parts of OpenCL that this library uses. CLHPP's handles own objects, and return codes become Error.
#pragma once

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace crisol::runtime {

/// For example "CL_OUT_OF_RESOURCES", or "unnamed OpenCL error".
const char* cl_error_name(cl_int code) noexcept;

bool is_memory_error(cl_int code) noexcept;

/// Throws unless code is CL_SUCCESS: out_of_memory for codes that mean missing memory, otherwise device_failure.
void check_cl(cl_int code, const char* call);

}  // namespace crisol::runtime
