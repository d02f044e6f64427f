// The C interface: kernels of the user's.
#include "c_api/handle.h"

using namespace crisol::testing::c_api;

namespace {

constexpr const char* source =
    "__kernel void scale(__global const float* x, __global float* y, int factor) {"
    "  y[get_global_id(0)] = factor * x[get_global_id(0)]; }";

}  // namespace

TEST_CASE("C: a kernel runs on tensors and numbers") {
  const std::int64_t group[] = {3}, range[] = {3};
  crisol_kernel* kernel = nullptr;
  OK(crisol_kernel_create(source, "scale", 1, group, "-cl-mad-enable", &kernel));
  Handle x({1, 2, 3}, {3}), y({0, 0, 0}, {3});
  const crisol_operand arguments[] = {{x.get(), 0}, {y.get(), 0}, {nullptr, -2}};
  OK(crisol_kernel_run(kernel, 1, range, 3, arguments));
  CHECK(values_of(y.get()) == Floats{-2, -4, -6});
  const crisol_operand half[] = {{x.get(), 0}, {y.get(), 0}, {nullptr, 0.5}};
  refused(crisol_kernel_run(kernel, 1, range, 3, half), CRISOL_INVALID_ARGUMENT, {"[scale]", "int factor", "0.5"});
  refused(crisol_kernel_run(kernel, 1, range, 2, half), CRISOL_INVALID_ARGUMENT, {"[scale]", "2 arguments"});
  refused(crisol_kernel_run(kernel, 1, range, 3, nullptr), CRISOL_INVALID_ARGUMENT, {"argument is null"});
  refused(crisol_kernel_run(nullptr, 1, range, 3, half), CRISOL_INVALID_ARGUMENT, {"kernel is null"});
  crisol_kernel_destroy(kernel);
  crisol_kernel_destroy(nullptr);
}

TEST_CASE("C: a source without the kernel is refused") {
  crisol_kernel* kernel = nullptr;
  refused(crisol_kernel_create(source, "missing", 0, nullptr, nullptr, &kernel), CRISOL_INVALID_ARGUMENT,
          {"no '__kernel void missing"});
  refused(crisol_kernel_create(nullptr, "scale", 0, nullptr, nullptr, &kernel), CRISOL_INVALID_ARGUMENT,
          {"source is null"});
  refused(crisol_kernel_create(source, "scale", 0, nullptr, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"result is null"});
  CHECK(kernel == nullptr);
}
