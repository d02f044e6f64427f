// Which variants a test ran. A variant that refuses every problem looks right to a test that only compares results,
// because the last variant of a table takes all problems. So cases state which variants must run, and the whole run
// fails when a variant that this device could take never ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crisol::testing {

/// A variant, and the devices on which it must run.
struct Expected {
  enum class On { all, cpus, gpus };

  const char* variant;
  On devices = On::all;

  Expected(const char* name) : variant(name) {}
  Expected(const char* name, On on) : variant(name), devices(on) {}
};

inline Expected on_cpus(const char* variant) { return {variant, Expected::On::cpus}; }
inline Expected on_gpus(const char* variant) { return {variant, Expected::On::gpus}; }

/// Checks at its end that each of these variants of the op ran since its construction:
///
///     const MustRun must("conv2d", {"direct", on_cpus("planes")});
class MustRun {
 public:
  MustRun(std::string op, const std::vector<Expected>& variants);
  ~MustRun();
  MustRun(const MustRun&) = delete;
  MustRun& operator=(const MustRun&) = delete;

 private:
  struct Count {
    Expected expected;
    std::uint64_t before;
  };
  std::string op_;
  std::vector<Count> counts_;
};

/// The variants, as "op:variant", that the default device could take and that never ran in this process.
std::vector<std::string> variants_never_run();

}  // namespace crisol::testing
