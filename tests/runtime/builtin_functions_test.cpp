#include "runtime/program/builtin_functions.h"

#include <string>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "ops/quantized/quantize_range.h"
#include "runtime/launch.h"
#include "runtime/program/driver_cache.h"
#include "runtime/program/kernel_source.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

using namespace crisol;
using runtime::builtin_declarations;

namespace {

bool declares(const std::string& source, const std::string& declaration) {
  return ('\n' + builtin_declarations(source)).find('\n' + declaration + '\n') != std::string::npos;
}

}  // namespace

TEST_CASE("functions that a source names are declared with all their types, others are not") {
  const std::string constant = " __attribute__((overloadable,const)) ";
  CHECK(declares("exp(x)", "float" + constant + "exp(float);"));
  CHECK(declares("exp(x)", "double16" + constant + "exp(double16);"));
  CHECK_FALSE(declares("expression(x)", "float" + constant + "exp(float);"));
  CHECK(declares("fmax(a, b)", "float8" + constant + "fmax(float8,float);"));
  CHECK(declares("min(a, b)", "ulong" + constant + "min(ulong,ulong);"));
  CHECK(declares("min(a, b)", "uchar4" + constant + "min(uchar4,uchar);"));
  CHECK(declares("isnan(a)", "int" + constant + "isnan(double);"));
  CHECK(declares("isnan(a)", "long2" + constant + "isnan(double2);"));
  CHECK(declares("select(a, b, c)", "float3" + constant + "select(float3,float3,uint3);"));
  CHECK(declares("convert_uchar4_sat_rte(a)", "uchar4" + constant + "convert_uchar4_sat_rte(float4);"));
  CHECK(declares("vload4(0, (__global float*)p)",
                 "float4 __attribute__((overloadable,pure)) vload4(size_t,const __global float*);"));
  CHECK_FALSE(declares("vload4(0, (__global float*)p)",
                       "int4 __attribute__((overloadable,pure)) vload4(size_t,const __global int*);"));
  CHECK(declares("vstore_half16_rte(v, 0, p)",
                 "void __attribute__((overloadable)) vstore_half16_rte(float16,size_t,__global half*);"));
  CHECK(
      declares("atomic_xchg(p, 1)", "float __attribute__((overloadable)) atomic_xchg(volatile __local float*,float);"));
  CHECK(declares("barrier(f)", "void __attribute__((overloadable,convergent)) barrier(cl_mem_fence_flags);"));
  CHECK(builtin_declarations("int length = my_function (c);").empty());
  CHECK(declares("a// step\nb / exp/* any */(c)", "float" + constant + "exp(float);"));
  CHECK(builtin_declarations("// all\n/* step * any */ a / b // min").empty());
}

TEST_CASE("names that macros paste together are declared with every width") {
  const std::string source = "#define JOIN(a, b) a##b\nJOIN(convert_float, VW) JOIN(vload, VW) (float*)";
  CHECK(declares(source, "float16 __attribute__((overloadable,const)) convert_float16(int16);"));
  CHECK(declares(source, "float2 __attribute__((overloadable,pure)) vload2(size_t,const __private float*);"));
}

TEST_CASE("child: run kernels with and without short declarations" * doctest::skip()) {
  constexpr const char* source = R"(
#define JOIN(a, b) a##b
__kernel void lengths(__global const float* x, ulong x_offset, __global float* y, ulong y_offset) {
  y[y_offset + get_global_id(0)] = FUNCTION;
}
)";
  const Tensor x = from_vector(std::vector<float>{3, 4}, {2}), y = zeros({1});
  // The first three call functions that have no short declaration. Pasted together, a name is not seen.
  for (const char* function : {"length(vload2(0, x + x_offset))", "JOIN(len, gth)(vload2(0, x + x_offset))",
                               "mad24((int)x[0], 1, 2)", "sqrt(fma(x[0], x[0], x[1] * x[1]))"}) {
    runtime::launch(state_of(x), {"", "lengths", {{"FUNCTION", function}}, source}, {{1}, {1}}, in(x), out(y));
    MESSAGE("length is " << y.item());
  }
  const Tensor z = randn({33, 5});
  static_cast<void>(matmul(z.transpose(0, 1), softmax(z, 1)).to_vector<float>());
  if (Device().info().type != DeviceType::cpu) return;
  for (const bool centred : {false, true}) static_cast<void>(ops::quantize_range(z, centred).scale.item());
}

TEST_CASE("a function without a short declaration is found, and the library's own kernels need none") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const testing::ProcessResult result = testing::run_child("child: run kernels with and without short declarations",
                                                           {{"CRISOL_CACHE_DIR", folder.path()},
                                                            {"POCL_CACHE_DIR", folder.path() + "/pocl"},
                                                            {"CRISOL_VERBOSE", "build"},
                                                            {"CRISOL_DEVICE", Device().info().platform}});
  CHECK(result.status == 0);
  std::size_t found = 0;
  for (std::size_t at = result.output.find("length is 5"); at != std::string::npos;
       at = result.output.find("length is 5", at + 1))
    ++found;
  CHECK_MESSAGE(found == 4, result.output);
  CHECK_MESSAGE(result.output.find("needs all declarations") == std::string::npos, result.output);
  // PoCL writes "1 error generated." for a program that does not build.
  CHECK_MESSAGE(result.output.find("generated.") == std::string::npos, result.output);
}
