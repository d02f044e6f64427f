#include "support/coverage.h"

#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

namespace {

dispatch::Target target() { return dispatch::target_of(Device().state()); }

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
      all[std::string(table->op) + ':' + row.name] = *uses_of(table->op, row.name);
    }
  return all;
}

/// The statements so far that hold on the default device: "op:variant" and the case.
std::set<std::pair<std::string, std::string>>& statements() {
  static std::set<std::pair<std::string, std::string>> all;
  return all;
}

std::string running_case() { return doctest::getContextOptions()->currentTest->m_name; }

/// Whether no test makes this variant run on the default device.
bool excused(const std::string& variant) {
  // CLBlast is for GPUs, and somebody has to install it.
  if (variant == "matmul:clblast") return true;
  // Matrix units that are emulated are dozens of programs, which only Intel's runtime compiles soon.
  return variant.starts_with("conv2d") && variant.ends_with(":matrix") && Device().info().platform != "Intel(R) OpenCL";
}

}  // namespace

Expected on_cpus(const char* variant, std::int64_t iterations) {
  const DeviceInfo& info = Device().info();
  const bool is_cpu = info.type == DeviceType::cpu && info.platform != "Oclgrind";
  return where(is_cpu && target().against_iterations(iterations) == nullptr, variant);
}

MustRun::MustRun(std::string op, std::vector<Expected> variants) : op_(std::move(op)), variants_(std::move(variants)) {
  for (const Expected& expected : variants_) {
    const std::optional<std::uint64_t> uses = uses_of(op_, expected.variant);
    REQUIRE_MESSAGE(uses.has_value(), op_ << " has no variant " << std::string(expected.variant));
    uses_before_.push_back(*uses);
    if (expected.must_run) statements().emplace(op_ + ':' + expected.variant, running_case());
  }
}

MustRun::~MustRun() {
  for (std::size_t i = 0; i < variants_.size(); ++i)
    if (variants_[i].must_run)
      CHECK_MESSAGE(*uses_of(op_, variants_[i].variant) > uses_before_[i],
                    op_ << " did not run by " << std::string(variants_[i].variant) << " in this case");
}

std::vector<std::string> variants_never_run() {
  std::vector<std::string> never;
  for (const auto& [variant, uses] : variants_of_device())
    if (uses == 0 && !excused(variant)) never.push_back(variant);
  return never;
}

void write_statements(const std::string& file) {
  std::ofstream out(file);
  for (const auto& [variant, uses] : variants_of_device()) out << variant << '\n';
  for (const auto& [variant, test_case] : statements()) out << variant << '\t' << test_case << '\n';
}

}  // namespace crisol::testing
