// Poses as another device: a file of devices/ provides its properties, and the true driver does the work.
#pragma once

#include <cstddef>

#include "null_driver/opencl.h"

namespace crisol::testing {

/// The variable with the path of the posed device's JSON file, as for read_device_info. Set it before the first OpenCL
/// call.
constexpr const char* pose_variable = "CRISOL_POSE_DEVICE";

/// Whether the variable is set.
bool is_posing();

/// Replaces functions in the table by functions for the posed device. `original` holds the true driver's functions.
void add_pose(cl_icd_dispatch& table, const cl_icd_dispatch& original);

/// clGetPlatformInfo for the posed device.
cl_int CL_API_CALL posed_platform_info(cl_platform_id platform, cl_platform_info question, std::size_t room,
                                       void* value, std::size_t* size);

/// Checks a buffer or launch against the posed device's limits. Returns an OpenCL error code, or CL_SUCCESS.
cl_int check_posed_buffer(cl_context context, std::size_t bytes);
cl_int check_posed_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* group);

}  // namespace crisol::testing
