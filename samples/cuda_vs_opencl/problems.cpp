#include "problems.h"

#include <crisol/crisol.h>

#include <algorithm>
#include <cmath>

#include "digits/digits.h"

namespace twins {

namespace {

/// Uniform between -1 and 1; the same values on every machine.
Floats random_floats(std::size_t count, std::uint32_t seed) {
  Floats values(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return values;
}

std::size_t product(std::initializer_list<int> sizes) {
  std::size_t result = 1;
  for (const int size : sizes) result *= static_cast<std::size_t>(size);
  return result;
}

SimpleCnn make_simple_cnn(const std::string& weights, int& digit) {
  crisol::manual_seed(1);
  crisol::nn::SimpleCNN net;
  if (!weights.empty()) net.load_state_dict(crisol::io::load_safetensors(weights));
  const auto parameters = net.named_parameters();
  const auto values = [&](const std::string& name) {
    for (const auto& [key, tensor] : parameters)
      if (key == name) return tensor.to_vector<float>();
    throw std::runtime_error("SimpleCNN has no parameter " + name);
  };
  const crisol::io::ImageSet digits = samples::render_digits(10, 7);
  digit = digits.labels[0];
  SimpleCnn task;
  for (std::size_t i = 0; i < 28 * 28; ++i)  // Standardised as in the mnist sample.
    task.image.push_back((static_cast<float>(digits.pixels[i]) / 255 - 0.1307f) / 0.3081f);
  task.conv1_weight = values("conv1.weight");
  task.conv1_bias = values("conv1.bias");
  task.conv2_weight = values("conv2.weight");
  task.conv2_bias = values("conv2.bias");
  task.fc1_weight = values("fc1.weight");
  task.fc1_bias = values("fc1.bias");
  task.fc2_weight = values("fc2.weight");
  task.fc2_bias = values("fc2.bias");
  return task;
}

Floats pooled(const Floats& x, int planes, int side) {
  Floats y;
  for (int plane = 0; plane < planes; ++plane)
    for (int row = 0; row < side; row += 2)
      for (int column = 0; column < side; column += 2) {
        const float* window = x.data() + (plane * side + row) * side + column;
        y.push_back(std::max(std::max(window[0], window[1]), std::max(window[side], window[side + 1])));
      }
  return y;
}

Floats linear(const Floats& x, const Floats& weight, const Floats& bias, bool relu) {
  Floats y;
  for (std::size_t output = 0; output < bias.size(); ++output) {
    double sum = bias[output];
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * weight[output * x.size() + i];
    y.push_back(static_cast<float>(relu ? std::max(sum, 0.0) : sum));
  }
  return y;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

Problems make_problems(bool small, const std::string& weights) {
  const std::size_t elements = small ? 1000 : std::size_t{1} << 24;
  const int n = small ? 70 : 1024;
  const int images = small ? 1 : 16, channels = small ? 3 : 64, outputs = small ? 8 : 64, side = small ? 18 : 56;
  const int batch = small ? 3 : 256, hidden = small ? 20 : 1024;
  Problems problems;
  problems.relu_chain = {random_floats(elements, 1), 2.0f, -0.5f};
  problems.sgemm = {n, n, n, random_floats(product({n, n}), 2), random_floats(product({n, n}), 3)};
  problems.conv3x3 = {images,
                      channels,
                      outputs,
                      side,
                      side,
                      random_floats(product({images, channels, side, side}), 4),
                      random_floats(product({outputs, channels, 9}), 5),
                      random_floats(product({outputs}), 6)};
  problems.lstm_gates = {batch, hidden, random_floats(product({batch, 4, hidden}), 7),
                         random_floats(product({batch, hidden}), 8)};
  problems.simple_cnn = make_simple_cnn(weights, problems.digit);
  return problems;
}

Floats expected(const ReluChain& task) {
  Floats y;
  for (const float x : task.x) y.push_back(std::max(std::max(x, 0.0f) * task.scale + task.shift, 0.0f));
  return y;
}

Floats expected(const Sgemm& task) {
  Floats c(product({task.m, task.n}));
  std::vector<double> row(static_cast<std::size_t>(task.n));
  for (int i = 0; i < task.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int k = 0; k < task.k; ++k)
      for (int j = 0; j < task.n; ++j)
        row[static_cast<std::size_t>(j)] +=
            static_cast<double>(task.a[product({i, task.k}) + static_cast<std::size_t>(k)]) *
            task.b[product({k, task.n}) + static_cast<std::size_t>(j)];
    std::transform(row.begin(), row.end(), c.begin() + i * task.n, [](double sum) { return static_cast<float>(sum); });
  }
  return c;
}

Floats expected(const Conv3x3& task) {
  const int h = task.height, w = task.width;
  Floats y;
  std::vector<double> plane(product({h, w}));
  for (int image = 0; image < task.images; ++image)
    for (int output = 0; output < task.outputs; ++output) {
      std::fill(plane.begin(), plane.end(), task.bias[static_cast<std::size_t>(output)]);
      for (int channel = 0; channel < task.channels; ++channel)
        for (int tap = 0; tap < 9; ++tap) {
          const double weight =
              task.weight[product({output * task.channels + channel, 9}) + static_cast<std::size_t>(tap)];
          const float* x = task.x.data() + product({image * task.channels + channel, h, w});
          const int dy = tap / 3 - 1, dx = tap % 3 - 1;
          for (int row = std::max(0, -dy); row < std::min(h, h - dy); ++row)
            for (int column = std::max(0, -dx); column < std::min(w, w - dx); ++column)
              plane[static_cast<std::size_t>(row * w + column)] += weight * x[(row + dy) * w + column + dx];
        }
      for (const double sum : plane) y.push_back(static_cast<float>(std::max(sum, 0.0)));
    }
  return y;
}

Floats expected(const LstmGates& task) {
  Floats hidden, cells;
  for (int sequence = 0; sequence < task.batch; ++sequence)
    for (int unit = 0; unit < task.hidden; ++unit) {
      const auto gate = [&](int which) -> double {
        return task.gates[static_cast<std::size_t>((sequence * 4 + which) * task.hidden + unit)];
      };
      const double cell = sigmoid(gate(1)) * task.cell[static_cast<std::size_t>(sequence * task.hidden + unit)] +
                          sigmoid(gate(0)) * std::tanh(gate(2));
      cells.push_back(static_cast<float>(cell));
      hidden.push_back(static_cast<float>(sigmoid(gate(3)) * std::tanh(cell)));
    }
  hidden.insert(hidden.end(), cells.begin(), cells.end());
  return hidden;
}

Floats expected(const SimpleCnn& task) {
  const Floats planes1 = expected(Conv3x3{1, 1, 32, 28, 28, task.image, task.conv1_weight, task.conv1_bias});
  const Floats planes2 =
      expected(Conv3x3{1, 32, 64, 14, 14, pooled(planes1, 32, 28), task.conv2_weight, task.conv2_bias});
  const Floats hidden = linear(pooled(planes2, 64, 14), task.fc1_weight, task.fc1_bias, true);
  return linear(hidden, task.fc2_weight, task.fc2_bias, false);
}

double error_of(const Floats& values, const Floats& expected) {
  if (values.size() != expected.size()) return INFINITY;
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    const double off = std::abs(static_cast<double>(values[i]) - expected[i]);
    if (!(off <= difference)) difference = off;  // Also true when `off` is NaN.
  }
  return difference / largest;
}

}  // namespace twins
