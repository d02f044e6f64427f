// The OpenCL version that this driver supports. All other facts about the device come from its file.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
