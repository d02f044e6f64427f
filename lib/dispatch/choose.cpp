#include "dispatch/choose.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "dispatch/requests.h"
#include "dispatch/stored/problem_log.h"
#include "dispatch/stored/tuning.h"
#include "dispatch/verification.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

std::vector<const AnyTable*>& tables() {
  static std::vector<const AnyTable*> all;
  return all;
}

/// A variant that a test makes refuse problems. Outside of tests, the texts are empty.
struct RefusedForTest {
  std::string op, variant;
  std::atomic<std::int64_t> left;  ///< How many problems it still takes.

  bool refuses(std::string_view asked_op, std::string_view asked_variant) {
    return op == asked_op && variant == asked_variant && left.fetch_sub(1) <= 0;
  }
};

RefusedForTest& refused_for_test() {
  static RefusedForTest one;
  return one;
}

/// A row of the table, and a configuration if one was requested.
struct Candidate {
  const AnyTable::Row* row = nullptr;
  std::size_t config = own_config;

  std::string name() const { return config == own_config ? row->name : concat(row->name, '/', row->configs()[config]); }
};

/// The candidate with the name "variant" or "variant/configuration". Its row is null if there is none.
Candidate candidate_named(const AnyTable& table, std::string_view name) {
  const std::size_t slash = name.find('/');
  for (const AnyTable::Row& row : table.rows()) {
    if (name.substr(0, slash) != row.name) continue;
    if (slash == std::string_view::npos) return {&row};
    if (row.configs == nullptr) continue;
    const std::span<const std::string> configs = row.configs();
    for (std::size_t i = 0; i < configs.size(); ++i)
      if (configs[i] == name.substr(slash + 1)) return {&row, i};
  }
  return {};
}

const char* against_device(DeviceClass devices, const Target& target, bool forced) {
  if (devices == DeviceClass::cpu && !target.takes_cpu_kernels()) return "made for CPUs";
  // Kernels for GPUs are correct on CPUs, but slow.
  return devices == DeviceClass::gpu && target.takes_cpu_kernels() && !forced ? "made for GPUs" : nullptr;
}

void log_refused(const char* op, const std::string& variant, const char* reason) {
  runtime::log(runtime::Topic::dispatch, op, ": ", variant, " refused: ", reason);
}

constexpr const char* wrong_reason = "wrong where it was verified on this driver";

/// One call of choose(), with everything that decides the choice.
class Chooser {
 public:
  Chooser(const AnyTable& table, const void* problem, const Target& target)
      : table_(table), problem_(problem), target_(target) {}

  Choice choose() {
    if (const std::string forced = forced_variant(table_.op); !forced.empty()) return choose_forced(forced);
    if (std::optional<Choice> tuned = choose_tuned()) return std::move(*tuned);
    for (const AnyTable::Row& row : table_.rows()) {
      if (row.only_named) continue;
      const Candidate candidate{&row};
      PlanOr plan = plan_of(candidate, false);
      if (plan && is_wrong(candidate)) {
        if (!is_last(row))
          plan = wrong_reason;
        else
          warn_of_wrong(table_.op, row.name, target_.info);
      }
      if (plan) return chosen(std::move(plan.plan()), row, row.name, false);
      log_refused(table_.op, row.name, plan.reason());
    }
    fail_forced("none", "CRISOL_VARIANT forbids every variant that accepts this problem");
  }

  /// Adds all configurations of a row that accept the problem and have an estimate, best first.
  void add_configs(const AnyTable::Row& row, std::vector<Contender>& list) const {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    const double own = list.front().plan.estimate;
    for (std::size_t i = 0; row.configs != nullptr && own > 0 && i < row.configs().size(); ++i) {
      const Candidate candidate{&row, i};
      PlanOr plan = plan_of(candidate, false);
      if (!plan || plan.plan().estimate <= 0 || plan.plan().estimate == own) continue;  // The list has the usual plan.
      list.push_back({&row, i, candidate.name(), chosen(std::move(plan.plan()), row, candidate.name(), false).plan});
    }
    std::stable_sort(list.begin() + first, list.end(),
                     [](const Contender& a, const Contender& b) { return a.plan.estimate < b.plan.estimate; });
  }

  std::vector<Contender> contenders(std::size_t most) const {
    std::vector<Contender> list;
    for (const bool only_named : {false, true})
      for (const AnyTable::Row& row : table_.rows()) {
        if (row.only_named != only_named || list.size() == most || (row.simple && !list.empty())) continue;
        if (PlanOr plan = plan_of({&row}, false))
          list.push_back({&row, own_config, row.name, chosen(std::move(plan.plan()), row, row.name, false).plan});
      }
    if (!list.empty()) add_configs(*list.front().row, list);
    if (list.size() > most) list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
    return list;
  }

  bool is_wrong(const Contender& contender) { return is_wrong(Candidate{contender.row, contender.config}); }

  /// The plan of a candidate, or the reason against it.
  PlanOr plan_of(const Candidate& candidate, bool forced) const {
    const AnyTable::Row& row = *candidate.row;
    if (!forced && is_forbidden(table_.op, row.name)) return "forbidden by CRISOL_VARIANT";
    if (const char* reason = against_device(row.devices, target_, forced)) return reason;
    if (refused_for_test().refuses(table_.op, row.name)) return "refused for a test";
    PlanOr plan = table_.plan(row, problem_, target_, candidate.config);
    if (plan && !forced && plan.reason_unless_forced() != nullptr) return plan.reason_unless_forced();
    // The limit does not apply to the last variant, because it is the only one that takes every problem.
    if (plan && !is_last(row) && target_.workspace_limit > 0 && plan.plan().workspace_bytes() > target_.workspace_limit)
      return "its workspace would be above the limit";
    return plan;
  }

