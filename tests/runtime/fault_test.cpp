// A training step in which OpenCL calls fail, one after the other. It must end with an exception or with the right
// numbers.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "fault_driver/control.h"
#include "runtime/cl.h"
#include "support/compare.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// The library that contains an OpenCL platform's functions.
std::string driver_of(Device device) {
  for (cl_uint count = 0; clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS;) {
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (const cl_platform_id platform : platforms) {
      if (cl::Platform(platform).getInfo<CL_PLATFORM_NAME>() != device.info().platform) continue;
      // An object begins with the address of its driver's table of functions. AMD's driver omits the first entry,
      // clGetPlatformIDs, which the loader implements itself.
      void* const get_platform_info = (*reinterpret_cast<void***>(platform))[1];
      Dl_info info;
      if (dladdr(get_platform_info, &info) != 0) return info.dli_fname;
    }
    break;
  }
  return {};
}

FaultControl& control() {
  static FaultControl* const found = [] {
    void* library = dlopen(CRISOL_FAULT_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    return reinterpret_cast<FaultControlFunction>(dlsym(library, fault_control_symbol))();
  }();
  return *found;
}

class Images : public io::Dataset {
 public:
  std::int64_t size() const override { return 4; }
  std::vector<io::Field> fields() const override { return {{{1, 28, 28}, DType::f32}, {{}, DType::i64}}; }
  void read(std::int64_t index, const io::Sample& sample) const override {
    float* input = sample.data<float>(0);
    for (int i = 0; i < 28 * 28; ++i) input[i] = static_cast<float>((i * 7 + index * 31) % 97) / 97;
    *sample.data<std::int64_t>(1) = index * 3;
  }
};

/// The loss and all parameters after one step of training on four images.
std::vector<float> training_step() {
  manual_seed(3);
  nn::SimpleCNN net;
  optim::Adam optimizer(net.parameters(), {1e-3});
  const Images images;
  io::DataLoader loader(images, {4});
  loader.start();
  io::Batch batch;
  if (!loader.next(batch)) throw std::logic_error("the loader gave no batch");
  const Tensor loss = cross_entropy(net(batch.input), batch.target);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  std::vector<float> values = loss.to_vector<float>();
  for (const Tensor& parameter : net.parameters()) {
    const std::vector<float> more = parameter.to_vector<float>();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

/// The weights after a step of a small layer that was called, captured and replayed twice.
std::vector<float> captured_steps() {
  manual_seed(3);
  nn::Linear layer(6, 4);
  optim::Adam optimizer(layer.parameters(), {1e-2});
  const Tensor x = ones({2, 6});
  const auto step = [&] {
    optimizer.zero_grad();
    sum(square(layer(x))).backward();
    optimizer.step();
  };
  step();
  const CapturedGraph graph = capture(step);
  for (int i = 0; i < 2; ++i) graph.replay();
  return layer.weight.to_vector<float>();
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Outcomes {
  int succeeded = 0, threw = 0;
};

void check_code(const Error& error) {
  CAPTURE(error.what());
  CHECK((error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device_failure ||
         error.code() == ErrorCode::build_failure));
}

using Work = std::vector<float> (*)();

/// Runs the work with the planned fault. If it returns numbers, they must be the expected ones.
void attempt(Work work, int kind, long nth, cl_int code, bool lasting, const std::vector<float>& expected,
             Outcomes& outcomes) {
  FaultControl& faults = control();
  CAPTURE(kind);
  CAPTURE(nth);
  CAPTURE(code);
  CAPTURE(lasting);
  faults.countdown = nth;
  faults.code = code;
  faults.lasting = lasting;
  faults.kind = kind;
  try {
    const std::vector<float> values = work();
    ++outcomes.succeeded;
    CHECK(same_bits(values, expected));
  } catch (const Error& error) {
    ++outcomes.threw;
    check_code(error);
  }
  faults.kind = -1;
}

constexpr const char* names[] = {"allocate", "create", "build", "argument", "launch", "transfer", "wait", "any"};

void say(int kind, bool lasting, long calls, const Outcomes& outcomes) {
  std::cout << "faults: " << names[kind] << (lasting ? ", lasting" : "") << ": " << calls << " calls, "
            << outcomes.threw << " exceptions, " << outcomes.succeeded << " right results\n";
}

}  // namespace

namespace {

/// Runs the work with each of its calls failing once, and with all calls failing from one call on.
class Faults {
 public:
  explicit Faults(Work work) : work_(work), expected_(work()) {
    work();  // From here on nothing is compiled, and every buffer is allocated anew.
    device_.release_cached_memory();
    device_.synchronize();
    live_ = faults_.live_buffers;
    long before[call_kinds];
    for (int kind = 0; kind < call_kinds; ++kind) before[kind] = faults_.calls[kind];
    CHECK(same_bits(work(), expected_));
    for (int kind = 0; kind < call_kinds; ++kind) counts_[kind] = faults_.calls[kind] - before[kind];
  }

  void run(Call call, cl_int code, bool lasting) {
    CHECK(counts_[static_cast<int>(call)] > 0);
    run(static_cast<int>(call), counts_[static_cast<int>(call)], code, lasting);
  }
  /// The device is lost at one call, and all later calls fail until the device is back.
  void run_lost() {
    long all = 0;
    for (const long count : counts_) all += count;
    run(call_kinds, all, CL_DEVICE_NOT_AVAILABLE, true);
  }

 private:
  void run(int kind, long calls, cl_int code, bool lasting) {
    // The reaction to a failed call depends on the library, not on the driver. So the test tries every call on PoCL,
    // and only some on other platforms.
    const std::string& platform = device_.info().platform;
    const long stride = platform == "Portable Computing Language" ? 1 : platform == "rusticl" ? 211 : 23;
    Outcomes outcomes;
    for (long nth = 1; nth <= calls; nth += stride) {
      device_.release_cached_memory();
      attempt(work_, kind, nth, code, lasting, expected_, outcomes);
      // When the device works again, the library works again.
      CHECK(same_bits(work_(), expected_));
    }
    say(kind, lasting, calls, outcomes);
    CHECK(outcomes.threw + outcomes.succeeded == (calls + stride - 1) / stride);
    if (lasting) CHECK(outcomes.threw > 0);
    device_.synchronize();
    device_.release_cached_memory();
    CHECK(faults_.live_buffers == live_);  // Failed work has released its memory.
  }

  FaultControl& faults_ = control();
  const Device device_;
  const Work work_;
  const std::vector<float> expected_;
  long live_ = 0, counts_[call_kinds] = {};
};

}  // namespace

TEST_CASE("child: faults in every call of a training step" * doctest::skip()) {
  Faults faults(training_step);
  faults.run(Call::allocate, CL_MEM_OBJECT_ALLOCATION_FAILURE, false);
  faults.run(Call::allocate, CL_MEM_OBJECT_ALLOCATION_FAILURE, true);
  faults.run(Call::argument, CL_OUT_OF_HOST_MEMORY, false);
  faults.run(Call::launch, CL_OUT_OF_RESOURCES, false);
  faults.run(Call::launch, CL_OUT_OF_RESOURCES, true);
  faults.run(Call::launch, CL_INVALID_OPERATION, false);
  faults.run(Call::transfer, CL_OUT_OF_RESOURCES, false);
  faults.run(Call::wait, CL_OUT_OF_RESOURCES, false);
  faults.run_lost();
}

TEST_CASE("child: faults while a step is captured and replayed" * doctest::skip()) {
  Faults faults(captured_steps);
  faults.run(Call::allocate, CL_MEM_OBJECT_ALLOCATION_FAILURE, false);
  faults.run(Call::create, CL_OUT_OF_HOST_MEMORY, false);
  faults.run(Call::argument, CL_OUT_OF_HOST_MEMORY, false);
  faults.run(Call::launch, CL_OUT_OF_RESOURCES, false);
  faults.run_lost();
}

TEST_CASE("child: faults while programs are made" * doctest::skip()) {
  // Each attempt compiles some programs and fails at a later one. With lasting faults, no program would be compiled.
  Outcomes outcomes;
  std::vector<std::string> errors;
  FaultControl& faults = control();
  const auto fail_next = [&](Call call, long nth, cl_int code, const std::function<void()>& work) {
    faults.countdown = nth;
    faults.code = code;
    faults.kind = static_cast<int>(call);
    try {
      work();
      ++outcomes.succeeded;
    } catch (const Error& error) {
      ++outcomes.threw;
      check_code(error);
    }
    const bool came = faults.countdown <= 0;
    faults.kind = -1;
    return came;
  };
  // On PoCL the first program that does not build, and all later ones, are built in another way.
  fail_next(Call::build, 1, CL_BUILD_PROGRAM_FAILURE, [] { exp(ones({3})); });
  while (fail_next(Call::build, 2, CL_BUILD_PROGRAM_FAILURE, training_step) &&
         outcomes.threw + outcomes.succeeded < 1000)
    fail_next(Call::create, 3, CL_OUT_OF_HOST_MEMORY, training_step);
  say(static_cast<int>(Call::build), false, faults.calls[static_cast<int>(Call::build)], outcomes);
  CHECK(outcomes.threw > 0);
  CHECK(faults.calls[static_cast<int>(Call::build)] > 5);
  const std::vector<float> once = training_step();
  CHECK(same_bits(training_step(), once));
}

TEST_CASE("child: a slow device" * doctest::skip()) {
  const std::vector<float> expected = training_step();
  control().delay_us = 500;
  CHECK(same_bits(training_step(), expected));
}

TEST_CASE("child: a kernel fails while it runs" * doctest::skip()) {
  const Tensor x = full({1000}, -2.0);
  relu(x);
  FaultControl& faults = control();
  faults.countdown = 1;
  faults.code = CL_OUT_OF_RESOURCES;
  faults.kind = static_cast<int>(Call::wait);
  check_error([&] { relu(x); }, {"[launch]", " failed while it ran: CL_OUT_OF_RESOURCES"}, ErrorCode::device_failure);
  faults.countdown = 1;
  check_error([&] { synchronize(); }, {"[clFinish] CL_OUT_OF_RESOURCES", "CRISOL_LAUNCH_BLOCKING=1 tells which"},
              ErrorCode::out_of_memory);
  faults.kind = -1;
}

TEST_CASE("child: a device that poses as a GPU" * doctest::skip()) {
  const DeviceInfo wanted = read_device_info(std::getenv("CRISOL_POSE_DEVICE"));
  const DeviceInfo& info = Device("gpu").info();
  CHECK(info.name == wanted.name);
  CHECK(info.platform == wanted.platform);
  CHECK(info.vendor_id == wanted.vendor_id);
  CHECK(info.subgroup_sizes == wanted.subgroup_sizes);
  CHECK(info.driver_version.find(wanted.driver_version + " posed by ") == 0);
  CHECK(info.local_memory <= wanted.local_memory);
  CHECK(info.max_work_group <= wanted.max_work_group);
  CHECK(info.max_allocation <= info.global_memory / 4);
  const bool is_nvidia = info.driver_version.find("posed by NVIDIA") != std::string::npos;
  CHECK(info.has_extension("cl_nv_pragma_unroll") == is_nvidia);  // The true compiler has to support it.
  CHECK(full({1000}, 1.0).to_vector<float>() == std::vector<float>(1000, 1.0f));

  std::vector<cl::Platform> platforms;
  std::vector<cl::Device> devices;
  cl::Platform::get(&platforms);
  CHECK(clGetDeviceIDs(platforms.at(0)(), CL_DEVICE_TYPE_CPU, 0, nullptr, nullptr) == CL_DEVICE_NOT_FOUND);
  REQUIRE(platforms.at(0).getDevices(CL_DEVICE_TYPE_GPU, &devices) == CL_SUCCESS);
  const cl::Context context(devices.at(0));
  const cl::CommandQueue queue(context, devices[0]);
  cl_int code = CL_SUCCESS;
  const cl::Buffer large(context, CL_MEM_READ_WRITE, info.max_allocation + 1, nullptr, &code);
  CHECK(code == CL_INVALID_BUFFER_SIZE);
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, 8 * wanted.max_work_group);
  cl_ulong local_memory = 0;  // Bytes of the kernel that was launched last.
  const auto build_and_launch = [&](const std::string& source, const cl::NDRange& items) {
    const cl::Program program(context, "kernel void f(global int* x) {" + source + "}");
    if (const cl_int built = program.build("-cl-std=CL1.2"); built != CL_SUCCESS) return built;
    cl::Kernel kernel(program, "f");
    kernel.setArg(0, buffer);
    local_memory = kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(devices[0]);
    return queue.enqueueNDRangeKernel(kernel, cl::NullRange, items, items);
  };
  const std::string small = "x[get_local_id(0)] = 1;";
  CHECK(build_and_launch(small, cl::NDRange(16)) == CL_SUCCESS);
  CHECK(build_and_launch(small, cl::NDRange(wanted.max_work_group, 2)) == CL_INVALID_WORK_GROUP_SIZE);
  const std::string much = "local char s[" + std::to_string(wanted.local_memory + 4) + "];";
  const std::string use = "s[x[1]] = 1; barrier(CLK_LOCAL_MEM_FENCE); x[2] = s[x[3]];";
  CHECK(build_and_launch("local char s[1000];" + use, cl::NDRange(16)) == CL_SUCCESS);
  // PoCL 6.0 says 0 for every kernel, so nothing can tell which kernel takes too much there.
  if (local_memory == 0)
    std::cout << "faults: the driver does not say how much local memory a kernel takes\n";
  else
    CHECK(build_and_launch(much + use, cl::NDRange(16)) != CL_SUCCESS);
  queue.finish();
}

namespace {

/// The driver of faults, in front of the driver of the default device.
Environment fault_driver_in(const TemporaryFolder& folder) {
  std::string driver = driver_of(Device());
  REQUIRE_FALSE(driver.empty());
  // If the tests already run on the fault driver, as a posed device, that driver knows the true one.
  if (std::filesystem::equivalent(driver, CRISOL_FAULT_LIBRARY)) driver = std::getenv("CRISOL_FAULT_DRIVER");
  std::ofstream(folder.path() + "/fault.icd") << CRISOL_FAULT_LIBRARY << '\n';
  return {{"OCL_ICD_VENDORS", folder.path()},
          {"OCL_ICD_FILENAMES", ""},
          {"CRISOL_FAULT_DRIVER", driver},
          {"CRISOL_DEVICE", ""}};
}

void run_with_faults(const std::string& test_case, const std::string& cache, const Environment& more = {}) {
  if (slow_device()) CRISOL_SKIP("needs a driver of its own, not a simulator");
  const TemporaryFolder folder;
  Environment environment = fault_driver_in(folder);
  if (!cache.empty()) environment.emplace_back("CRISOL_CACHE_DIR", folder.path() + "/" + cache);
  environment.insert(environment.end(), more.begin(), more.end());
  const ProcessResult result = run_child(test_case, environment);
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("faults: ", 0) == 0) std::cout << line << '\n';
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("1 passed, 0 failed, 0 skipped") != std::string::npos);
}

}  // namespace

