// A tour of devices: which devices there are, which one is used, where tensors and models are stored, and what
// transfers and waiting cost. Two OpenCL implementations on one CPU count as two devices.
//
//     devices [--device DEVICE]
#include <crisol/crisol.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <vector>

#include "common/options.h"

namespace {

using namespace crisol;

// ---- Which devices there are ----

int count(DeviceType type) {
  int found = 0;
  for (const Device device : devices()) found += device.info().type == type;
  return found;
}

/// The i-th GPU, or the default device if there are fewer GPUs. Such a program runs everywhere.
Device try_gpu(int i = 0) { return i < count(DeviceType::gpu) ? Device("gpu:" + std::to_string(i)) : Device(); }

/// All GPUs, or only the default device if there is no GPU.
std::vector<Device> try_all() {
  std::vector<Device> all;
  for (int i = 0; i < count(DeviceType::gpu); ++i) all.push_back(try_gpu(i));
  return all.empty() ? std::vector{Device()} : all;
}

void list_devices() {
  std::cout << "1. Devices\n";
  for (const Device device : devices())
    std::cout << "   " << device.index() << ": " << device << ", " << name_of(device.info().type) << '\n';
  std::cout << "   " << count(DeviceType::gpu) << " GPUs, " << count(DeviceType::cpu) << " CPUs\n"
            << "   the default: " << Device().index() << ", " << default_device_reason() << '\n'
            << "   try_gpu(0): " << try_gpu(0).index() << ", try_gpu(9): " << try_gpu(9).index()
            << ", try_all(): " << try_all().size() << '\n';
}

// ---- The device of a tensor ----

void place_tensors(Device here, Device there) {
  std::cout << "2. Tensors\n";
  const Tensor a = ones({2, 3}), b = ones({2, 3}, DType::f32, there);
  std::cout << "   made without a word: device " << a.device().index() << "; made for device " << there.index() << ": "
            << b.device().index() << '\n';
  if (here == there) {
    std::cout << "   one device only: no second one for an op to fail on\n";
    return;
  }
  try {
    std::cout << a + b;
  } catch (const Error& error) {
    std::cout << "   a + b: " << error.what() << '\n';
  }
  const Tensor moved = b.to(here);  // This copies.
  std::cout << "   a + b.to(device " << here.index() << "): sum " << sum(a + moved).item() << '\n';
}

void move_twice(Device there) {
  const Tensor x = ones({4}).to(there);
  const Tensor again = x.to(there);  // This copies nothing, because x is stored there already.
  std::cout << "   to() where it lies already shares its memory: " << (x.shares_storage_with(again) ? "yes" : "no")
            << '\n';
}

// ---- The cost of transfers and of waiting ----

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class Run>
double milliseconds(const Run& run) {
  synchronize();
  const auto start = Clock::now();
  run();
  synchronize();
  return ms_since(start);
}

void transfer() {
  constexpr std::int64_t pieces = 1000, elements = 1000;
  const std::vector<float> host(pieces * elements, 1.0f), piece(elements, 1.0f);
  Tensor x = zeros({pieces, elements});
  const auto one_large = [&] { x.copy_from(host); };
  const auto many_small = [&] {
    for (std::int64_t i = 0; i < pieces; ++i) x.select(0, i).copy_from(piece);
  };
  one_large();  // The first run creates buffers.
  std::printf("3. Transfers of 4 MB to the device\n   as one: %.2f ms, as a thousand: %.2f ms\n",
              milliseconds(one_large), milliseconds(many_small));
}

void wait() {
  const Tensor a = randn({512, 512});
  Tensor b = matmul(a, a);
  synchronize();  // After this the kernels are compiled.
  const auto start = Clock::now();
  for (int i = 0; i < 20; ++i) b = matmul(a, b) * 0.05;
  const double queued = ms_since(start);
  std::cout << "4. Work is queued\n   an element of 20 products: " << b.select(0, 0).select(0, 0).item() << '\n';
  std::printf("   queued after %.2f ms; printing waited for them: %.2f ms\n", queued, ms_since(start));
}

// ---- The device of a model ----

void move_model(Device here, Device there) {
  nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
  net.to(there);
  std::cout << "5. A model on device " << there.index() << '\n';
  for (const auto& [name, parameter] : net.named_parameters())
    std::cout << "   " << name << ' ' << parameter.shape() << ": device " << parameter.device().index() << '\n';
  const Tensor x = ones({1, 4}, DType::f32, here);
  std::cout << "   its input goes there, its output comes from there: device " << net(x.to(there)).device().index()
            << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A tour of devices: where tensors and models are stored, what transfers and waiting cost");
  std::string name;
  samples::add_device(app, name);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!name.empty()) set_default_device(Device(name));
    const Device here;
    Device there = here;  // A second device, if there is one.
    for (const Device device : devices())
      if (device != here && device.info().has_compiler) there = device;
    list_devices();
    place_tensors(here, there);
    move_twice(there);
    transfer();
    wait();
    move_model(here, there);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "devices: " << error.what() << '\n';
    return 1;
  }
}
