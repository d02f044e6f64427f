// The measured peaks of a device: short kernels of probe.cl, timed from the host.
#include <algorithm>
#include <map>
#include <mutex>

#include "crisol/profile.h"
#include "dispatch/device_defines.h"
#include "measure/sizes.h"
#include "measure/timing.h"
#include "runtime/launch.h"
#include "runtime/memory/transfer.h"

namespace crisol {

namespace {

using runtime::best_seconds;
using runtime::BufferView;
using runtime::BuiltKernel;
using runtime::DeviceState;
using runtime::NdRange;
using runtime::sample_seconds;
using runtime::seconds_of;

class Probe {
 public:
  explicit Probe(DeviceState& device)
      : device_(device),
        info_(runtime::info_of(device)),
        cpu_(info_.type == DeviceType::cpu),
        width_(std::max(4, runtime::vector_width(device))),
        group_(cpu_ ? 1 : static_cast<std::int64_t>(std::min<std::uint64_t>(256, info_.max_work_group))) {}

  DeviceSpeed measure() {
    DeviceSpeed speed;
    measure_launches(speed);
    speed.gflops = arithmetic(kernel("probe_fma"), width_);
    measure_memory(speed);
    return speed;
  }

  /// Operations a second in half precision. If the device has vectors, vectors of half have twice as many lanes as
  /// vectors of float.
  double half_gflops() {
    if (!info_.fp16) return 0;
    const int width = cpu_ ? 16 : width_;
    runtime::KernelSpec spec{"measure/probe_half.cl", "probe_half", {{"VW", width}}};
    return arithmetic(runtime::resolve(device_, spec), width);
  }

  BuiltKernel& kernel(const char* entry) {
    runtime::KernelSpec spec{"measure/probe.cl", entry, {{"VW", width_}, {"VECTORS", vectors()}}};
    if (!cpu_) spec.defines.add({"INTERLEAVED", 1});
    dispatch::define_math(spec.defines, info_);
    return runtime::resolve(device_, spec);
  }

 private:
  // There are few vectors on GPUs, because llvmpipe ends a work-item's loops after 65535 iterations.
  std::int64_t vectors() const { return cpu_ ? 8192 : 16; }

  NdRange range(std::int64_t items) const { return {{items}, {group_}}; }

  void measure_launches(DeviceSpeed& speed) {
    BuiltKernel& empty = kernel("probe_empty");
    const NdRange one{{1}, {1}};
    const auto queue = [&] { runtime::launch(device_, empty, one, 0); };
    speed.launch_us = 1e6 * best_seconds(device_, queue);
    const auto wait = [&] {
      queue();
      runtime::finish(device_);
    };
    speed.wait_us = 1e6 * best_seconds(device_, wait);
  }

  // 10^9 operations a second, measured with chains of multiply-adds on vectors of `width`. The number of rounds grows
  // until a run is long enough. A slow device keeps few rounds.
  double arithmetic(BuiltKernel& fma, int width) {
    const std::int64_t items = std::int64_t{info_.compute_units} * (cpu_ ? 8 : 16 * group_);
    const runtime::BlockPtr block = runtime::allocate(device_, static_cast<std::uint64_t>(items * width) * 4);
    const BufferView y{block.get(), 0};
    std::int32_t rounds = 4;
    const auto run = [&] { runtime::launch(device_, fma, range(items), y, rounds, 0.999f, 0.001f); };
    seconds_of(device_, 1, run);
    while (rounds < 30000 && seconds_of(device_, 1, run) < sample_seconds / 2) rounds *= 4;
    const double chain_ops = 2.0 * 4 * CHAINS * width * rounds * static_cast<double>(items);
    return chain_ops / best_seconds(device_, run) * 1e-9;
  }

  void measure_memory(DeviceSpeed& speed) {
    const std::int64_t of_item = vectors() * width_ * 4;  // In bytes.
    const std::int64_t step = of_item * group_;
    const auto room = static_cast<std::int64_t>(
        std::min({std::uint64_t{cpu_ ? 64u << 20 : 256u << 20}, info_.global_memory / 16, info_.max_allocation}));
    std::int64_t items = std::max<std::int64_t>(1, room / step) * group_;
    const auto size = static_cast<std::uint64_t>(items * of_item);
    runtime::BlockPtr blocks[3];
    for (runtime::BlockPtr& block : blocks) block = runtime::allocate(device_, size);
    const float zero = 0;
    for (int i = 0; i < 2; ++i) runtime::fill(*blocks[i], 0, size, &zero, sizeof zero);
    const BufferView a{blocks[0].get(), 0}, x{blocks[1].get(), 0}, y{blocks[2].get(), 0};

    const auto copy = [&](BuiltKernel& k) { runtime::launch(device_, k, range(items), x, y); };
    BuiltKernel& plain = kernel("probe_copy");
    items = group_;  // Copies one piece first. Its time gives the number of pieces for the measurement.
    seconds_of(device_, 1, [&] { copy(plain); });
    const double piece = seconds_of(device_, 1, [&] { copy(plain); });
    items = std::clamp(static_cast<std::int64_t>(10 * sample_seconds / piece), std::int64_t{1}, room / step) * group_;

    const double bytes = static_cast<double>(items * of_item);
    const auto rate = [&](double streams, const auto& run) {
      return streams * bytes / best_seconds(device_, run) * 1e-9;
    };
    for (const char* entry : {"probe_copy", "probe_copy_stream"}) {
      BuiltKernel& k = kernel(entry);
      speed.copy_gbps = std::max(speed.copy_gbps, rate(2, [&] { copy(k); }));
    }
    for (const char* entry : {"probe_triad", "probe_triad_stream"}) {
      BuiltKernel& k = kernel(entry);
      const auto triad = [&] { runtime::launch(device_, k, range(items), a, x, y, 3.0f); };
      speed.triad_gbps = std::max(speed.triad_gbps, rate(3, triad));
    }
  }

  DeviceState& device_;
  const DeviceInfo& info_;
  const bool cpu_;
  const int width_;
  const std::int64_t group_;
};

}  // namespace

namespace {

struct Measured {
  std::mutex mutex;
  std::map<int, DeviceSpeed> by_device;
};

Measured& measured() {
  static Measured all;
  return all;
}

}  // namespace

DeviceSpeed measured_speed(Device device) {
  const std::lock_guard lock(measured().mutex);
  const auto known = measured().by_device.find(device.index());
  if (known != measured().by_device.end()) return known->second;
  return measured().by_device[device.index()] = Probe(device.state()).measure();
}

DeviceSpeed measure_speed_again(Device device) {
  const DeviceSpeed before = measured_speed(device), now = Probe(device.state()).measure();
  const std::lock_guard lock(measured().mutex);
  return measured().by_device[device.index()] = {
             std::max(before.gflops, now.gflops), std::max(before.copy_gbps, now.copy_gbps),
             std::max(before.triad_gbps, now.triad_gbps), std::min(before.launch_us, now.launch_us),
             std::min(before.wait_us, now.wait_us)};
}

double measured_half_gflops(Device device) { return Probe(device.state()).half_gflops(); }

void launch_empty(Device device) {
  runtime::launch(device.state(), Probe(device.state()).kernel("probe_empty"), {{1}, {1}}, 0);
}

}  // namespace crisol
