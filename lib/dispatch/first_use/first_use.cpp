#include "dispatch/first_use/first_use.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/thread_context.h"
#include "dispatch/first_use/budget.h"
#include "dispatch/first_use/contest.h"
#include "dispatch/requests.h"
#include "dispatch/stored/tuning.h"
#include "dispatch/verification.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/transfer.h"
#include "runtime/timeline/timeline.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

/// The smallest work that is tuned. A smaller problem takes little more time than its launch.
constexpr double large_work = 1e6;
/// The first guess of the time to compile a variant. Later the average of all compilations replaces it.
constexpr double first_compiling = 0.5;

enum class TuneMode { off, first, always };

TuneMode tune_mode() {
  static const TuneMode chosen = [] {
    const std::string text = runtime::environment("CRISOL_TUNE");
    require(text.empty() || text == "off" || text == "first" || text == "always", "CRISOL_TUNE", '\'', text,
            "' is none of off, first and always");
    if (text.empty() || text == "off") return TuneMode::off;
    // The driver behind `crisol kernels` imitates other devices and computes nothing. CRISOL_VARIANT hides variants.
    for (const char* variable : {"CRISOL_NULL_DEVICE", "CRISOL_VARIANT"})
      if (!runtime::environment(variable).empty()) return TuneMode::off;
    return text == "first" ? TuneMode::first : TuneMode::always;
  }();
  return chosen;
}

bool is_wanted_on(const GpuTraits& traits) {
  return tune_mode() == TuneMode::always ? !traits.simulated : !traits.measured;
}

/// What all problems of the process share. Only one contest runs at a time, because two would disturb each other.
struct Shared {
  std::mutex one_at_a_time;
  TuningBudget budget;
  /// Seconds of the steps that compiled a variant, and the number of such steps.
  double compiling = first_compiling, steps = 1;
  std::atomic<bool> can_store{true};
};

Shared& shared() {
  static auto& one = *new Shared;  // Never destroyed, because threads may outlive static objects.
  return one;
}

/// While it lives, the thread's work is no part of a traced function, of a capture or of a profile.
struct Aside {
  const runtime::PauseCapture pause;
  Trace* const trace = std::exchange(thread_context().trace, nullptr);

  ~Aside() { thread_context().trace = trace; }
};

class TunedProblem final : public FirstUse {
 public:
  TunedProblem(const AnyTable& table, std::span<const std::byte> problem, runtime::DeviceState& device)
      : table_(table), problem_(problem.begin(), problem.end()), device_(device) {
    entry_.device = tuning_device(runtime::info_of(device));
    entry_.problem = table.key(problem.data()).text(table.op);
    entry_.key = table.key(problem.data()).hash(table.op);
  }

  void proceed(std::span<const OperandView> operands, std::span<const runtime::KernelArg> scalars) override {
    if (is_settled_.load(std::memory_order_relaxed) || is_trying()) return;
    if (runtime::current_capturer() != nullptr || runtime::capture_is_paused()) return;
    Shared& all = shared();
    const std::unique_lock lock(all.one_at_a_time, std::try_to_lock);
    if (!lock || is_settled_) return;
    if (!is_noted_) note();
    if (is_settled_ || is_first_of_inference() || !may_go_on()) return;
    runtime::finish(device_);  // Waits first, so that errors and times belong to the contest.
    const Aside aside;
    const runtime::TimelineSlice slice("tune", table_.op);
    double start = tuning_clock();
    try {
      if (!contest_) contest_.emplace(table_, problem_, device_);
      const ScratchOperands scratch(device_, operands, table_.work.written_operands, keeps_copies());
      while (!contest_->is_over() && may_go_on()) {
        const bool compiles = contest_->compiles();
        contest_->step(scratch, scalars);
        const double end = tuning_clock();
        if (compiles) all.compiling += (end - start - all.compiling) / ++all.steps;
        all.budget.spend(start, end);
        start = end;
      }
      if (contest_->is_over()) settle();
    } catch (const Error& error) {  // There is no memory for the copies, or the file cannot be written.
      give_up(error.what());
    } catch (const std::bad_alloc&) {
      give_up("there is no memory");
    }
    all.budget.spend(start, tuning_clock());
  }

