// `crisol selftest` passes with correct kernels, and names the failing op when a kernel is wrong.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "crisol/device.h"
#include "crisol/version.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("crisol selftest: ops that agree with their references") {
  NEEDS_CRISOL();
  const ProcessResult result = run_built("crisol", {"selftest", "--only", "tril,mse_loss,logical_or"});
  INFO(result.output);
  CHECK(result.status == 0);
  for (const char* op : {"tril_triu", "mse_loss", "logical_or"}) CHECK(contains(result.output, op));
  for (const std::string& part : {Device().name(), Device().info().driver_version, std::string(version()),
                                  std::string("passed: 3 of 3 ops agree")})
    CHECK(contains(result.output, part));
  CHECK_FALSE(contains(result.output, "softmax"));

  const ProcessResult scripted = run_built("crisol", {"selftest", "--only", "matmul_transposed,mse_loss", "--json"});
  CHECK(scripted.status == 0);
  const auto json = nlohmann::json::parse(scripted.out);
  CHECK(json.at("passed") == true);
  CHECK(json.at("device").at("name") == Device().name());
  REQUIRE(json.at("ops").size() == 2);
  const auto& product = json.at("ops")[0];
  CHECK(product.at("op") == "matmul_transposed");
  CHECK(product.at("cases") == 4);
  CHECK(product.at("bound") == 2);
  CHECK(product.at("error").get<double>() > 0);
  CHECK(product.at("error").get<double>() <= 2);
  CHECK(contains(product.at("variants").get<std::string>(), "matmul:"));
}

TEST_CASE("crisol selftest: a kernel that is wrong, one that does not compile, a name that is none") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string kernels = folder.path() + "/cl_kernels";
  std::filesystem::copy(CRISOL_SOURCE_DIR "/cl_kernels", kernels, std::filesystem::copy_options::recursive);
  const auto change = [&](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_file(kernels + "/" + file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_file(kernels + "/" + file, text.replace(at, from.size(), to));
  };
  change("layout/triangle.cl", "y[i] = upper ? 0 : x[i]", "y[i] = x[i]");
  change("index/one_hot.cl", "__kernel", "nonsense");
  const Environment changed{{"CRISOL_KERNEL_PATH", kernels}, {"CRISOL_CACHE_DIR", folder.path() + "/cache"}};
  const ProcessResult result = run_built("crisol", {"selftest", "--only", "tril,one_hot,mse_loss"}, changed);
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "wrong"));  // The upper triangle is not 0.
  CHECK(contains(result.output, "expected 0"));
  CHECK(contains(result.output, "index/one_hot.cl"));  // This op has no kernel; the third op still runs.
  CHECK(contains(result.output, "FAILED: 1 of 3 ops agree"));

  CHECK(run_built("crisol", {"selftest", "--only", "no such op"}).status == 2);
}
