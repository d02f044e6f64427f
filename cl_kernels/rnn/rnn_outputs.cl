// Sets the padding of sequences to 0: y[t][b][j] = states[t][b][j], or 0 where t >= lengths[b]. All tensors are (T, B,
// R).
__kernel void rnn_outputs(__global const float* restrict states, const ulong states_offset,
                          __global const long* restrict lengths, const ulong lengths_offset, __global float* restrict y,
                          const ulong y_offset, const long count, const long batch, const long outputs) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long row = at / outputs;
  const long t = row / batch;
  y[y_offset + at] = t < lengths[lengths_offset + row - t * batch] ? states[states_offset + at] : 0.0f;
}
