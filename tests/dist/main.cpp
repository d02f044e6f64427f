// All test cases of libcrisol_dist, on each rank of a run. A case that fails on any rank has failed. Rank 0 prints the
// summary.
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "doctest/doctest.h"
#include "support/listener.h"

namespace {

/// By test case: whether it failed on this rank.
std::vector<std::int32_t>& failures() {
  static std::vector<std::int32_t> all;
  return all;
}

struct Counter : crisol::testing::Listener {
  explicit Counter(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& data) override {
    if (crisol::dist::rank() == 0) std::printf("[case] %s\n", data.m_name);
    std::fflush(stdout);
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    failures().push_back(stats.testCaseSuccess ? 0 : 1);
  }
};

DOCTEST_REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

int main(int argc, char** argv) {
  namespace dist = crisol::dist;
  doctest::Context context(argc, argv);
  if (argc == 1) context.setOption("test-case-exclude", "child:*");
  dist::init();
  const crisol::DeviceInfo& device = crisol::Device().info();
  std::printf("[rank %d] %s: %s\n", dist::rank(), device.platform.c_str(), device.name.c_str());
  if (context.run() != 0 && failures().empty()) return 1;
  crisol::Tensor failed = crisol::from_vector(failures());
  dist::all_reduce(failed, dist::ReduceOp::max);
  const std::vector<std::int32_t> all = failed.to_vector<std::int32_t>();
  const auto count = std::count(all.begin(), all.end(), 1);
  if (dist::rank() == 0)
    std::printf("crisol_dist_tests: %d passed, %d failed on %d ranks\n",
                static_cast<int>(all.size()) - static_cast<int>(count), static_cast<int>(count), dist::world());
  dist::finish();
  return count == 0 ? 0 : 1;
}
