// Another device in the true one's place: its facts come from a file of devices/, the work is done by the true driver.
#pragma once

#include <cstddef>

#include "null_driver/opencl.h"

namespace crisol::testing {

/// Names the JSON file of the device to pose as, as read_device_info reads it. To be set before the first OpenCL call.
constexpr const char* pose_variable = "CRISOL_POSE_DEVICE";

/// Whether the variable is set.
bool is_posing();

/// Writes functions that answer for the posed device over the table's; `original` keeps the true driver's.
void add_pose(cl_icd_dispatch& table, const cl_icd_dispatch& original);

/// clGetPlatformInfo of the posed device.
cl_int CL_API_CALL posed_platform_info(cl_platform_id platform, cl_platform_info question, std::size_t room,
                                       void* value, std::size_t* size);

/// What a buffer or launch breaks of the posed device's limits: a code of OpenCL, or CL_SUCCESS.
cl_int check_posed_buffer(cl_context context, std::size_t bytes);
cl_int check_posed_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* group);

}  // namespace crisol::testing
