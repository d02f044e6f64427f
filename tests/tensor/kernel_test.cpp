// Kernels of the user's: results, checks of every argument, gradients, capture, profile.
#include "crisol/kernel.h"

#include <string>
#include <thread>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/program/kernel_signature.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/two_devices.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

namespace {

const Kernel& scale() {
  static const Kernel kernel(R"(
    #define T float  // A name for the type.
    /* __kernel void scale(int commented_out) {} */
    __kernel void scale(__global const T* restrict x,  // Read.
                        global T* y, const float factor,
                        int n) {
      for (int i = (int)get_global_id(0); i < n; i += (int)get_global_size(0)) y[i] = factor * x[i];
    })",
                             "scale");
  return kernel;
}

/// Sums of neighbours within groups, in local memory.
const Kernel& group_sums() {
  static const Kernel kernel(
      R"(__kernel void group_sums(__global const float* x, __global float* sums) {
           __local float part[GROUP];
           const int i = get_local_id(0);
           part[i] = x[get_global_id(0)];
           barrier(CLK_LOCAL_MEM_FENCE);
           if (i != 0) return;
           float sum = 0;
           for (int k = 0; k < GROUP; ++k) sum += part[k];
           sums[get_group_id(0)] = sum;
         })",
      "group_sums", {.group = {8}, .defines = {{"GROUP", "8"}}, .build_options = "-cl-mad-enable"});
  return kernel;
}

/// x * x for every whole type, with a number of the same type.
Kernel adder(const std::string& type) {
  return Kernel("__kernel void add(__global " + type + "* x, " + type + " n) { x[get_global_id(0)] += n; }", "add");
}

Tensor own_square(const Tensor& x) {
  static const Kernel forward(
      "__kernel void square(__global const float* x, __global float* y) {"
      "  const size_t i = get_global_id(0); y[i] = x[i] * x[i]; }",
      "square");
  static const Kernel backward(
      "__kernel void square_backward(__global const float* dy, __global const float* x,"
      "                              __global float* dx) {"
      "  const size_t i = get_global_id(0); dx[i] = 2 * x[i] * dy[i]; }",
      "square_backward");
  return custom_function(
      "square", {x},
      [](const std::vector<Tensor>& in) {
        Tensor y = empty(in[0].shape());
        forward({y.numel()}, in[0].contiguous(), y);
        return y;
      },
      [](const Tensor& dy, const std::vector<Tensor>& in, const Tensor&) {
        Tensor dx = empty(in[0].shape());
        backward({dx.numel()}, dy.contiguous(), in[0].contiguous(), dx);
        return std::vector<Tensor>{dx};
      });
}

}  // namespace

TEST_CASE("Kernel: whole tensors and views that begin within their memory") {
  for (const std::int64_t n : {1, 7, 64, 1001}) {
    const std::vector<double> values = random_values(1, static_cast<std::size_t>(n));
    const Tensor x = testing::view_of(values, {n}, testing::Layout::offset);
    const Tensor all = zeros({n + 5}), y = all.narrow(0, 3, n);
    scale()({n}, x, y, 2, n);
    check_close(y, values_of(x * 2), {0});
    CHECK(all.to_vector<float>()[2] == 0);
    CHECK(all.to_vector<float>()[static_cast<std::size_t>(n) + 3] == 0);
  }
  const Tensor none = empty({0});
  scale()({0}, none, none, 1, 0);
}

TEST_CASE("Kernel: groups, defines, local memory, build options") {
  const Tensor sums = empty({3});
  group_sums()({24}, arange(0, 24), sums);
  check_close(sums, {28, 92, 156}, {0});
  check_error([&] { group_sums()({20}, arange(0, 24), sums); }, {"[group_sums]", "(20)", "(8)", "round it up"});
  const Kernel plane(
      "__kernel void plane(__global int* y) { y[get_global_id(1) * 3 + get_global_id(0)] ="
      " (int)(10 * get_global_id(1) + get_global_id(0)); }",
      "plane", {.group = {3, 1}});
  const Tensor y = empty({2, 3}, DType::i32);
  plane({3, 2}, y);
  CHECK(y.to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2, 10, 11, 12});
}

