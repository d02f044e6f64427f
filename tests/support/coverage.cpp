#include "support/coverage.h"

#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

namespace {

dispatch::Target target() { return dispatch::target_of(Device().state()); }

bool takes_clblast() { return target().clblast; }

/// Calls of one variant, over all tables of the op. Nothing where there is no such variant.
std::optional<std::uint64_t> uses_of(const std::string& op, const std::string& variant) {
  std::optional<std::uint64_t> uses;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (std::size_t row = 0; row < table->rows().size(); ++row)
      if (op == table->op && variant == table->rows()[row].name) uses = uses.value_or(0) + table->uses_of(row);
  return uses;
}

/// Every variant, as "op:variant", that the default device could take, with its calls.
std::map<std::string, std::uint64_t> variants_of_device() {
  std::map<std::string, std::uint64_t> all;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (const dispatch::AnyTable::Row& row : table->rows()) {
      if (row.devices == dispatch::DeviceClass::cpu && !target().takes_cpu_kernels()) continue;
      if (row.name == std::string("clblast") && !takes_clblast()) continue;
      all[std::string(table->op) + ':' + row.name] = *uses_of(table->op, row.name);
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

}  // namespace

Expected on_cpus(const char* variant, std::int64_t iterations) {
  const DeviceInfo& info = Device().info();
  const bool is_cpu = info.type == DeviceType::cpu && !slow_device();
  return where(is_cpu && target().against_iterations(iterations) == nullptr, variant);
}

Expected clblast() { return where(takes_clblast(), "clblast"); }

MustRun::MustRun(std::string op, std::vector<Expected> variants) : op_(std::move(op)), variants_(std::move(variants)) {
  for (const Expected& expected : variants_) {
    const std::optional<std::uint64_t> uses = uses_of(op_, expected.variant);
    REQUIRE_MESSAGE(uses.has_value(), op_ << " has no variant " << std::string(expected.variant));
    uses_before_.push_back(*uses);
  }
}

MustRun::~MustRun() {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (!variants_[i].must_run) continue;
    const std::string variant = variants_[i].variant;
    CHECK_MESSAGE(*uses_of(op_, variant) > uses_before_[i], op_ << " did not run by " << variant << " in this case");
    add_statement(op_ + ':' + variant, taken.count());
  }
}

void state_choice(const std::string& op, const std::string& variant) { add_statement(op + ':' + variant, 0); }

std::vector<std::string> variants_never_run() {
  std::vector<std::string> never;
  for (const auto& [variant, uses] : variants_of_device())
    if (uses == 0 && !excused(variant)) never.push_back(variant);
  return never;
}

void write_statements(const std::string& file) {
  std::ofstream out(file);
  for (const auto& [variant, uses] : variants_of_device()) out << variant << '\n';
  std::multimap<double, std::string> by_time;
  for (const auto& [statement, seconds] : statements())
    by_time.emplace(seconds, statement.first + '\t' + statement.second);
  for (const auto& [seconds, line] : by_time) out << line << '\n';
}

}  // namespace crisol::testing
