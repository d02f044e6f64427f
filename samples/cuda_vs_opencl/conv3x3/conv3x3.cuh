// y = relu(x * weight + bias): 3 × 3, padding 1, stride 1, NCHW. A block of 16 × 16 threads computes as many pixels of
// 8 output channels of one image, from an 18 × 18 tile of each input channel in shared memory.
#pragma once

constexpr int conv_tile = 16, conv_halo = conv_tile + 2, conv_outputs = 8;

inline __global__ void __launch_bounds__(conv_tile* conv_tile)
    conv3x3_relu(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                 float* __restrict__ y, int channels, int outputs, int height, int width) {
  __shared__ float pixels[conv_halo][conv_halo];
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int column = blockIdx.x * conv_tile + lx, row = blockIdx.y * conv_tile + ly;
  const int groups = outputs / conv_outputs;
  const int image = blockIdx.z / groups, output0 = blockIdx.z % groups * conv_outputs;
  const int column0 = blockIdx.x * conv_tile - 1, row0 = blockIdx.y * conv_tile - 1;
  float sum[conv_outputs];
  for (int o = 0; o < conv_outputs; ++o) sum[o] = bias[output0 + o];

  for (int channel = 0; channel < channels; ++channel) {
    const float* plane = x + static_cast<long>(image * channels + channel) * height * width;
    for (int i = ly; i < conv_halo; i += conv_tile)
      for (int j = lx; j < conv_halo; j += conv_tile) {
        const bool inside = row0 + i >= 0 && row0 + i < height && column0 + j >= 0 && column0 + j < width;
        pixels[i][j] = inside ? plane[(row0 + i) * width + column0 + j] : 0.0f;
      }
    __syncthreads();
    for (int tap = 0; tap < 9; ++tap) {
      const float pixel = pixels[ly + tap / 3][lx + tap % 3];
      for (int o = 0; o < conv_outputs; ++o)
        sum[o] = fmaf(pixel, weight[((output0 + o) * channels + channel) * 9 + tap], sum[o]);
    }
    __syncthreads();
  }
  if (row < height && column < width)
    for (int o = 0; o < conv_outputs; ++o)
      y[(static_cast<long>(image * outputs + output0 + o) * height + row) * width + column] = fmaxf(sum[o], 0.0f);
}
