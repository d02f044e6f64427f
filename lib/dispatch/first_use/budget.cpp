#include "dispatch/first_use/budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace crisol::dispatch {

namespace {

const auto process_start = std::chrono::steady_clock::now();
std::atomic<double (*)()> clock_of_test{nullptr};

}  // namespace

bool TuningBudget::allows(double now, double expected) const noexcept {
  if (spent_ + expected > most_seconds) return false;
  return now + expected <= first_seconds || late_ + expected <= late_share * (now - first_seconds);
}

void TuningBudget::spend(double from, double to) noexcept {
  spent_ += to - from;
  late_ += std::max(0.0, to - std::max(from, first_seconds));
}

double process_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - process_start).count();
}

void set_tuning_clock(double (*clock)()) noexcept { clock_of_test = clock; }

double tuning_clock() noexcept {
  double (*const clock)() = clock_of_test.load(std::memory_order_relaxed);
  return clock == nullptr ? process_seconds() : clock();
}

}  // namespace crisol::dispatch
