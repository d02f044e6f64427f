// What SimpleCNN needs beside conv3x3.cuh.
#pragma once

// 2 × 2 maxima of planes (planes, height, width), one thread each.
__global__ void max_pool(const float* __restrict__ x, float* __restrict__ y, int planes, int height, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = blockIdx.z;
  if (column >= width / 2 || row >= height / 2 || plane >= planes) return;
  const float* window = x + (static_cast<long>(plane) * height + 2 * row) * width + 2 * column;
  y[(static_cast<long>(plane) * (height / 2) + row) * (width / 2) + column] =
      fmaxf(fmaxf(window[0], window[1]), fmaxf(window[width], window[width + 1]));
}

// y = x weightᵀ + bias of one row, with ReLU where it is wanted: a warp an output, summed by shuffles.
__global__ void linear(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                       float* __restrict__ y, int inputs, bool relu) {
  const int output = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  for (int i = lane; i < inputs; i += warpSize) sum = fmaf(x[i], weight[static_cast<long>(output) * inputs + i], sum);
  for (int distance = warpSize / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[output] = relu ? fmaxf(sum + bias[output], 0.0f) : sum + bias[output];
}
