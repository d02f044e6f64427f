// Chains of elementwise ops, one after another and fused into one kernel. Prints the generated code, the time, and how
// close the speed comes to the speed of the device's memory.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "common/options.h"
#include "crisol/crisol.h"

namespace {

using crisol::Device;
using crisol::Tensor;

// This function is a template. Called with tensors, each op is a kernel. Called with expressions, fuse() makes one
// kernel of it.
struct Gate {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return tanh(a * b + b) * sigmoid(a);
  }
};

// A function that ends in a sum writes a single number.
struct SquaredError {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return sum(square(a - b));
  }
};

/// The shortest of some rounds, in milliseconds. The first round compiles and is not counted.
double milliseconds(int rounds, const std::function<void()>& run) {
  run();
  double best = 0;
  for (int i = 0; i < rounds; ++i) {
    Device().synchronize();
    const auto start = std::chrono::steady_clock::now();
    run();
    Device().synchronize();
    const double time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 ? time : std::min(best, time);
  }
  return best;
}

struct Row {
  const char* name;
  double ms, bytes;  ///< The fewest bytes that any implementation must move.

  double gigabytes_per_second() const { return bytes / ms / 1e6; }
};

void print(const Row& row, double copy_speed) {
  std::printf("  %-16s %9.3f ms %8.1f GB/s %5.2f of copy\n", row.name, row.ms, row.gigabytes_per_second(),
              row.gigabytes_per_second() / copy_speed);
}

double largest_difference(const Tensor& a, const Tensor& b) { return crisol::max(crisol::abs(a - b)).item(); }

/// Compares eager and fused: forward, and the gradients of both inputs.
template <class F>
void compare(const char* title, F f, const Tensor& a, const Tensor& b, bool stores_result, int rounds,
             double copy_speed) {
  const auto fused = crisol::fuse(f);
  std::printf("\n%s\n\n%s\n", title, fused.source(a, b).c_str());
  const double bytes = 4.0 * static_cast<double>(a.numel());
  const double forward = bytes * (stores_result ? 3 : 2), backward = bytes * (stores_result ? 5 : 4);
  const Row eager_row{"eager", milliseconds(rounds, [&] { f(a, b); }), forward};
  const Row fused_row{"fused", milliseconds(rounds, [&] { fused(a, b); }), forward};

  const Tensor gradient = crisol::ones(f(a, b).shape());
  const auto step = [&](const auto& function) {
    return [&] {
      Tensor x = a.detach(), y = b.detach();
      function(x.requires_grad_(), y.requires_grad_()).backward(gradient);
    };
  };
  const Row eager_step{"eager + backward", milliseconds(rounds, step(f)), forward + backward};
  const Row fused_step{"fused + backward", milliseconds(rounds, step(fused)), forward + backward};
  for (const Row& row : {eager_row, fused_row, eager_step, fused_step}) print(row, copy_speed);
  std::printf("  fused is %.1f times as fast, with backward %.1f times; largest difference %.1e\n",
              eager_row.ms / fused_row.ms, eager_step.ms / fused_step.ms, largest_difference(f(a, b), fused(a, b)));
}

void run(std::int64_t elements, int rounds) {
  const Tensor a = crisol::randn({elements}), b = crisol::randn({elements});
  std::printf("device: %s, %lld elements\n", Device().name().c_str(), static_cast<long long>(elements));
  const Row copy{"copy", milliseconds(rounds, [&] { a.clone(); }), 8.0 * static_cast<double>(elements)};
  std::printf("\nwhat the memory does\n\n");
  print(copy, copy.gigabytes_per_second());
  compare("tanh(a * b + b) * sigmoid(a)", Gate(), a, b, true, rounds, copy.gigabytes_per_second());
  compare("sum(square(a - b))", SquaredError(), a, b, false, rounds, copy.gigabytes_per_second());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Elementwise chains, eager and fused into one kernel");
  std::string device;
  std::int64_t elements = std::int64_t{1} << 24;
  int rounds = 10;
  samples::add_device(app, device);
  app.add_option("--elements", elements, "Elements of each input")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_option("--rounds", rounds, "Number of rounds; the fastest one counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) crisol::set_default_device(Device(device));
    run(elements, rounds);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "elementwise: %s\n", error.what());
    return 1;
  }
}