 private:
  bool is_last(const AnyTable::Row& row) const noexcept { return &row == &table_.rows().back(); }

  Choice choose_forced(const std::string& name) {
    const Candidate candidate = candidate_named(table_, name);
    if (candidate.row == nullptr) {
      std::string names;
      for (const AnyTable::Row& row : table_.rows()) names += std::string(names.empty() ? "" : ", ") + row.name;
      fail_forced(name, "there is no such variant; there are: " + names);
    }
    PlanOr plan = plan_of(candidate, true);
    if (!plan) fail_forced(name, plan.reason());
    if (is_wrong(candidate)) warn_of_wrong(table_.op, name, target_.info);
    return chosen(std::move(plan.plan()), *candidate.row, name, false);
  }

  std::optional<Choice> choose_tuned() {
    if (table_.key == nullptr || tuning_table().empty()) return std::nullopt;
    const std::string* const name = tuning_table().find(target_.info, table_.key(problem_).hash(table_.op));
    if (name == nullptr) return std::nullopt;
    const Candidate candidate = candidate_named(table_, *name);
    PlanOr plan = candidate.row == nullptr ? PlanOr("there is no such variant") : plan_of(candidate, false);
    if (plan && is_wrong(candidate)) plan = wrong_reason;
    if (plan) return chosen(std::move(plan.plan()), *candidate.row, *name, true);
    log_refused(table_.op, *name, plan.reason());
    return std::nullopt;
  }

  /// Whether the candidate computes wrong numbers on this device. If this is unknown, a trial finds out.
  bool is_wrong(const Candidate& candidate) {
    if (!needs_verification(target_.info)) return false;
    const ProblemKey key = table_.key == nullptr ? ProblemKey{} : table_.key(problem_);
    const Subject asked{table_.op, candidate.row->variant, candidate.config, key.program(), &target_.info};
    if (const std::optional<bool> agrees = remembered_verdict(asked)) return !*agrees;
    const bool agrees = verify(asked, candidate.name(), key);
    lasting_ = lasting_ && remembered_verdict(asked).has_value();
    return !agrees;
  }

  Choice chosen(Plan plan, const AnyTable::Row& row, const std::string& name, bool tuned) const {
    const auto position = static_cast<std::size_t>(&row - table_.rows().data());
    const auto* const bytes = static_cast<const std::byte*>(problem_);
    plan.choices.insert(plan.choices.begin(), {&table_, position, name, tuned, {bytes, bytes + table_.problem_size}});
    plan.lasting = plan.lasting && lasting_;
    return {std::move(plan), name};
  }

  [[noreturn]] void fail_forced(const std::string& variant, const std::string& reason) const {
    note_refused_trial(table_.op);
    fail(ErrorCode::invalid_argument, table_.op, "variant ", variant, " is forced, but ", reason);
  }

  const AnyTable& table_;
  const void* const problem_;
  const Target& target_;
  bool lasting_ = true;
};

}  // namespace

AnyTable::AnyTable(const char* name, std::size_t size_of_problem, std::vector<Row> rows, PlanFunction plan_of,
                   ProblemKey (*key_of)(const void*), Work work_of)
    : op(name),
      problem_size(size_of_problem),
      key(key_of),
      work(work_of),
      rows_(std::move(rows)),
      uses_(new std::atomic<std::uint64_t>[rows_.size()]()),
      plan_(plan_of) {
  tables().push_back(this);
}

std::span<const AnyTable* const> all_tables() { return tables(); }

void refuse_after(std::string_view op, std::string_view variant, std::int64_t taken) {
  RefusedForTest& refused = refused_for_test();
  refused.op = op;
  refused.variant = variant;
  refused.left = taken;
  forget_prepared();
}

Choice choose(const AnyTable& table, const void* problem, const Target& target) {
  return Chooser(table, problem, target).choose();
}

std::vector<Contender> contenders(const AnyTable& table, const void* problem, const Target& target, std::size_t most) {
  return Chooser(table, problem, target).contenders(most);
}

bool is_wrong(const AnyTable& table, const void* problem, const Target& target, const Contender& contender) {
  return Chooser(table, problem, target).is_wrong(contender);
}

TuningProblem describe(const AnyTable& table, const void* problem, const Target& target) {
  const ProblemKey key = table.key(problem);
  const Chooser chooser(table, problem, target);
  TuningProblem described{table.op, key.text(table.op), key.hash(table.op), 1, {}};
  const auto add = [&](const Candidate& candidate) {
    const PlanOr plan = chooser.plan_of(candidate, false);
    described.candidates.push_back({candidate.name(), plan ? "" : plan.reason()});
    return static_cast<bool>(plan);
  };
  for (const bool only_named : {false, true})  // The first variant that accepts is the usual one.
    for (const AnyTable::Row& row : table.rows()) {
      if (row.only_named != only_named || !add({&row}) || row.configs == nullptr) continue;
      for (std::size_t i = 0; i < row.configs().size(); ++i) add({&row, i});
    }
  return described;
}

}  // namespace crisol::dispatch

double crisol::variant_growth(const std::string& op, const std::string& variant) {
  for (const dispatch::AnyTable* const table : dispatch::all_tables())
    if (table->op == op)
      if (const auto* const row = dispatch::candidate_named(*table, variant).row; row != nullptr) return row->growth;
  return 1;
}
