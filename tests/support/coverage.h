// Which variants a test case must run. A variant that refuses every problem looks right to a test that only compares
// results, because the last variant of a table takes all problems. So a case that tries the variants of an op states
// which of them must run, and on which devices. The whole run fails when a variant that this device could take never
// ran. tests/mutate.sh shows for each variant that some case fails without it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "support/forced.h"

namespace crisol::testing {

/// A variant that a case tries, and whether it must run on the default device.
struct Expected {
  const char* variant;
  bool must_run = true;

  Expected(const char* name, bool must = true) : variant(name), must_run(must) {}
};

/// Must run where the condition holds.
inline Expected where(bool condition, const char* variant) { return {variant, condition}; }
/// May refuse everywhere.
inline Expected may_run(const char* variant) { return {variant, false}; }
/// Must run on CPUs that do so many loop iterations in one work-item (see dispatch/target.h). May run on slow devices
/// (slow_device()), where cases are fewer and smaller.
Expected on_cpus(const char* variant, std::int64_t iterations = 0);
/// The variant "clblast" of a product. Must run on GPUs where somebody has installed CLBlast.
Expected clblast();

/// The variants of an op that a case tries. Checks at its end that those ran that must:
///
///     const MustRun variants("cumsum", {on_cpus("rows"), where(local_memory > 8192, "groups"), "items"});
///     for_each_variant(variants, [&] { check_close(ops::cumsum(x, 0), expected); });
class MustRun {
 public:
  MustRun(std::string op, std::vector<Expected> variants);
  ~MustRun();
  MustRun(const MustRun&) = delete;
  MustRun& operator=(const MustRun&) = delete;

  const std::string& op() const noexcept { return op_; }
  const std::vector<Expected>& variants() const noexcept { return variants_; }

 private:
  std::string op_;
  std::vector<Expected> variants_;
  std::vector<std::uint64_t> uses_before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Calls body() or body(variant) with each variant forced in turn. Passes over a variant that refuses, with an error
/// that says so.
template <class Body>
void for_each_variant(const MustRun& must, Body body) {
  for (const Expected& expected : must.variants()) {
    INFO("variant " << std::string(expected.variant));
    run_variant(must.op(), expected.variant, [&] {
      if constexpr (std::invocable<Body, const char*>)
        body(expected.variant);
      else
        body();
    });
  }
}

/// States that the running case fails without the variant, which it does not run: it asks what is chosen on a device
/// that is not there.
void state_choice(const std::string& op, const std::string& variant);

/// The variants, as "op:variant", that the default device could take and that never ran in this process.
std::vector<std::string> variants_never_run();

/// Writes a line for each variant that the default device could take, "op:variant", and a line for each case that had
/// to run one, "op:variant" with the name of the case after a tab, the quickest first. For tests/mutate.sh.
void write_statements(const std::string& file);

}  // namespace crisol::testing
