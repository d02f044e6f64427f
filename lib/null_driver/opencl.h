// The OpenCL version that this driver speaks; everything else about the device comes from its file.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
