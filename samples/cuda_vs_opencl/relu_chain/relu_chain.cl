// y = relu(relu(x) scale + shift), one work-item an element.
__kernel void relu_chain(__global const float* restrict x, __global float* restrict y, float scale, float shift, int count) {
  const int i = get_global_id(0);
  if (i < count) y[i] = fmax(fmax(x[i], 0.0f) * scale + shift, 0.0f);
}