TEST_CASE("Kernel: every element type, and vectors of them") {
  const std::vector<std::pair<DType, const char*>> types{
      {DType::f32, "float"}, {DType::i32, "int"}, {DType::i64, "long"}, {DType::u8, "uchar"}};
  for (const auto& [dtype, type] : types) {
    const Tensor x = tensor_of({1, 2, 3}, {3}, dtype);
    adder(type)({3}, x, 4);
    check_close(x, {5, 6, 7}, {0});
  }
  const Tensor half = tensor_of({1, -2, 0.5}, {3}, DType::f16);
  Kernel(
      "__kernel void twice(__global half* x) { const size_t i = get_global_id(0);"
      " vstore_half(2 * vload_half(i, x), i, x); }",
      "twice")({3}, half);
  check_close(half, {2, -4, 1}, {0});
  const Tensor flags = tensor_of({0, 1, 1}, {3}, DType::boolean);
  Kernel("__kernel void flip(__global unsigned char* x) { x[get_global_id(0)] ^= 1; }", "flip")({3}, flags);
  check_close(flags, {1, 0, 0}, {0});

  const Kernel four(
      "kernel void four(global float4 const *x, global float4 *y) {"
      " y[get_global_id(0)] = x[get_global_id(0)].wzyx; }",
      "four");
  const Tensor y = empty({8});
  four({2}, arange(0, 8), y);
  check_close(y, {3, 2, 1, 0, 7, 6, 5, 4}, {0});
  check_error([&] { four({1}, arange(0, 7), y); }, {"[four]", "float4 const *x", "7 elements", "multiple of 4"});
  check_error([&] { four({1}, arange(0, 9).narrow(0, 1, 8), y); }, {"[four]", "begins at element", "multiple of 4"});
}

TEST_CASE("Kernel: a wrong argument is an error that names the parameter, and nothing is changed") {
  const Tensor x = ones({4}), y = zeros({4});
  const Kernel& k = scale();
  check_error([&] { k({4}, x, y, 2); }, {"[scale]", "3 arguments", "4 parameters"});
  check_error([&] { k({4}, x, y, y, 4); }, {"[scale]", "const float factor", "a tensor is given"});
  check_error([&] { k({4}, x, 1, 2, 4); }, {"[scale]", "global T* y", "a number is given"});
  check_error([&] { k({4}, x.to(DType::i64), y, 2, 4); }, {"[scale]", "T* restrict x", "i64", "long"});
  check_error([&] { k({4}, x, Tensor(), 2, 4); }, {"[scale]", "y'", "undefined"});
  check_error([&] { k({4}, x, ones({4, 2}).transpose(0, 1), 2, 4); }, {"[scale]", "not contiguous", "contiguous()"});
  check_error([&] { k({4}, x, y, 2, 2.5); }, {"[scale]", "int n", "2.5", "whole number"});
  check_error([&] { k({4}, x, y, 2, std::int64_t{1} << 40); }, {"[scale]", "int n", "1099511627776", "int"});
  check_error([&] { k({-1}, x, y, 2, 4); }, {"[scale]", "(-1)", "negative"});
  check_error([&] { k({1, 1, 1, 1}, x, y, 2, 4); }, {"[scale]", "4 sizes"});
  check_error([&] { adder("uchar")({3}, zeros({3}, DType::u8), 256); }, {"[add]", "256", "uchar"});
  check_error([&] { adder("ulong")({3}, zeros({3}, DType::u8), 1); }, {"[add]", "ulong* x", "u8"});
  const Tensor weight = ones({4}).requires_grad_();
  check_error([&] { k({4}, weight, y, 2, 4); }, {"[scale]", "wants a gradient", "custom_function"});
  check_close(y, {0, 0, 0, 0}, {0});
  const NoGrad no_grad;
  k({4}, weight, y, 2, 4);
  check_close(y, {2, 2, 2, 2}, {0});
}

TEST_CASE("Kernel: sources that cannot be used") {
  const auto refused = [](const char* source, const char* name, std::initializer_list<std::string_view> parts) {
    CAPTURE(source);
    check_error([&] { Kernel(source, name); }, parts);
  };
  refused("__kernel void f(__global float* x) {}", "g", {"[Kernel]", "no '__kernel void g"});
  refused("void f(__global float* x) {}", "f", {"no '__kernel void f"});
  refused("__kernel void f(__global float* x);", "f", {"no '__kernel void f"});
  refused("#ifdef A\n__kernel void f() {}\n#else\n__kernel void f() {}\n#endif", "f", {"2 kernels"});
  refused("__kernel void f(float* x) {}", "f", {"f: the parameter 'float* x'", "needs __global"});
  refused("__kernel void f(__local float* x) {}", "f", {"local memory"});
  refused("__kernel void f(__global float x[]) {}", "f", {"array"});
  refused("__kernel void f(__global float** x) {}", "f", {"pointer to a pointer"});
  refused("__kernel void f(__global T* x) {}", "f", {"'__global T* x'", "not known"});
  refused("__kernel void f(float4 x) {}", "f", {"'float4 x'", "scalar"});
  refused("__kernel void f(size_t n) {}", "f", {"size_t n", "not known"});
  refused("__kernel void f(__global float*) {}", "f", {"no name"});
  refused("__kernel void f(\n#ifdef A\n  int n,\n#endif\n  __global float* x) {}", "f", {"preprocessor line"});
  refused("/* __kernel void f(int n) {}", "f", {"no '__kernel void f"});
  refused(("/*" + std::string(1000000, '(') + "*/ __kernel void f(").c_str(), "f", {"no '__kernel void f"});
  refused("__kernel void f(int n) {}", "a b", {"'a b'"});
  check_error([] { Kernel("__kernel void f(int n) {}", "f")({1}, 1); }, {"[f]", "no argument is a tensor"});
  check_error([] { Kernel("__kernel void f(__global int* x) {}", "f", {.group = {0}}); }, {"[Kernel]", "(0)"});
  const Kernel wrong("\n\n__kernel void f(__global int* x,\n int n) { x[0] = missing; }", "f");
  check_error([&] { wrong({1}, zeros({1}, DType::i32), 1); }, {"[build]", "f does not build", "missing"},
              ErrorCode::build_failure);
}

