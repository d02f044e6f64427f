// The choice among the variants of an op.
//
//     constexpr Variant<Problem> variants[] = {{"fast", DeviceClass::gpu, plan_fast},
//                                              {"plain", DeviceClass::any, plan_plain}};
//     const Table<Problem> table("cumsum", variants);
//
//     const PreparedPtr prepared = prepare(table, problem, device);
//     launch(*prepared, {in(x), out(y)});
//
// A variant's function gets the problem and the Target. It gives a plan, or the reason why it cannot take the problem.
// Only choose() knows which variants are forced, forbidden or tuned. The Target's limit on workspaces tells a variant
// how much to do at once. Only choose() refuses a plan that is above the limit. Variants are tried in the order of the
// table, and the last one takes every problem.
//
// CRISOL_VERBOSE=dispatch prints every refusal and the choice. CRISOL_VARIANT=conv2d:direct,matmul:-block forces one
// variant and forbids another. The variant that `crisol tune` stored for the problem comes first. The others follow in
// the order of the table. On a driver that nobody has tried, choose() runs trials of variants, which queue work. It
// skips a variant that computes wrong numbers (see dispatch/verification.h).
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "crisol/tuning.h"
#include "dispatch/plan.h"
#include "dispatch/problem_key.h"
#include "dispatch/target.h"

namespace crisol::dispatch {

/// The devices that a variant is made for. A variant for GPUs runs on a CPU only if it is forced, as in tests. A
/// variant for CPUs does not run on GPUs.
enum class DeviceClass : std::uint8_t { any, cpu, gpu };

/// A variant may have a list of configurations, such as tile sizes. With `own_config` the variant picks one itself.
constexpr std::size_t own_config = SIZE_MAX;

template <class Problem>
struct Variant {
  const char* name;
  DeviceClass devices;
  PlanOr (*plan)(const Problem&, const Target&, std::size_t config);
  /// The names of the configurations, which are the same for every problem. "variant/name" forces a configuration.
  /// nullptr if there are none.
  std::span<const std::string> (*configs)() = nullptr;
  bool fuses_epilogue = false;  ///< Whether its plans run the epilogue of a problem.
  double growth = 1;            ///< See variant_growth().
  bool only_named = false;      ///< If true, rules never choose the variant. It is taken if it is forced, or if tuning
                                /// stored it.
  /// If true, the variant exists only to take every problem, and takes the most time. Tuning at first use does not try
  /// it.
  bool simple = false;
};

/// A table whose type of problems is erased.
class AnyTable {
 public:
  struct Row {
    const char* name;
    DeviceClass devices;
    std::span<const std::string> (*configs)();
    const void* variant;
    bool fuses_epilogue = false;
    double growth = 1;
    bool only_named = false;
    bool simple = false;
  };

  AnyTable(const AnyTable&) = delete;
  AnyTable& operator=(const AnyTable&) = delete;

  const char* const op;
  const std::size_t problem_size;  ///< Bytes of a problem.
  std::span<const Row> rows() const noexcept { return rows_; }
  /// For tests: how often a call carried out the row's variant in this process.
  std::uint64_t uses_of(std::size_t row) const noexcept { return uses_[row].load(std::memory_order_relaxed); }
  void note_use(std::size_t row) const noexcept { uses_[row].fetch_add(1, std::memory_order_relaxed); }

  PlanOr plan(const Row& row, const void* problem, const Target& target, std::size_t config) const {
    return plan_(row.variant, problem, target, config);
  }
  /// nullptr if problems have no key. Problems without a key are neither tuned nor logged.
  ProblemKey (*const key)(const void* problem);
  /// What tuning at first use needs to know about the op's problems. `multiply_adds` is nullptr for an op that is not
  /// tuned at first use. The other member has a bit for each operand that plans write. Such operands hold floats.
  struct Work {
    double (*multiply_adds)(const void* problem) = nullptr;
    std::uint32_t written_operands = 0;
  };
  const Work work;

 protected:
  using PlanFunction = PlanOr (*)(const void* variant, const void* problem, const Target&, std::size_t config);
  AnyTable(const char* name, std::size_t size_of_problem, std::vector<Row> rows, PlanFunction plan,
           ProblemKey (*key_of)(const void*), Work work_of);
  ~AnyTable() = default;