 private:
  /// A packed copy of a weight saves time in inference, from the second use on. At the first use, it is unknown whether
  /// there will be a second.
  bool keeps_copies() const { return !thread_context().grad.enabled && thread_context().backward.node == nullptr; }
  bool is_first_of_inference() { return keeps_copies() && ++uses_ < 2; }

  bool may_go_on() const {
    const Shared& all = shared();
    return all.budget.allows(tuning_clock(), contest_ ? contest_->expected(all.compiling) : all.compiling);
  }

  /// Writes the problem to the file before it is measured. So the next run finds all problems of this run in the file,
  /// even problems for which there was no time. The next run then makes the same choices from its first call to its
  /// last.
  void note() {
    const double start = tuning_clock();
    is_noted_ = true;
    entry_.variant = entry_.usual = usual_name();
    store();
    shared().budget.spend(start, tuning_clock());
  }

  std::string usual_name() const {
    const std::vector<Contender> first = contenders(table_, problem_.data(), target_of(device_), 1);
    return first.empty() ? std::string() : first.front().name;
  }

  void settle() {
    const Contest::Outcome outcome = contest_->outcome();
    contest_.reset();
    is_settled_ = true;
    if (outcome.seconds <= 0) return;  // Only one variant accepts the problem.
    const auto nanoseconds = [](double seconds) { return std::max<std::int64_t>(1, std::llround(1e9 * seconds)); };
    entry_.variant = outcome.variant;
    entry_.nanoseconds = nanoseconds(outcome.seconds);
    entry_.usual = outcome.usual;
    entry_.usual_nanoseconds = nanoseconds(outcome.usual_seconds);
    runtime::log(runtime::Topic::dispatch, table_.op, ": tuned at first use: ", outcome.variant, ' ',
                 1e3 * outcome.seconds, " ms, ", outcome.usual, " as usual ", 1e3 * outcome.usual_seconds,
                 " ms; all tuning took ", shared().budget.spent(), " s so far");
    store();
  }

  /// Stores the choice, unless another process was faster. Then its choice stays.
  void store() {
    try {
      const TuningEntry stored = store_first(entry_);
      if (stored.nanoseconds == 0) return;
      is_settled_ = true;
      tuning_table().add(stored);
      if (stored.variant != stored.usual) forget_prepared();
    } catch (const Error& error) {
      is_settled_ = true;
      if (shared().can_store.exchange(false))
        runtime::log_line(concat("tuning: nothing is tuned at first use: ", error.what()));
    }
  }

  void give_up(const std::string& reason) {
    is_settled_ = true;
    contest_.reset();
    runtime::log(runtime::Topic::dispatch, table_.op, ": not tuned at first use: ", reason);
  }

  const AnyTable& table_;
  const std::vector<std::byte> problem_;
  runtime::DeviceState& device_;
  TuningEntry entry_;
  std::optional<Contest> contest_;
  int uses_ = 0;
  bool is_noted_ = false;
  std::atomic<bool> is_settled_{false};
};

/// The problems of this process by device and key.
struct Problems {
  std::mutex mutex;
  std::map<std::pair<const runtime::DeviceState*, std::uint64_t>, std::shared_ptr<FirstUse>> of;
};

Problems& problems() {
  static auto& all = *new Problems;  // Never destroyed, because threads may outlive static objects.
  return all;
}

}  // namespace

std::shared_ptr<FirstUse> first_use_of(const AnyTable& table, std::span<const std::byte> problem,
                                       runtime::DeviceState& device) {
  if (tune_mode() == TuneMode::off || table.work.multiply_adds == nullptr) return nullptr;
  if (!is_wanted_on(traits_of(device)) || !shared().can_store || is_trying()) return nullptr;
  if (table.work.multiply_adds(problem.data()) < large_work) return nullptr;
  if (!forced_variants().empty() || tuning_file().empty()) return nullptr;
  const std::uint64_t key = table.key(problem.data()).hash(table.op);
  if (tuning_table().knows(runtime::info_of(device), key)) return nullptr;
  Problems& all = problems();
  const std::lock_guard lock(all.mutex);
  std::shared_ptr<FirstUse>& one = all.of[{&device, key}];
  if (one == nullptr) one = std::make_shared<TunedProblem>(table, problem, device);
  return one;
}

}  // namespace crisol::dispatch
