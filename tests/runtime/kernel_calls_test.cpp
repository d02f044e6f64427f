#include "runtime/program/kernel_calls.h"

#include <string>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "runtime/program/kernel_source.h"

using namespace crisol;
using runtime::with_calls_of_kernels;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the code of a CPU kernel moves to a function, which the kernel calls") {
  const std::string text = with_calls_of_kernels(
      "#define AXES_PARAMETERS long a, long b\n#define AXES_ARGUMENTS a, b\n"
      "CPU_KERNEL void twice(__global const float* restrict x, const ulong x_offset,\n"
      "                      const float8 s, AXES_PARAMETERS) {\n"
      "  if (x[0] > 0) {\n    return;\n  }\n}\n"
      "int other(int x) {\n  return x;\n}\n");
  CHECK_MESSAGE(holds(text, "static __attribute__((noinline)) void code_of_twice(__global const float* restrict x"),
                text);
  CHECK_MESSAGE(holds(text, "code_of_twice(x, x_offset, s, AXES_ARGUMENTS, get_global_id(0), "), text);
  CHECK_MESSAGE(holds(text, "const size_t global_size_2) {\n  if (x[0] > 0) {\n    return;\n  }\n}\n#undef"), text);
  CHECK_MESSAGE(text.ends_with("}\nint other(int x) {\n  return x;\n}\n"), text);
}

TEST_CASE("kernels that may have local memory stay") {
  const std::string rows = "EACH_ROW_KERNEL void f(long n) {\n}\n";
  for (const char* const start : {"", "#define VW 1\n", "// no define\n#define VW 16\n"})
    CHECK(with_calls_of_kernels(start + rows) == start + rows);
  CHECK(holds(with_calls_of_kernels("#define VW 16\n" + rows), "void code_of_f("));
  for (const char* const text : {"ROW_KERNEL void f(long n) {\n}\n", "__kernel void f(long n) {\n}\n",
                                 "// as CPU_KERNEL void f(long n) {\n}\n", "CPU_KERNEL void f(long n);\n"})
    CHECK(with_calls_of_kernels(text) == text);
}

// PoCL would compile the code of such a kernel three times.
TEST_CASE("every kernel of the library that begins with CPU_KERNEL is moved") {
  for (const auto& [name, source] : runtime::embedded_kernels()) {
    const std::string text = with_calls_of_kernels(std::string(source));
    std::size_t kernels = 0, calls = 0;
    for (std::size_t at = text.find("\nCPU_KERNEL void "); at != std::string::npos;
         at = text.find("\nCPU_KERNEL void ", at + 1))
      ++kernels;
    for (std::size_t at = text.find(" {\n  code_of_"); at != std::string::npos;
         at = text.find(" {\n  code_of_", at + 1))
      ++calls;
    CHECK_MESSAGE(calls >= kernels, name);
  }
}
