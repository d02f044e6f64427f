// Prepared plans, found by their problem. The second call of an op with the same problem costs one look-up.
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/forked.h"
#include "base/hash.h"
#include "base/text.h"
#include "dispatch/choose.h"
#include "dispatch/first_use/first_use.h"
#include "dispatch/requests.h"
#include "dispatch/stored/problem_log.h"
#include "dispatch/variant_log.h"
#include "dispatch/verification.h"
#include "runtime/dry_run.h"
#include "runtime/timeline/timeline.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

/// Raised whenever an earlier choice might be different now.
std::atomic<unsigned> generation{1};

/// Everything that decides a choice. The problem's bytes belong to the caller, or to the entry with this key.
struct Key {
  const AnyTable* table;
  const runtime::DeviceState* device;
  unsigned generation;
  std::string_view forced;
  std::span<const std::byte> problem;

  /// Hashing a word takes one multiplication, because every call of an op waits for this hash.
  std::uint64_t hash() const noexcept {
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t word) { hash = (std::rotl(hash, 5) ^ word) * golden_ratio; };
    add(reinterpret_cast<std::uintptr_t>(table));
    add(reinterpret_cast<std::uintptr_t>(device));
    add(generation);
    if (!forced.empty()) add(hash_of(forced));
    const auto add_bytes = [&](std::size_t first, std::size_t count) {
      std::uint64_t word = 0;
      std::memcpy(&word, problem.data() + first, count);
      add(word);
    };
    const std::size_t whole = problem.size() / 8 * 8;
    for (std::size_t at = 0; at < whole; at += 8) add_bytes(at, 8);
    if (whole < problem.size()) add_bytes(whole, problem.size() - whole);
    return hash ^ hash >> 32;
  }
  friend bool operator==(const Key& a, const Key& b) noexcept {
    return a.table == b.table && a.device == b.device && a.generation == b.generation && a.forced == b.forced &&
           a.problem.size() == b.problem.size() &&
           std::memcmp(a.problem.data(), b.problem.data(), a.problem.size()) == 0;
  }
};

struct Entry {
  Key key;
  std::string forced;
  std::vector<std::byte> problem;
  PreparedPtr prepared;

  Entry(const Key& k, PreparedPtr p)
      : key(k), forced(k.forced), problem(k.problem.begin(), k.problem.end()), prepared(std::move(p)) {
    key.forced = forced;
    key.problem = problem;
  }
};

/// The entries of all threads for one range of hashes. When it is full, the oldest entries are removed.
class PreparedPlans {
 public:
  PreparedPtr find(const Key& key, std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (at->second->key == key) return at->second->prepared;
    return nullptr;
  }
  void add(const Key& key, std::uint64_t hash, const PreparedPtr& prepared) {
    auto entry = std::make_unique<const Entry>(key, prepared);
    const std::lock_guard lock(mutex_);
    weight_ += weight_of(*entry);
    while (weight_ > max_weight && !order_.empty()) remove_oldest();
    const Entry* const added = entry.get();
    entries_.emplace(hash, std::move(entry));
    order_.emplace_back(hash, added);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    order_.clear();
    weight_ = 0;
  }

 private:
  static constexpr std::size_t max_weight = 128;

  /// 1 for most plans. The plan of 1000 time steps takes a megabyte, so it counts as many.
  static std::size_t weight_of(const Entry& entry) { return 1 + entry.prepared->plan.arg_count() / 256; }

  void remove_oldest() {
    const auto [hash, entry] = order_.front();
    order_.pop_front();
    weight_ -= weight_of(*entry);
    auto at = entries_.equal_range(hash).first;
    while (at->second.get() != entry) ++at;
    entries_.erase(at);
  }

  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<const Entry>> entries_;
  std::deque<std::pair<std::uint64_t, const Entry*>> order_;
  std::size_t weight_ = 0;  ///< The sum over all entries.
};

/// All plans, divided by ranges of hashes, so that threads which call different ops seldom wait for each other.
std::array<PreparedPlans, 16>& all_plans() {
  // Never destroyed, because threads may outlive static objects.
  static auto& all = *new std::array<PreparedPlans, 16>;
  return all;
}
PreparedPlans& plans_of(std::uint64_t hash) { return all_plans()[hash >> 60]; }

void note_problem(const AnyTable& table, std::span<const std::byte> problem, runtime::DeviceState& device) {
  if (table.key == nullptr || is_trying()) return;
  if (problems_are_logged()) log_problem(table.op, table.key(problem.data()));
  if (ProblemLog* const log = problem_log()) log->note(describe(table, problem.data(), target_of(device)));
}

/// Writes the choice to the logs and to stderr, for each call.
void note_choices(const Plan& plan, runtime::DeviceState& device) {
  const bool log = runtime::verbose(runtime::Topic::dispatch), note = !is_trying();
  for (const Plan::Choice& choice : plan.choices) {
    if (note) {
      choice.table->note_use(choice.row);
      note_choice(choice.table->op, choice.variant.c_str());
    }
    if (log)
      runtime::log_line(concat(choice.table->op, ": ", choice.variant, choice.tuned ? " chosen, as tuned" : " chosen"));
  }
  for (std::size_t part = 1; part < plan.choices.size(); ++part)
    note_problem(*plan.choices[part].table, plan.choices[part].problem, device);
}

}  // namespace

PreparedPtr prepare(const AnyTable& table, std::span<const std::byte> problem, runtime::DeviceState& device) {
  system::check_not_forked();
  if (!runtime::in_dry_run()) note_problem(table, problem, device);
  const std::string forced = forced_variants();
  const Key key{&table, &device, generation.load(std::memory_order_relaxed), forced, problem};
  const std::uint64_t hash = key.hash();
  PreparedPtr prepared = plans_of(hash).find(key, hash);
  if (prepared == nullptr) {
    const runtime::TimelineSlice slice("prepare", table.op);
    Plan plan = choose(table, problem.data(), target_of(device)).plan;
    plan.first_use = first_use_of(table, problem, device);
    prepared = prepare(std::move(plan), device);
    if (prepared->plan.lasting && !runtime::in_dry_run()) plans_of(hash).add(key, hash, prepared);
  }
  if (!runtime::in_dry_run()) note_choices(prepared->plan, device);
  return prepared;
}

void forget_prepared() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
  for (PreparedPlans& part : all_plans()) part.clear();
}

}  // namespace crisol::dispatch
