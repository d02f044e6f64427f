// The parts of OpenCL that this library uses: CLHPP's handles for ownership. Return codes become Error.
#pragma once

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace crisol::runtime {

/// For example "CL_OUT_OF_RESOURCES", or "unnamed OpenCL error".
const char* cl_error_name(cl_int code) noexcept;

bool is_memory_error(cl_int code) noexcept;

/// Throws unless code is CL_SUCCESS: out_of_memory for the codes that mean it, otherwise device_failure.
void check_cl(cl_int code, const char* call);

}  // namespace crisol::runtime
