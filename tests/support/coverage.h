// Which variants a test case must run. A variant that refuses every problem looks right to a test that only compares
// results, because the last variant of a table takes all problems. So a case that tries the variants of an op states
// which of them must run, and on which devices. The whole run fails when a variant that this device could take ran in
// no short case of the ops. tests/mutate.sh shows for each variant that some case fails without it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "support/forced.h"

namespace crisol::testing {

/// A variant that a case tries, and what it must do on the default device: accept every problem of the case, accept
/// some of them, or nothing.
struct Expected {
  const char* variant;
  bool must_run = true;
  int least = 0;  ///< Calls of for_each_variant() in which it must run. 0 for all.

  Expected(const char* name, bool must = true) : variant(name), must_run(must) {}
};

/// Must run if the condition holds.
inline Expected where(bool condition, const char* variant) { return {variant, condition}; }
/// Must run in at least `least` calls of for_each_variant(), if it must run at all. For a list of problems if the
/// variant refuses some of them. On slow devices (slow_device()), which try fewer problems, once is enough.
Expected some(int least, Expected expected);
/// May refuse everywhere.
inline Expected may_run(const char* variant) { return {variant, false}; }
/// Must run on CPUs that do `iterations` loop iterations in one work-item (see dispatch/target.h). May run on slow
/// devices (slow_device()), where cases are fewer and smaller.
Expected on_cpus(const char* variant, std::int64_t iterations = 0);
/// Must accept every problem on CPUs that run loops of any length, and at least `at_least` problems on other devices.
Expected all_on_cpus(const char* variant, int at_least);
/// The variant "clblast" of a product. Must run where CLBlast is installed and the device is not slow.
Expected clblast();
/// The variant "cpu_bytes" of a product with a quantised weight. Must run on CPUs that multiply bytes in one
/// instruction.
Expected bytes_on_cpus();
/// The same with GFNI, for codes of 4 bits.
Expected bytes_gfni_on_cpus();

/// The variants of an op that a case tries. Each variant accepts every problem, or at least the number that it states:
///
///     const MustRun variants("cumsum", {on_cpus("rows"), some(3, "groups"), "items"});
///     for (const Shape& shape : shapes) for_each_variant(variants, [&] { check(shape); });
class MustRun {
 public:
  MustRun(std::string op, std::vector<Expected> variants);
  /// Checks that each variant that must run ran as often as it must.
  ~MustRun();
  MustRun(const MustRun&) = delete;
  MustRun& operator=(const MustRun&) = delete;

  const std::vector<Expected>& variants() const noexcept { return variants_; }
  /// Calls `body` with the variant of that position forced. A refusal fails the case if the variant must always run.
  void run(std::size_t position, const std::function<void()>& body) const;

 private:
  struct Count {
    std::uint64_t uses_before;
    int ran = 0, refused = 0;  ///< Calls of run().
  };

  std::string op_;
  std::vector<Expected> variants_;
  mutable std::vector<Count> counts_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Calls body() or body(variant) with each variant forced in turn. Passes over a variant that refuses and may do so.
template <class Body>
void for_each_variant(const MustRun& must, Body body) {
  for (std::size_t i = 0; i < must.variants().size(); ++i) {
    const char* const variant = must.variants()[i].variant;
    INFO("variant " << std::string(variant));
    must.run(i, [&] {
      if constexpr (std::invocable<Body, const char*>)
        body(variant);
      else
        body();
    });
  }
}

/// States that the running case fails without the variant, although the case does not run it. Such a case checks the
/// choice for a device that is not there.
void state_choice(const std::string& op, const std::string& variant);

/// The variants, as "op:variant", that the default device could take and that ran in no short case of tests/ops. Every
/// run of the tests takes these cases, whatever the commit's hash chooses. So a hole shows in each run.
std::vector<std::string> variants_never_run();

/// Writes a line for each variant that the default device could take, "op:variant", and a line for each case that had
/// to run one, "op:variant" with the name of the case after a tab, the quickest first. For tests/mutate.sh.
void write_statements(const std::string& file);

}  // namespace crisol::testing
