#include "support/coverage.h"

#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "ops/quantized/byte_products.h"
#include "runtime/clblast.h"
#include "support/listener.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

namespace {

dispatch::Target target() { return dispatch::target_of(Device().state()); }

/// Calls of one variant, over all tables of the op. Nothing if there is no such variant.
std::optional<std::uint64_t> uses_of(const std::string& op, const std::string& variant) {
  std::optional<std::uint64_t> uses;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (std::size_t row = 0; row < table->rows().size(); ++row)
      if (op == table->op && variant == table->rows()[row].name) uses = uses.value_or(0) + table->uses_of(row);
  return uses;
}

/// Every variant, as "op:variant", that the default device could take.
std::set<std::string> variants_of_device() {
  std::set<std::string> all;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (const dispatch::AnyTable::Row& row : table->rows()) {
      if (row.devices == dispatch::DeviceClass::cpu && !target().takes_cpu_kernels()) continue;
      if (row.name == std::string("clblast") && !clblast().must_run) continue;
      if (row.name == std::string("cpu_bytes") && !bytes_on_cpus().must_run) continue;
      if (row.name == std::string("cpu_bytes_gfni") && !bytes_gfni_on_cpus().must_run) continue;
      all.insert(std::string(table->op) + ':' + row.name);
    }
  return all;
}

/// The statements so far that hold on the default device: "op:variant" and the case, with the seconds that it took.
std::map<std::pair<std::string, std::string>, double>& statements() {
  static std::map<std::pair<std::string, std::string>, double> all;
  return all;
}

void add_statement(const std::string& variant, double seconds) {
  statements()[{variant, doctest::getContextOptions()->currentTest->m_name}] += seconds;
}

/// Whether no test makes this variant run on the default device.
bool excused(const std::string& variant) {
  // Matrix units that are emulated are dozens of programs, which only Intel's runtime compiles soon.
  return variant.starts_with("conv2d") && variant.ends_with(":matrix") && Device().info().platform != "Intel(R) OpenCL";
}

/// The variants that ran in short cases of tests/ops so far.
std::set<std::string>& ran_in_each_run() {
  static std::set<std::string> all;
  return all;
}

/// Notes the variants that run in the cases that every run of the tests takes.
class Coverage : public Listener {
 public:
  explicit Coverage(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    const bool is_long = test.m_test_suite == std::string("long");
    in_each_run_ = !is_long && std::string(test.m_file.c_str()).find("tests/ops/") != std::string::npos;
    uses_before_.clear();
    if (in_each_run_) count([this](const std::string&, std::uint64_t uses) { uses_before_.push_back(uses); });
  }

  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    if (!in_each_run_) return;
    std::size_t at = 0;
    count([&](const std::string& variant, std::uint64_t uses) {
      if (uses > uses_before_[at++]) ran_in_each_run().insert(variant);
    });
  }

 private:
  template <class Body>
  static void count(Body body) {
    for (const dispatch::AnyTable* table : dispatch::all_tables())
      for (std::size_t row = 0; row < table->rows().size(); ++row)
        body(std::string(table->op) + ':' + table->rows()[row].name, table->uses_of(row));
  }

  bool in_each_run_ = false;
  std::vector<std::uint64_t> uses_before_;  ///< The uses of all rows, in the order of the tables.
};

REGISTER_LISTENER("coverage", 1, Coverage);

}  // namespace

Expected on_cpus(const char* variant, std::int64_t iterations) {
  const DeviceInfo& info = Device().info();
  const bool is_cpu = info.type == DeviceType::cpu && !slow_device();
  return where(is_cpu && target().against_iterations(iterations) == nullptr, variant);
}

Expected all_on_cpus(const char* variant, int at_least) {
  const bool takes_all = Device().info().type == DeviceType::cpu && target().against_iterations(1'000'000) == nullptr;
  return takes_all ? Expected(variant) : some(at_least, variant);
}

Expected clblast() { return where(!slow_device() && runtime::against_clblast() == nullptr, "clblast"); }

Expected bytes_on_cpus() {
  return where(ops::found_byte_products(Device().state()).found != "none" && !slow_device(), "cpu_bytes");
}

Expected bytes_gfni_on_cpus() {
  return where(ops::found_byte_products(Device().state()).found == "vpdpbusd_gfni" && !slow_device(), "cpu_bytes_gfni");
}

Expected some(int least, Expected expected) {
  expected.least = slow_device() ? 1 : least;
  return expected;
}

MustRun::MustRun(std::string op, std::vector<Expected> variants) : op_(std::move(op)), variants_(std::move(variants)) {
  for (const Expected& expected : variants_) {
    const std::optional<std::uint64_t> uses = uses_of(op_, expected.variant);
    REQUIRE_MESSAGE(uses.has_value(), op_ << " has no variant " << std::string(expected.variant));
    counts_.push_back({*uses});
  }
}

void MustRun::run(std::size_t position, const std::function<void()>& body) const {
  const Expected& expected = variants_[position];
  Count& count = counts_[position];
  const std::uint64_t before = *uses_of(op_, expected.variant);
  const std::optional<std::string> refusal = refusal_of(op_, expected.variant, body);
  count.refused += refusal.has_value();
  // A body may have nothing to compute, and pass over a variant.
  count.ran += !refusal && *uses_of(op_, expected.variant) > before;
  if (refusal && expected.must_run && expected.least == 0) FAIL_CHECK(*refusal);
}

MustRun::~MustRun() {
  if (std::uncaught_exceptions() > 0) return;  // The case ended early, and says why.
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    const auto& [uses_before, ran, refused] = counts_[i];
    if (!variants_[i].must_run) continue;
    const std::string variant = variants_[i].variant;
    CHECK_MESSAGE(*uses_of(op_, variant) > uses_before, op_ << " did not run by " << variant << " in this case");
    CHECK_MESSAGE(ran >= variants_[i].least, op_ << " ran by " << variant << " in " << ran << " of " << ran + refused
                                                 << " calls, and must run in " << variants_[i].least);
    add_statement(op_ + ':' + variant, taken.count());
  }
}

void state_choice(const std::string& op, const std::string& variant) { add_statement(op + ':' + variant, 0); }

std::vector<std::string> variants_never_run() {
  std::vector<std::string> never;
  for (const std::string& variant : variants_of_device())
    if (!ran_in_each_run().contains(variant) && !excused(variant)) never.push_back(variant);
  return never;
}

void write_statements(const std::string& file) {
  std::ofstream out(file);
  for (const std::string& variant : variants_of_device()) out << variant << '\n';
  std::multimap<double, std::string> by_time;
  for (const auto& [statement, seconds] : statements())
    by_time.emplace(seconds, statement.first + '\t' + statement.second);
  for (const auto& [seconds, line] : by_time) out << line << '\n';
}

}  // namespace crisol::testing
