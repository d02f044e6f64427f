// The pointwise part of an LSTM step, one thread a hidden unit of a sequence: gates (batch, 4 hidden) are i, f, g, o.
#pragma once

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__global__ void lstm_gates(const float* __restrict__ gates, const float* __restrict__ cell,
                           float* __restrict__ new_hidden, float* __restrict__ new_cell, int batch, int hidden) {
  const int unit = blockIdx.x * blockDim.x + threadIdx.x, sequence = blockIdx.y * blockDim.y + threadIdx.y;
  if (unit >= hidden || sequence >= batch) return;
  const float* own = gates + static_cast<long>(sequence) * 4 * hidden + unit;
  const float i = sigmoid(own[0]), f = sigmoid(own[hidden]), g = tanhf(own[2 * hidden]), o = sigmoid(own[3 * hidden]);
  const long at = static_cast<long>(sequence) * hidden + unit;
  const float c = f * cell[at] + i * g;
  new_cell[at] = c;
  new_hidden[at] = o * tanhf(c);
}