TEST_CASE("every OpenCL call of a training step fails once: an exception or the right numbers, and all goes on" *
          doctest::test_suite("long")) {
  run_with_faults("child: faults in every call of a training step", "");
}

TEST_CASE("every OpenCL call of a capture and its replays fails once: an exception or the right numbers") {
  run_with_faults("child: faults while a step is captured and replayed", "");
}

TEST_CASE("programs that cannot be made: an exception, and the next step makes them" * doctest::test_suite("long")) {
  run_with_faults("child: faults while programs are made", "empty");
}

TEST_CASE("CRISOL_LAUNCH_BLOCKING names a kernel that fails while it runs") {
  run_with_faults("child: a kernel fails while it runs", "", {{"CRISOL_LAUNCH_BLOCKING", "1"}});
}

TEST_CASE("a device that is slow to take work gives the same numbers") { run_with_faults("child: a slow device", ""); }

TEST_CASE("a CPU that poses as a GPU keeps to the limits of both") {
  run_with_faults("child: a device that poses as a GPU", "empty",
                  {{"CRISOL_POSE_DEVICE", CRISOL_SOURCE_DIR "/devices/nvidia-rtx-4090.json"}});
}

TEST_CASE("crisol doctor recommends tuning on a device on which nobody measured the rules") {
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("the same for all; done on PoCL");
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  Environment environment = fault_driver_in(folder);
  environment.emplace_back("CRISOL_POSE_DEVICE", CRISOL_SOURCE_DIR "/devices/nvidia-rtx-4090.json");
  environment.emplace_back("CRISOL_CACHE_DIR", folder.path() + "/empty");
  const ProcessResult result = run_built("crisol", {"doctor"}, environment);
  INFO(result.output);
  CHECK(contains(result.output, "the rules that choose kernels were never measured on such a device; 0 tuned"));
  CHECK(contains(result.output, "Recommended: CRISOL_TUNE=first, with which programs time"));
}
