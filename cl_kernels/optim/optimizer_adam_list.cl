// Steps of up to eight parameters, each with its own number of steps. A parameter that is not there has count 0. Blocks
// of all parameters count on, so that each item takes as many blocks as another one.
#include "optim/adam.h"

#define STEP(i)                                                                                                       \
  if (count##i > 0) {                                                                                                 \
    const AdamStep step = adam_step_of(hyper + hyper_offset, number##i + number##i##_offset, beta2, one_minus_beta2,  \
                                       log_beta2, eps, decay, flags);                                                 \
    adam_blocks(first, count##i, parameters##i + parameters##i##_offset, gradients##i + gradients##i##_offset,        \
                means##i + means##i##_offset, squares##i + squares##i##_offset, means##i, &step);                     \
    first -= (count##i + BLOCK * VW - 1) / (BLOCK * VW) % items;                                                      \
    if (first < 0) first += items;                                                                                    \
  }

STEP_KERNEL void optimizer_adam_list(
    __global float* restrict parameters0, const ulong parameters0_offset, __global const STORED* restrict gradients0,
    const ulong gradients0_offset, __global float* restrict means0, const ulong means0_offset,
    __global float* restrict squares0, const ulong squares0_offset, __global const float* restrict number0,
    const ulong number0_offset, const long count0, __global float* restrict parameters1,
    const ulong parameters1_offset, __global const STORED* restrict gradients1, const ulong gradients1_offset,
    __global float* restrict means1, const ulong means1_offset, __global float* restrict squares1,
    const ulong squares1_offset, __global const float* restrict number1, const ulong number1_offset,
    const long count1, __global float* restrict parameters2, const ulong parameters2_offset,
    __global const STORED* restrict gradients2, const ulong gradients2_offset, __global float* restrict means2,
    const ulong means2_offset, __global float* restrict squares2, const ulong squares2_offset,
    __global const float* restrict number2, const ulong number2_offset, const long count2,
    __global float* restrict parameters3, const ulong parameters3_offset, __global const STORED* restrict gradients3,
    const ulong gradients3_offset, __global float* restrict means3, const ulong means3_offset,
    __global float* restrict squares3, const ulong squares3_offset, __global const float* restrict number3,
    const ulong number3_offset, const long count3, __global float* restrict parameters4,
    const ulong parameters4_offset, __global const STORED* restrict gradients4, const ulong gradients4_offset,
    __global float* restrict means4, const ulong means4_offset, __global float* restrict squares4,
    const ulong squares4_offset, __global const float* restrict number4, const ulong number4_offset,
    const long count4, __global float* restrict parameters5, const ulong parameters5_offset,
    __global const STORED* restrict gradients5, const ulong gradients5_offset, __global float* restrict means5,
    const ulong means5_offset, __global float* restrict squares5, const ulong squares5_offset,
    __global const float* restrict number5, const ulong number5_offset, const long count5,
    __global float* restrict parameters6, const ulong parameters6_offset, __global const STORED* restrict gradients6,
    const ulong gradients6_offset, __global float* restrict means6, const ulong means6_offset,
    __global float* restrict squares6, const ulong squares6_offset, __global const float* restrict number6,
    const ulong number6_offset, const long count6, __global float* restrict parameters7,
    const ulong parameters7_offset, __global const STORED* restrict gradients7, const ulong gradients7_offset,
    __global float* restrict means7, const ulong means7_offset, __global float* restrict squares7,
    const ulong squares7_offset, __global const float* restrict number7, const ulong number7_offset,
    const long count7, __global const float* restrict hyper, const ulong hyper_offset, const float beta2,
    const float one_minus_beta2, const float log_beta2, const float eps, const float decay, const int flags) {
  if (SKIPS(hyper + hyper_offset)) return;
  const long items = get_global_size(0);
  long first = get_global_id(0);
  STEP(0)
  STEP(1)
  STEP(2)
  STEP(3)
  STEP(4)
  STEP(5)
  STEP(6)
  STEP(7)
}
