// What SimpleCNN needs beside conv3x3.cl.

// 2 × 2 maxima of planes (planes, height, width), one work-item each.
__kernel void max_pool(__global const float* restrict x, __global float* restrict y, int planes, int height, int width) {
  const int column = get_global_id(0), row = get_global_id(1), plane = get_global_id(2);
  if (column >= width / 2 || row >= height / 2 || plane >= planes) return;
  __global const float* window = x + ((long)plane * height + 2 * row) * width + 2 * column;
  y[((long)plane * (height / 2) + row) * (width / 2) + column] =
      fmax(fmax(window[0], window[1]), fmax(window[width], window[width + 1]));
}

// y = x weightᵀ + bias of one row, with ReLU where it is wanted: a work-group of 64 an output, summed as a tree.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void linear(__global const float* restrict x,
                                                                     __global const float* restrict weight,
                                                                     __global const float* restrict bias,
                                                                     __global float* restrict y, int inputs, int relu) {
  __local float part[64];
  const int output = get_group_id(0), item = get_local_id(0);
  float sum = 0;
  for (int i = item; i < inputs; i += 64) sum = fma(x[i], weight[(long)output * inputs + i], sum);
  part[item] = sum;
  for (int half_size = 32; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) part[item] += part[item + half_size];
  }
  if (item == 0) y[output] = relu ? fmax(part[0] + bias[output], 0.0f) : part[0] + bias[output];
}
