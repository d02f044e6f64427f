#include "runtime/program/idle_programs.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include "crisol/capture.h"
#include "doctest/doctest.h"
#include "runtime/device/device_state.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

using namespace crisol;

namespace {

constexpr const char* source = R"(
__kernel void add_to(__global const float* x, ulong x_offset, __global float* y, ulong y_offset, float term, long n) {
  long i = get_global_id(0);
  if (i < n) y[y_offset + i] = x[x_offset + i] + term + KIND;
}
__kernel void negate(__global const float* x, ulong x_offset, __global float* y, ulong y_offset, long n) {
  long i = get_global_id(0);
  if (i < n) y[y_offset + i] = -x[x_offset + i] - KIND;
}
)";

runtime::KernelSpec spec_of(int kind, std::string_view entry) { return {"", entry, {{"KIND", kind}}, source}; }

void add_to(const Tensor& x, const Tensor& y, float term, int kind) {
  runtime::launch(state_of(x), spec_of(kind, "add_to"), runtime::flat_range(state_of(x), x.numel()), in(x), out(y),
                  term, x.numel());
}

void negate(const Tensor& x, const Tensor& y, int kind) {
  runtime::launch(state_of(x), spec_of(kind, "negate"), runtime::flat_range(state_of(x), x.numel()), in(x), out(y),
                  x.numel());
}

/// Whether every program that ran has a file now.
bool is_stored(runtime::DeviceState& device, const runtime::BuiltKernel& kernel) {
  device.finish();
  return kernel.program->stored && !kernel.program->unsaved;
}

#define NEEDS_FILE(kernel)                                                      \
  if (!is_stored(Device().state(), kernel)) {                                   \
    CRISOL_SKIP("the program has no file, because storing takes long on PoCL"); \
  }

}  // namespace

TEST_CASE("the next launch of a released program loads it again") {
  runtime::DeviceState& device = Device().state();
  const Tensor x = from_vector<float>({1, 2, 3}, {3}), y = zeros({3}), z = zeros({3});
  runtime::LoadedPrograms loaded(device);
  add_to(x, y, 0.5f, 10);
  negate(x, z, 10);
  runtime::BuiltKernel& adds = runtime::resolve(device, spec_of(10, "add_to"));
  runtime::BuiltKernel& negates = runtime::resolve(device, spec_of(10, "negate"));
  NEEDS_FILE(adds)
  CHECK(loaded.release() == 1);
  CHECK(loaded.release() == 0);
  CHECK(adds.handle() == nullptr);
  CHECK(negates.handle() == nullptr);
  const Tensor y2 = zeros({3}), z2 = zeros({3});
  add_to(x, y2, 0.5f, 10);  // The values are those of the last launch.
  negate(y2, z2, 10);
  CHECK(y2.to_vector<float>() == std::vector<float>{11.5f, 12.5f, 13.5f});
  CHECK(z2.to_vector<float>() == std::vector<float>{-21.5f, -22.5f, -23.5f});
  CHECK(y.to_vector<float>() == y2.to_vector<float>());
  CHECK(z.to_vector<float>() == std::vector<float>{-11, -12, -13});
  CHECK(adds.program->handle() != nullptr);

  // A kernel that is asked for while its program is released.
  CHECK(loaded.release() == 1);
  const Tensor y3 = zeros({3}), y4 = zeros({3});
  CHECK(&runtime::resolve(device, spec_of(10, "add_to")) == &adds);
  add_to(x, y3, 1.5f, 10);
  CHECK(y3.to_vector<float>() == std::vector<float>{12.5f, 13.5f, 14.5f});
  // A program whose file was removed is compiled.
  CHECK(loaded.release() == 1);
  const runtime::DiskCache disk(runtime::DiskCache::default_folder());
  CHECK(std::filesystem::remove(disk.path_of(adds.program->key)));
  add_to(x, y4, 2.5f, 10);
  CHECK(y4.to_vector<float>() == std::vector<float>{13.5f, 14.5f, 15.5f});
  CHECK(loaded.release() == (is_stored(device, adds) ? 1 : 0));
}

TEST_CASE("programs of captured launches, and those that were loaded before, are not released") {
  runtime::DeviceState& device = Device().state();
  Tensor x = from_vector<float>({1, 2, 3}, {3});
  const Tensor y = zeros({3}), z = zeros({3});
  add_to(x, y, 0.5f, 20);
  runtime::LoadedPrograms loaded(device);
  add_to(x, y, 0.5f, 30);
  CapturedGraph graph = capture([&] { add_to(x, z, 0.5f, 30); });
  const runtime::BuiltKernel& before = runtime::resolve(device, spec_of(20, "add_to"));
  const runtime::BuiltKernel& captured = runtime::resolve(device, spec_of(30, "add_to"));
  NEEDS_FILE(captured)
  CHECK(loaded.release() == 0);
  CHECK(before.handle() != nullptr);
  CHECK(captured.handle() != nullptr);
  x.fill_(4);
  graph.replay();
  CHECK(z.to_vector<float>() == std::vector<float>{34.5f, 34.5f, 34.5f});
}

TEST_CASE("a thread launches kernels while another one releases their program") {
  if (testing::slow_device()) CRISOL_SKIP("oclgrind 21.10 runs one kernel at a time, whatever the thread");
  runtime::DeviceState& device = Device().state();
  const Tensor x = from_vector<float>({1, 2, 3}, {3}), y = zeros({3});
  runtime::LoadedPrograms loaded(device);
  add_to(x, y, 0, 40);
  NEEDS_FILE(runtime::resolve(device, spec_of(40, "add_to")))
  int launches = 0, wrong = 0;
  std::atomic<bool> done = false;
  std::thread launcher([&] {
    while (!done) {
      const Tensor sum = empty({3});
      add_to(x, sum, static_cast<float>(launches % 100), 40);
      const auto n = static_cast<float>(launches % 100 + 40);
      wrong += sum.to_vector<float>() != std::vector<float>{n + 1, n + 2, n + 3};
      ++launches;
    }
  });
  for (std::size_t released = 0; released < 20;) released += loaded.release();
  done = true;
  launcher.join();
  CHECK(launches >= 19);
  CHECK(wrong == 0);
}
