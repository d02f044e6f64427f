#include "crisol/opencl_interop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/cl.h"
#include "support/compare.h"
#include "support/processes/subprocess.h"
#include "support/two_devices.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// A context, a queue and a kernel, as in a program without the library.
struct Mine {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;

  explicit Mine(cl_command_queue_properties properties = 0)
      : device(opencl_device(Device()), true), context(device), queue(context, device, properties) {}

  cl::Buffer buffer(const std::vector<float>& values, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    return {context, flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float), const_cast<float*>(values.data())};
  }
};

cl::Kernel doubling_kernel(const cl::Context& context) {
  cl::Program program(context,
                      "__kernel void twice(__global float* x, ulong first) {"
                      "  x[first + get_global_id(0)] *= 2.0f; }");
  REQUIRE(program.build() == CL_SUCCESS);
  return {program, "twice"};
}

void run_twice(cl_command_queue queue, cl::Kernel& kernel, const OpenclBuffer& buffer, std::size_t count) {
  const cl_ulong first = buffer.offset / sizeof(float);
  REQUIRE(clSetKernelArg(kernel(), 0, sizeof buffer.memory, &buffer.memory) == CL_SUCCESS);
  REQUIRE(clSetKernelArg(kernel(), 1, sizeof first, &first) == CL_SUCCESS);
  REQUIRE(clEnqueueNDRangeKernel(queue, kernel(), 1, nullptr, &count, nullptr, 0, nullptr, nullptr) == CL_SUCCESS);
}

}  // namespace

