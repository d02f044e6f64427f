// Stores the results of probes on disk.
#include "dispatch/stored/probe_store.h"

#include "base/system.h"
#include "doctest/doctest.h"
#include "support/processes/subprocess.h"

namespace crisol {

namespace {

/// A separate folder of cached programs, used as long as this object exists.
class OwnCache {
 public:
  OwnCache() { testing::set_variable("CRISOL_CACHE_DIR", folder_.path()); }
  ~OwnCache() { testing::set_variable("CRISOL_CACHE_DIR", before_); }

 private:
  const testing::TemporaryFolder folder_;
  const std::string before_ = system::environment("CRISOL_CACHE_DIR");
};

}  // namespace

TEST_CASE("probe store: an outcome belongs to its device, driver, probe and kernel") {
  const OwnCache cache;
  DeviceInfo info;
  info.name = "Imagined 3000";
  info.driver_version = "1";
  CHECK(!dispatch::load_probe(info, "test", "kernel"));
  dispatch::store_probe(info, "test", "kernel", {"none", "it is imagined\nand more"});
  const auto stored = dispatch::load_probe(info, "test", "kernel");
  REQUIRE(stored);
  CHECK(stored->found == "none");
  CHECK(stored->reason == "it is imagined");
  CHECK(!dispatch::load_probe(info, "test", "another kernel"));
  CHECK(!dispatch::load_probe(info, "another test", "kernel"));
  info.driver_version += ".1";
  CHECK(!dispatch::load_probe(info, "test", "kernel"));
}

}  // namespace crisol
