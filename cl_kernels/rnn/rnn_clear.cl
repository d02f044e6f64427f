// Sets initial states of a recurrent layer to 0, or gradients of its last states: h_count elements of h and c_count of
// c.
__kernel void rnn_clear(__global float* h, const ulong h_offset, __global float* c, const ulong c_offset,
                        const long h_count, const long c_count) {
  const long at = get_global_id(0);
  if (at < h_count) h[h_offset + at] = 0.0f;
  if (at < c_count) c[c_offset + at] = 0.0f;
}