TEST_CASE("a kernel of the user's runs between the library's, in its queue and on its tensors") {
  const Device device;
  cl::Kernel twice = doubling_kernel(cl::Context(opencl_context(device), true));
  const Tensor x = from_vector<float>({-1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = relu(x), row = y.select(0, 1);
  run_twice(opencl_queue(device), twice, opencl_buffer_for_writing(row), 3);
  CHECK(sum(y).item() == 0 + 2 + 3 + 8 + 10 + 12);
  CHECK(opencl_buffer(row).offset == opencl_buffer(y).offset + 12);
  CHECK(opencl_buffer(row).memory == opencl_buffer(y).memory);
}

TEST_CASE("backward knows of what the user's kernels wrote") {
  Tensor x = from_vector<float>({1, 2});
  x.requires_grad_();
  const Tensor y = exp(x);
  opencl_buffer_for_writing(y.detach());
  check_error([&] { sum(y).backward(); }, {"changed in place"});
  check_error([&] { opencl_buffer_for_writing(x); }, {"[opencl_buffer_for_writing]"});
  const NoGrad no_grad;
  CHECK(opencl_buffer_for_writing(x).memory != nullptr);
}

TEST_CASE("a buffer of the user's is a tensor, without a copy, and outlives its handle") {
  const Mine mine;
  const Device device = adopt_opencl(mine.device(), mine.context(), mine.queue());
  CHECK(opencl_context(device) == mine.context());
  CHECK(opencl_queue(device) == mine.queue());
  CHECK(opencl_device(device) == mine.device());
  CHECK(devices().back() == device);
  CHECK_FALSE(Device() == device);
  CHECK(device.name() == Device().name());

  cl::Buffer buffer = mine.buffer({1, 2, 3, 4, 5, 6});
  const cl_mem memory = buffer();
  const auto references = [&] { return buffer.getInfo<CL_MEM_REFERENCE_COUNT>(); };
  const cl_uint before = references();
  {
    Tensor x = from_opencl(memory, {2, 2}, DType::f32, device, 8);
    CHECK(references() == before + 1);
    CHECK(x.to_vector<float>() == std::vector<float>{3, 4, 5, 6});
    x.fill_(7);
    CHECK(relu(x).to_vector<float>() == std::vector<float>(4, 7));
    float all[6];
    REQUIRE(mine.queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof all, all) == CL_SUCCESS);
    CHECK(all[1] == 2);
    CHECK(all[2] == 7);
    CHECK(opencl_buffer(x).memory == memory);
    CHECK(opencl_buffer(x).offset == 8);
  }
  device.synchronize();
  if (device.info().platform != "rusticl") {  // Its kernels keep their last buffers.
    // A thread of PoCL may release the buffer of a finished command only after the wait for it has ended.
    for (int i = 0; i < 1000 && references() != before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(references() == before);
  }
  // A network on this device; its result moves to the other device.
  nn::Linear layer(3, 2);
  layer.to(device);
  const Tensor y = layer(from_opencl(memory, {2, 3}, DType::f32, device));
  CHECK(y.to(Device()).to_vector<float>() == y.to_vector<float>());
  check_error([&] { add(y, ones({2, 2})); }, {"device"});
}

TEST_CASE("a tensor over memory of the host: both sides see each other's writes") {
  constexpr std::size_t count = 5000;
  alignas(64) static std::array<float, count + 16> memory{};
  for (const std::size_t first : {0, 1, 4, 16}) {
    float* const values = memory.data() + first;
    std::fill(memory.begin(), memory.end(), 3.0F);
    Tensor x = from_host_memory(values, {50, 100});
    if (!x.defined()) {
      CHECK(!Device().info().unified_memory);
      return;
    }
    CHECK(x.to_vector<float>() == std::vector<float>(count, 3));
    values[7] = 5;
    CHECK((x + 1).to_vector<float>()[7] == 6);
    x.add_(1);
    x.read_bytes(values);  // Waits, and finds the elements where they belong.
    CHECK(values[7] == 6);
    CHECK(values[count - 1] == 4);
    if (first < 16) CHECK(memory[first + count] == 3);
    CHECK(x.matmul(x.transpose(0, 1)).shape() == Shape{50, 50});
  }
  check_error([&] { from_host_memory(nullptr, {3}); }, {"[from_host_memory]", "null"});
  check_error([&] { from_host_memory(reinterpret_cast<char*>(memory.data()) + 2, {3}); }, {"4 bytes of f32"});
}

TEST_CASE("events order the library's queue and others") {
  const Mine mine;
  const Device device = adopt_opencl(mine.device(), mine.context(), mine.queue());
  const cl::CommandQueue other(mine.context, mine.device);
  cl::Kernel twice = doubling_kernel(mine.context);
  const cl::Buffer buffer = mine.buffer({1, 2, 3});
  const Tensor x = from_opencl(buffer(), {3}, DType::f32, device);
  const Tensor y = add(x, 1);
  const cl::Event made(opencl_event(y));
  const cl_event waited = made();
  REQUIRE(clEnqueueBarrierWithWaitList(other(), 1, &waited, nullptr) == CL_SUCCESS);
  run_twice(other(), twice, opencl_buffer_for_writing(y), 3);
  cl::Event doubled;
  REQUIRE(other.enqueueMarkerWithWaitList(nullptr, &doubled) == CL_SUCCESS);
  REQUIRE(other.flush() == CL_SUCCESS);
  wait_for_opencl(device, doubled());
  CHECK(add(y, 1).to_vector<float>() == std::vector<float>{5, 7, 9});
}

TEST_CASE("what OpenCL objects cannot be shared is refused") {
  const Mine mine, stranger;
  check_error([&] { adopt_opencl(nullptr, mine.context(), mine.queue()); }, {"[adopt_opencl]", "null"});
  check_error([&] { adopt_opencl(mine.device(), mine.context(), stranger.queue()); }, {"another context"});
  const Device device = adopt_opencl(mine.device(), mine.context(), mine.queue());
  const cl::Buffer buffer = mine.buffer({1, 2, 3});
  const auto wrap = [&](const Shape& shape, DType dtype, std::size_t offset) {
    return [=] { from_opencl(buffer(), shape, dtype, device, offset); };
  };
  check_error(wrap({4}, DType::f32, 0), {"[from_opencl]", "(4)", "12 bytes"});
  check_error(wrap({3}, DType::f32, 4), {"offset 4", "12 bytes"});
  check_error(wrap({1}, DType::f32, 16), {"offset 16"});
  check_error(wrap({1}, DType::i64, 4), {"offset 4", "8 bytes of i64"});
  check_error(wrap({-1}, DType::f32, 0), {"negative"});
  check_error(wrap({std::int64_t{1} << 62, 4}, DType::f32, 0), {"too many"});
  check_error([&] { from_opencl(buffer(), {3}); }, {"another context"});
  check_error([&] { from_opencl(nullptr, {3}); }, {"null"});
  const cl::Buffer constant = mine.buffer({1}, CL_MEM_READ_ONLY);
  check_error([&] { from_opencl(constant(), {1}, DType::f32, device); }, {"read-only"});
  check_error([&] { wait_for_opencl(device, nullptr); }, {"null"});
  check_error([&] { opencl_buffer(Tensor()); }, {"undefined"});
  check_error([&] { opencl_event(Tensor()); }, {"undefined"});
  check_error([&] { const Profile profile(device); }, {"[profile]", "cannot exchange"});
  const cl::Device& one = mine.device;
  if ((one.getInfo<CL_DEVICE_QUEUE_PROPERTIES>() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    const Mine unordered(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check_error([&] { adopt_opencl(unordered.device(), unordered.context(), unordered.queue()); }, {"out of order"});
  }
}

TEST_CASE("child: a context and a queue of other devices" * doctest::skip()) {
  REQUIRE(devices().size() == 2);
  const cl::Device first(opencl_device(devices()[0]), true), second(opencl_device(devices()[1]), true);
  const cl::Context alone(first), both(std::vector<cl::Device>{first, second});
  const cl::CommandQueue queue(alone, first), far(both, second);
  check_error([&] { adopt_opencl(second(), alone(), queue()); }, {"[adopt_opencl]", "1 devices", "none of them"});
  check_error([&] { adopt_opencl(first(), both(), far()); }, {"[adopt_opencl]", "the queue is of another device"});
  check_error([&] { adopt_opencl(first(), both(), queue()); }, {"[adopt_opencl]", "the queue is of another context"});
  CHECK(devices().size() == 2);
}

TEST_CASE("a context and a queue must be the device's") {
  NEEDS_TWO_DEVICES();
  const ProcessResult result =
      run_child("child: a context and a queue of other devices", {{"POCL_DEVICES", "pthread basic"}});
  CHECK_PASSED(result);
}
