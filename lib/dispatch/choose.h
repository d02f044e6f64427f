// The choice among the variants of an op.
//
//     constexpr Variant<Problem> variants[] = {{"fast", DeviceClass::gpu, plan_fast},
//                                              {"plain", DeviceClass::any, plan_plain}};
//     const Table<Problem> table("cumsum", variants);
//
//     const PreparedPtr prepared = prepare(table, problem, device);
//     launch(*prepared, {in(x), out(y)});
//
// A variant's function gives a plan for the problem, or the reason why it cannot take it. It sees the problem and the
// Target. Only choose() knows which variants are forced, forbidden or tuned. The Target's limit on workspaces tells a
// variant how much to do at once. choose() alone refuses a plan that is above the limit. Variants are tried in the
// order of the table, and the last one takes every problem.
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

/// The devices that a variant is made for. A variant for GPUs runs on a CPU if it is forced, as in tests. A variant for
/// CPUs runs on no GPU.
enum class DeviceClass : std::uint8_t { any, cpu, gpu };

/// A variant has a list of configurations, such as tile sizes, or none. With `own_config` it picks one itself.
constexpr std::size_t own_config = SIZE_MAX;

template <class Problem>
struct Variant {
  const char* name;
  DeviceClass devices;
  PlanOr (*plan)(const Problem&, const Target&, std::size_t config);
  /// Names of the configurations, the same for every problem: "variant/name" forces one. nullptr for none.
  std::span<const std::string> (*configs)() = nullptr;
  bool fuses_epilogue = false;  ///< Whether its plans run the epilogue of a problem.
  double growth = 1;            ///< See variant_growth().
  bool only_named = false;      ///< Never chosen by rules. It is taken if it is forced, or stored by tuning.
  /// It is there to take every problem, and takes the most time. Tuning at first use does not try it.
  bool simple = false;
};

/// A table without the type of its problems.
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
  /// For tests: the number of calls that a row's variant carried out in this process.
  std::uint64_t uses_of(std::size_t row) const noexcept { return uses_[row].load(std::memory_order_relaxed); }
  void note_use(std::size_t row) const noexcept { uses_[row].fetch_add(1, std::memory_order_relaxed); }

  PlanOr plan(const Row& row, const void* problem, const Target& target, std::size_t config) const {
    return plan_(row.variant, problem, target, config);
  }
  /// nullptr for problems without a key, which are neither tuned nor logged.
  ProblemKey (*const key)(const void* problem);
  /// What tuning at first use has to know of the op's problems: their multiply-adds, nullptr for an op that it leaves
  /// alone, and a bit for each operand that plans write. Written operands hold floats.
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

/// All tables of the library: several may belong to one op.
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
  std::string variant;  ///< Includes the configuration if one was asked for.
};

/// The forced, the tuned, or the first variant that accepts. A forced variant that refuses or does not exist throws
/// invalid_argument.
Choice choose(const AnyTable& table, const void* problem, const Target& target);
/// The same for a problem that is a part of another op's plan, or for a question about the choice.
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

/// For ProblemLog: the answers of all variants and configurations to a problem. The problem has a key.
TuningProblem describe(const AnyTable& table, const void* problem, const Target& target);

/// A variant, perhaps with a configuration, that accepts a problem.
struct Contender {
  const AnyTable::Row* row;
  std::size_t config;
  std::string name;
  Plan plan;
};
/// The best by the model, at most `most`. The variants of rules come first, in the order of the table: the usual one
/// leads. Then come the variants that rules never choose, then configurations of the usual one, by rising estimate.
std::vector<Contender> contenders(const AnyTable& table, const void* problem, const Target& target, std::size_t most);
/// Whether the contender computes wrong numbers on this driver. This may run a trial (see dispatch/verification.h).
bool is_wrong(const AnyTable& table, const void* problem, const Target& target, const Contender& contender);

/// For tests: lets a variant take that many problems, and refuse every problem after them.
void refuse_after(std::string_view op, std::string_view variant, std::int64_t taken);

/// Forgets every prepared plan, because something has changed that choices depend on.
void forget_prepared() noexcept;

}  // namespace crisol::dispatch
