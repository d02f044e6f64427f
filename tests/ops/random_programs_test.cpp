// Chains of views and ops with random shapes and arguments, compared with the host references. The fuzzer of ops runs
// such programs; here they come from fixed seeds.
#include <random>
#include <stdexcept>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "fuzz/op_program.h"
#include "support/skip.h"

TEST_CASE("random programs of views and ops give what the host references give, or are refused") {
  const bool slow = crisol::testing::slow_device() || crisol::Device().info().platform == "rusticl";
  const int programs = slow ? 8 : 40;  // Most of the time goes into compiling for other dtypes.
  std::mt19937 engine(1);
  for (int i = 0; i < programs; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> bytes(120);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
    std::string finding;
    try {
      crisol::fuzz::run_op_program(bytes.data(), bytes.size());
    } catch (const std::runtime_error& error) {
      finding = error.what();
    }
    REQUIRE_MESSAGE(finding.empty(), finding);
  }
}
