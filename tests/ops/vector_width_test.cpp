// Kernels for CPUs with every vector width, not only this device's own width. A process reads the width once.
#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

namespace crisol {

TEST_CASE("kernels for CPUs are right at vectors of 4 and 8 and 16 lanes" * doctest::test_suite("long")) {
  if (testing::slow_device()) CRISOL_SKIP("three processes of many products");
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("the width counts on CPUs");
  if (Device().name().rfind("llvmpipe", 0) == 0) CRISOL_SKIP("rusticl compiles them for minutes");
  // Intel's runtime takes most of a minute for each width, so it runs only one width other than its own.
  const bool compiles_slowly = Device().info().platform.rfind("Intel", 0) == 0;
  for (const char* width : {"4", "8", "16"}) {
    if (compiles_slowly && width != std::string("4")) continue;
    CAPTURE(width);
    const testing::ProcessResult result = testing::run_child(
        "child: conv2d of layers*,matmul: sizes around*,linear: values*,max_pool2d: values*,"
        "avg_pool2d: values*,adam_step follows*,sgd_step follows*,rmsprop_step follows*,cumsum: every axis*",
        {{"CRISOL_VECTOR_WIDTH", width}});
    CHECK(result.status == 0);
    CHECK_MESSAGE(result.output.find(" 9 passed") != std::string::npos, result.output);
  }
}

}  // namespace crisol