TEST_CASE("Kernel: the source keeps its lines, and pointers get a position") {
  const runtime::KernelSignature read = runtime::read_signature(
      "test", "// f(\n__kernel\nvoid f(\n  __global const uint2 *a, // a\n  unsigned long n)\n{ body }", "f", {});
  REQUIRE(read.parameters.size() == 2);
  CHECK(read.parameters[0].type == "uint");
  CHECK(read.parameters[0].lanes == 2);
  CHECK_FALSE(read.parameters[0].written);
  CHECK(read.parameters[1].type == "ulong");
  CHECK_FALSE(read.parameters[1].pointer);
  CHECK(read.source ==
        "// f(\n__kernel\nvoid f(__global const uint* crisol_a, ulong crisol_first_a, unsigned long n) \n\n\n{ "
        "__global const uint2 *a = (__global const uint2*)(crisol_a + crisol_first_a); body }");
}

TEST_CASE("Kernel: a gradient of one's own") {
  const Tensor x = tensor_of(random_values(3, 12), {3, 4});
  testing::check_gradients([](const std::vector<Tensor>& in) { return own_square(in[0]); }, {x});
  testing::check_gradients([](const std::vector<Tensor>& in) { return own_square(in[0].transpose(0, 1)) * 3; }, {x});
}

TEST_CASE("Kernel: backward knows which tensors a kernel wrote") {
  Tensor x = tensor_of({1, 2, 3}, {3}).requires_grad_();
  const Tensor y = exp(x), out = empty({3});
  {
    const NoGrad no_grad;
    scale()({3}, y, out, 2, 3);  // Only reads y, which backward needs.
  }
  sum(y).backward();
  const Tensor z = exp(x);
  {
    const NoGrad no_grad;
    scale()({3}, out, z, 2, 3);
  }
  check_error([&] { sum(z).backward(); }, {"backward", "changed in place"});
}

TEST_CASE("Kernel: it is captured, and a profile shows it by name") {
  Tensor x = tensor_of({1, 2, 3}, {3}), y = empty({3});
  const auto work = [&] { scale()({3}, x, y, 10, 3); };
  work();
  const CapturedGraph graph = capture(work);
  x.fill_(7);
  graph.replay();
  check_close(y, {70, 70, 70}, {0});
  const Profile profile;
  work();
  Device().synchronize();
  REQUIRE(profile.rows().size() == 1);
  CHECK(profile.rows()[0].kernel == "scale");
}

TEST_CASE("Kernel: threads may make its first calls at once, and a copy is the same kernel") {
  if (testing::slow_device()) CRISOL_SKIP("oclgrind 21.10 runs one kernel at a time, whatever the thread");
  const Kernel first = adder("int");
  constexpr std::size_t thread_count = 4;
  std::vector<Tensor> sums;
  for (std::size_t t = 0; t < thread_count; ++t) sums.push_back(zeros({5}, DType::i32));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t)
    threads.emplace_back([first, x = sums[t], t] {
      for (int round = 0; round < 20; ++round) first({5}, x, static_cast<int>(t));
      Device().synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < thread_count; ++t)
    CHECK(sums[t].to_vector<std::int32_t>() == std::vector<std::int32_t>(5, 20 * static_cast<std::int32_t>(t)));
}

TEST_CASE("child: a Kernel on two devices" * doctest::skip()) {
  REQUIRE(devices().size() == 2);
  const Kernel add = adder("float");
  std::vector<Tensor> sums;
  for (const Device device : devices()) sums.push_back(zeros({3}, DType::f32, device));
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < sums.size(); ++i) add({3}, sums[i], static_cast<double>(i + 1));
  check_close(sums[0], {2, 2, 2}, {0});
  check_close(sums[1], {4, 4, 4}, {0});
}

TEST_CASE("Kernel: it runs on the device of its tensors") {
  NEEDS_TWO_DEVICES();
  CHECK_PASSED(testing::run_child("child: a Kernel on two devices", {{"POCL_DEVICES", "pthread basic"}}));
}

}  // namespace crisol
