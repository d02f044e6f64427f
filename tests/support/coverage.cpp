#include "support/coverage.h"

#include <optional>

#include "crisol/device.h"
#include "dispatch/choose.h"
#include "doctest/doctest.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

namespace {

bool is_cpu() { return Device().info().type == DeviceType::cpu && Device().info().platform != "Oclgrind"; }

/// CPUs, and the simulator Oclgrind, which takes some of their kernels.
bool takes_cpu_kernels() { return dispatch::target_of(Device().state()).takes_cpu_kernels(); }

/// Calls of one variant, over all tables of the op. Nothing where there is no such variant.
std::optional<std::uint64_t> uses_of(const std::string& op, const std::string& variant) {
  std::optional<std::uint64_t> uses;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (std::size_t row = 0; row < table->rows().size(); ++row)
      if (op == table->op && variant == table->rows()[row].name) uses = uses.value_or(0) + table->uses_of(row);
  return uses;
}

/// Whether no test makes this variant run on the default device.
bool excused(const std::string& variant) {
  // CLBlast is for GPUs, and somebody has to install it.
  if (variant == "matmul:clblast") return true;
  // Matrix units that are emulated are dozens of programs, which only Intel's runtime compiles soon.
  return variant.starts_with("conv2d") && variant.ends_with(":matrix") && Device().info().platform != "Intel(R) OpenCL";
}

}  // namespace

MustRun::MustRun(std::string op, const std::vector<Expected>& variants) : op_(std::move(op)) {
  for (const Expected& expected : variants) {
    const std::optional<std::uint64_t> uses = uses_of(op_, expected.variant);
    REQUIRE_MESSAGE(uses.has_value(), op_ << " has no variant " << expected.variant);
    const bool here = expected.devices == Expected::On::all ||
                      (expected.devices == Expected::On::cpus ? is_cpu() : !takes_cpu_kernels());
    if (here) counts_.push_back({expected, *uses});
  }
}

MustRun::~MustRun() {
  for (const Count& count : counts_)
    CHECK_MESSAGE(*uses_of(op_, count.expected.variant) > count.before,
                  op_ << " did not run by " << count.expected.variant << " in this case");
}

std::vector<std::string> variants_never_run() {
  std::vector<std::string> never;
  for (const dispatch::AnyTable* table : dispatch::all_tables())
    for (const dispatch::AnyTable::Row& row : table->rows()) {
      if (row.devices == dispatch::DeviceClass::cpu && !takes_cpu_kernels()) continue;
      if (excused(std::string(table->op) + ':' + row.name)) continue;
      if (uses_of(table->op, row.name) == 0) never.push_back(std::string(table->op) + ':' + row.name);
    }
  return never;
}

}  // namespace crisol::testing
