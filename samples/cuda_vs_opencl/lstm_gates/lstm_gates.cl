// The pointwise part of an LSTM step, one work-item a hidden unit of a sequence: gates (batch, 4 hidden) are i, f, g, o.
float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

__kernel void lstm_gates(__global const float* restrict gates, __global const float* restrict cell,
                         __global float* restrict new_hidden, __global float* restrict new_cell, int batch, int hidden) {
  const int unit = get_global_id(0), sequence = get_global_id(1);
  if (unit >= hidden || sequence >= batch) return;
  __global const float* own = gates + (long)sequence * 4 * hidden + unit;
  const float i = sigmoid(own[0]), f = sigmoid(own[hidden]), g = tanh(own[2 * hidden]), o = sigmoid(own[3 * hidden]);
  const long at = (long)sequence * hidden + unit;
  const float c = f * cell[at] + i * g;
  new_cell[at] = c;
  new_hidden[at] = o * tanh(c);
}