 private:
  std::vector<Row> rows_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> uses_;
  PlanFunction plan_;
};

/// All tables of the library. An op may have several tables.
std::span<const AnyTable* const> all_tables();

template <class Problem>
concept HasKey = requires(const Problem& problem) {
  { problem.key() } -> std::same_as<ProblemKey>;
};

/// Products, convolutions and recurrent layers: ops that are worth tuning at first use.
template <class Problem>
concept HasWork = requires(const Problem& problem) {
  { problem.multiply_adds() } -> std::same_as<double>;
  { Problem::written_operands } -> std::convertible_to<std::uint32_t>;
};

/// The variants of an op, in the order in which they are tried.
template <class Problem>
class Table : public AnyTable {
 public:
  // Prepared plans are looked up by a problem's bytes.
  static_assert(std::has_unique_object_representations_v<Problem>, "a problem consists of whole numbers, without gaps");

  Table(const char* name, std::span<const Variant<Problem>> variants)
      : AnyTable(name, sizeof(Problem), rows_of(variants), plan_by, key_function(), work_of_problems()) {}

 private:
  static std::vector<Row> rows_of(std::span<const Variant<Problem>> variants) {
    std::vector<Row> rows;
    for (const Variant<Problem>& v : variants)
      rows.push_back({v.name, v.devices, v.configs, &v, v.fuses_epilogue, v.growth, v.only_named, v.simple});
    return rows;
  }
  static PlanOr plan_by(const void* variant, const void* problem, const Target& target, std::size_t config) {
    return static_cast<const Variant<Problem>*>(variant)->plan(*static_cast<const Problem*>(problem), target, config);
  }
  static ProblemKey (*key_function())(const void*) {
    if constexpr (HasKey<Problem>)
      return [](const void* problem) { return static_cast<const Problem*>(problem)->key(); };
    else
      return nullptr;
  }
  static Work work_of_problems() {
    if constexpr (HasWork<Problem>)
      return {[](const void* problem) { return static_cast<const Problem*>(problem)->multiply_adds(); },
              Problem::written_operands};
    else
      return {};
  }
};

/// A plan and the name of its variant.
struct Choice {
  Plan plan;
  std::string variant;  ///< The name, with the configuration if one was requested.
};

/// Chooses the forced variant, the tuned variant, or the first variant that accepts. Throws invalid_argument if a
/// forced variant refuses the problem or does not exist.
Choice choose(const AnyTable& table, const void* problem, const Target& target);
/// The same, but the problem is a part of another op's plan, or the call only asks about the choice.
template <class Problem>
Choice choose(const Table<Problem>& table, const std::type_identity_t<Problem>& problem, const Target& target) {
  return choose(table, static_cast<const void*>(&problem), target);
}

using PreparedPtr = std::shared_ptr<const Prepared>;

/// The plan that choose() gives, with its kernels. The result is kept for the next call with the same problem.
PreparedPtr prepare(const AnyTable& table, std::span<const std::byte> problem, runtime::DeviceState& device);
template <class Problem>
PreparedPtr prepare(const Table<Problem>& table, const std::type_identity_t<Problem>& problem,
                    runtime::DeviceState& device) {
  return prepare(table, std::as_bytes(std::span(&problem, 1)), device);
}

/// For ProblemLog: which variants and configurations accept a problem. The problem must have a key.
TuningProblem describe(const AnyTable& table, const void* problem, const Target& target);

/// A variant that accepts a problem, perhaps with a configuration.
struct Contender {
  const AnyTable::Row* row;
  std::size_t config;
  std::string name;
  Plan plan;
};
/// At most `most` contenders, the most promising first. First come the variants in the order of the table, beginning
/// with the usual variant. Then come the variants that rules never choose, and then the usual variant's configurations,
/// the lowest estimate first.
std::vector<Contender> contenders(const AnyTable& table, const void* problem, const Target& target, std::size_t most);
/// Whether the contender computes wrong numbers on this driver. This may run a trial (see dispatch/verification.h).
bool is_wrong(const AnyTable& table, const void* problem, const Target& target, const Contender& contender);

/// For tests: makes a variant take that many problems and refuse all later problems.
void refuse_after(std::string_view op, std::string_view variant, std::int64_t taken);

/// Forgets every prepared plan, because something has changed that choices depend on.
void forget_prepared() noexcept;

}  // namespace crisol::dispatch
