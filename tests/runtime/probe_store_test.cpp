// What probes found, on disk.
#include "runtime/probe_store.h"

#include <cstdlib>

#include "doctest/doctest.h"
#include "support/subprocess.h"

namespace crisol {

namespace {

/// A folder of cached programs of its own, while it lives.
class OwnCache {
 public:
  OwnCache() { setenv("CRISOL_CACHE_DIR", folder_.path().c_str(), 1); }
  ~OwnCache() {
    if (before_)
      setenv("CRISOL_CACHE_DIR", before_->c_str(), 1);
    else
      unsetenv("CRISOL_CACHE_DIR");
  }

 private:
  static std::optional<std::string> variable() {
    const char* const value = std::getenv("CRISOL_CACHE_DIR");
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  const testing::TemporaryFolder folder_;
  const std::optional<std::string> before_ = variable();
};

}  // namespace

TEST_CASE("probe store: an outcome belongs to its device, driver, probe and kernel") {
  const OwnCache cache;
  DeviceInfo info;
  info.name = "Imagined 3000";
  info.driver_version = "1";
  CHECK(!runtime::load_probe(info, "test", "kernel"));
  runtime::store_probe(info, "test", "kernel", {"none", "it is imagined\nand more"});
  const auto stored = runtime::load_probe(info, "test", "kernel");
  REQUIRE(stored);
  CHECK(stored->found == "none");
  CHECK(stored->reason == "it is imagined");
  CHECK(!runtime::load_probe(info, "test", "another kernel"));
  CHECK(!runtime::load_probe(info, "another test", "kernel"));
  info.driver_version += ".1";
  CHECK(!runtime::load_probe(info, "test", "kernel"));
}

}  // namespace crisol
