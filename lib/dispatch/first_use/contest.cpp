#include "dispatch/first_use/contest.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <new>

#include "base/text.h"
#include "dispatch/first_use/rounds.h"
#include "runtime/memory/transfer.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

constexpr std::size_t most_contenders = 4;
constexpr double sample_seconds = 3e-3;
constexpr int most_runs = 32;
// A variant that is this many times slower than the fastest one is no longer timed.
constexpr double hopeless = 1.5;
// Kernels read vectors of up to 16 floats.
constexpr std::uint64_t aligned_elements = 16;

double seconds_of(const Prepared& prepared, runtime::DeviceState& device, int runs, const ScratchOperands& operands,
                  std::span<const runtime::KernelArg> scalars) {
  operands.renew();
  runtime::finish(device);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) launch(prepared, operands.views(), scalars);
  runtime::finish(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
}

int runs_of(double seconds) {
  return seconds <= 0 ? most_runs : std::clamp(static_cast<int>(sample_seconds / seconds), 1, most_runs);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

/// Keeps packed copies while the scratch operands live.
struct ScratchOperands::Keeper final : DerivedOwner {
  std::vector<std::pair<DerivedKey, std::shared_ptr<void>>> kept;

  Found find_derived(const DerivedKey& key, std::uint64_t) override {
    for (const auto& [known, data] : kept)
      if (known == key) return {data, true};
    return {nullptr, true};
  }
  std::shared_ptr<void> keep_derived(const DerivedKey& key, std::uint64_t, std::shared_ptr<void> data) override {
    kept.emplace_back(key, data);
    return data;
  }
};

ScratchOperands::ScratchOperands(runtime::DeviceState& device, std::span<const OperandView> operands,
                                 std::uint32_t written, bool keeps_copies) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const OperandView& operand = operands[i];
    if ((written >> i & 1) != 0 && operand.view.block != nullptr) {
      views_.emplace_back(copied(device, operand.view));
    } else if (operand.owner != nullptr && keeps_copies) {
      views_.emplace_back(operand.view, keepers_.emplace_back(std::make_unique<Keeper>()).get(), operand.version);
    } else {
      views_.emplace_back(operand.view);
    }
  }
}

ScratchOperands::~ScratchOperands() = default;

// Copies all elements up to the end of the block, because a view does not say how many elements it has.
runtime::BufferView ScratchOperands::copied(runtime::DeviceState& device, const runtime::BufferView& view) {
  const std::uint64_t first = sizeof(float) * view.offset, inset = view.offset % aligned_elements;
  for (const Copy& copy : copies_)
    if (copy.from == view.block && copy.first == first) return {copy.to.get(), inset};
  const std::uint64_t bytes = view.block->bytes() - first, at = sizeof(float) * inset;
  copies_.push_back({view.block, first, bytes, runtime::allocate(device, bytes + at), at});
  return {copies_.back().to.get(), inset};
}

void ScratchOperands::renew() const {
  for (const Copy& copy : copies_) runtime::copy(*copy.from, copy.first, *copy.to, copy.at, copy.bytes);
}

Contest::Contest(const AnyTable& table, std::vector<std::byte> problem, runtime::DeviceState& device)
    : table_(table), problem_(std::move(problem)), device_(device) {
  for (Contender& contender : contenders(table_, problem_.data(), target_of(device_), most_contenders))
    runners_.push_back({std::move(contender)});
  is_over_ = runners_.size() < 2;
}

int Contest::rounds() const noexcept {
  constexpr double long_run = 0.02;
  return runners_.front().seconds > long_run ? 3 : 5;
}

double Contest::expected(double compiling) const {
  double expected = 0;
  if (compiles()) {
    // The first run compiles, and a second run follows.
    expected = compiling + 2 * (next_ == 0 ? 0 : hopeless * runners_.front().seconds);
  } else {
    for (const Runner& runner : runners_)
      expected += rounds() * runner.seconds * (1 + runs_of(runner.seconds));  // One more run a round, for the copies.
  }
  return expected;
}

void Contest::enter(Runner& runner, const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars) {
  if (&runner != &runners_.front() && is_wrong(table_, problem_.data(), target_of(device_), runner.contender))
    throw Error(ErrorCode::device_failure, "it computes wrong numbers on this driver");
  runner.prepared = prepare(std::move(runner.contender.plan), device_);
  seconds_of(*runner.prepared, device_, 1, operands, scalars);
  runner.seconds = seconds_of(*runner.prepared, device_, 1, operands, scalars);
}

void Contest::drop_slow() {
  double fastest = HUGE_VAL;
  for (const Runner& runner : runners_) fastest = std::min(fastest, runner.seconds);
  const auto slow = std::remove_if(runners_.begin() + 1, runners_.end(),
                                   [&](const Runner& runner) { return runner.seconds > hopeless * fastest; });
  runners_.erase(slow, runners_.end());
  next_ = runners_.size();
  is_over_ = runners_.size() < 2;
}

void Contest::compare(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars) {
  const int count = rounds();
  for (int round = 0; round < count; ++round)
    for (Runner& runner : runners_)
      runner.rounds.push_back(seconds_of(*runner.prepared, device_, runs_of(runner.seconds), operands, scalars));
  for (Runner& runner : runners_) runner.seconds = median_of(runner.rounds);
  const Runner& usual = runners_.front();
  for (std::size_t i = 1; i < runners_.size(); ++i) {
    const Runner& runner = runners_[i];
    const bool is_better = replaces_usual(runner.rounds, runner.seconds, usual.rounds, usual.seconds);
    if (is_better && runner.seconds < runners_[winner_].seconds) winner_ = i;
  }
  is_over_ = true;
}

void Contest::step(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars) {
  assert(!is_over_);
  if (!compiles()) return compare(operands, scalars);
  std::string fault;
  try {
    enter(runners_[next_], operands, scalars);
  } catch (const Error& error) {
    fault = error.what();
  } catch (const std::bad_alloc&) {
    fault = "there is no memory";
  }
  if (fault.empty()) {
    ++next_;
  } else if (next_ == 0) {
    is_over_ = true;  // The op itself will report the error.
    return;
  } else {
    runtime::log_line(concat("tuning: ", table_.op, " by ", runners_[next_].contender.name,
                             " is left out: ", fault.substr(0, fault.find('\n'))));
    runners_.erase(runners_.begin() + static_cast<std::ptrdiff_t>(next_));
  }
  if (!compiles()) drop_slow();
}

Contest::Outcome Contest::outcome() const {
  const Runner &best = runners_[winner_], &usual = runners_.front();
  return {best.contender.name, usual.contender.name, best.seconds, usual.seconds};
}

}  // namespace crisol::dispatch
