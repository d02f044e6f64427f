// crisol_soak [--seconds N] [--threads N]: trains small networks in several threads on every device for some time.
// Checks that each training gives the same numbers every time, and that memory does not grow.
//
// Regularly prints the process's resident memory and the devices' pools. Fails on a wrong number, an exception, or
// memory that grew by a tenth (and 16 MiB) after the first tenth of the time.
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "crisol/device.h"
#include "support/training.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr double mebi = 1 << 20;

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / mebi;
}

struct Memory {
  double resident = 0, in_use = 0, reserved = 0;  // Sizes in MiB. The last two are sums over all devices.
};

Memory measure() {
  Memory memory{resident_mib()};
  for (const crisol::Device device : crisol::devices()) {
    const crisol::MemoryStats stats = device.memory_stats();
    memory.in_use += static_cast<double>(stats.in_use) / mebi;
    memory.reserved += static_cast<double>(stats.in_use + stats.cached) / mebi;
  }
  return memory;
}

bool has_grown(double before, double now) { return now > before * 1.1 + 16; }

class Soak {
 public:
  Soak(int threads_per_device, double seconds) : seconds_(seconds), start_(Clock::now()) {
    for (const crisol::Device device : crisol::devices()) {
      if (!device.info().has_compiler) continue;
      for (int t = 0; t < threads_per_device; ++t)
        threads_.emplace_back([this, device, t] { work(device, static_cast<std::uint64_t>(t)); });
    }
  }

  /// Waits for the end. Returns whether everything was right.
  bool finish() {
    constexpr int reports = 20;
    Memory early;
    for (int i = 1; i <= reports; ++i) {
      std::this_thread::sleep_until(start_ + std::chrono::duration<double>(seconds_ * i / reports));
      const Memory now = measure();
      if (i == reports / 10) early = now;
      std::printf("%6.0f s: %ld trainings, resident %.1f MiB, pools %.1f MiB in use, %.1f MiB reserved\n",
                  seconds_ * i / reports, trainings_.load(), now.resident, now.in_use, now.reserved);
      std::fflush(stdout);
      if (i > reports / 10 && (has_grown(early.resident, now.resident) || has_grown(early.reserved, now.reserved)))
        grew_ = true;
    }
    ended_ = true;
    for (std::thread& thread : threads_) thread.join();
    if (grew_) std::puts("memory grew");
    std::printf("%ld trainings, %ld wrong\n", trainings_.load(), wrong_.load());
    return !grew_ && wrong_ == 0 && trainings_ >= static_cast<long>(threads_.size());
  }

 private:
  void work(crisol::Device device, std::uint64_t seed) {
    constexpr int steps = 5;
    try {
      const std::vector<float> expected = crisol::testing::trained(device, seed, steps);
      do {
        if (crisol::testing::trained(device, seed, steps) != expected) ++wrong_;
        ++trainings_;
      } while (!ended_);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ++wrong_;
    }
  }

  const double seconds_;
  const Clock::time_point start_;
  std::atomic<bool> ended_{false};
  std::atomic<long> trainings_{0}, wrong_{0};
  bool grew_ = false;
  std::vector<std::thread> threads_;  // Declared last, because the threads use all other members.
};

}  // namespace

int main(int argc, char** argv) {
  double seconds = 600;
  int threads = 2;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::atoi(argv[i + 1]);
  }
  if (argc % 2 == 0 || !(seconds > 0) || threads < 1) {
    std::fputs("usage: crisol_soak [--seconds N] [--threads N of each device]\n", stderr);
    return 2;
  }
  try {
    return Soak(threads, seconds).finish() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
