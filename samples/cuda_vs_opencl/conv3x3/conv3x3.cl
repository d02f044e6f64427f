// y = relu(x * weight + bias): 3 × 3, padding 1, stride 1, NCHW. A work-group of 16 × 16 computes as many pixels of 8
// output channels of one image, from an 18 × 18 tile of each input channel in local memory.
#define TILE 16
#define HALO (TILE + 2)
#define OUTPUTS 8

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void conv3x3_relu(
    __global const float* restrict x, __global const float* restrict weight, __global const float* restrict bias,
    __global float* restrict y, int channels, int outputs, int height, int width) {
  __local float pixels[HALO][HALO];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  const int groups = outputs / OUTPUTS, image = get_group_id(2) / groups, output0 = get_group_id(2) % groups * OUTPUTS;
  const int column0 = get_group_id(0) * TILE - 1, row0 = get_group_id(1) * TILE - 1;
  float sum[OUTPUTS];
  for (int o = 0; o < OUTPUTS; ++o) sum[o] = bias[output0 + o];

  for (int channel = 0; channel < channels; ++channel) {
    __global const float* plane = x + (long)(image * channels + channel) * height * width;
    for (int i = ly; i < HALO; i += TILE)
      for (int j = lx; j < HALO; j += TILE) {
        const bool inside = row0 + i >= 0 && row0 + i < height && column0 + j >= 0 && column0 + j < width;
        pixels[i][j] = inside ? plane[(row0 + i) * width + column0 + j] : 0.0f;
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int tap = 0; tap < 9; ++tap) {
      const float pixel = pixels[ly + tap / 3][lx + tap % 3];
      for (int o = 0; o < OUTPUTS; ++o)
        sum[o] = fma(pixel, weight[((output0 + o) * channels + channel) * 9 + tap], sum[o]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < height && column < width)
    for (int o = 0; o < OUTPUTS; ++o)
      y[((long)(image * outputs + output0 + o) * height + row) * width + column] = fmax(sum[o], 0.0f);
}
