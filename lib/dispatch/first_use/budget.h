// The time that tuning at first use may take.
#pragma once

namespace crisol::dispatch {

/// Times are seconds since the process began. In the process' first `first_seconds` tuning may take any part of the
/// time, afterwards `late_share` of the time that has passed since then. In all it may take `most_seconds`.
class TuningBudget {
 public:
  static constexpr double first_seconds = 10, late_share = 0.02, most_seconds = 30;

  /// Whether work that is expected to take so long may begin now.
  bool allows(double now, double expected) const noexcept;
  void spend(double from, double to) noexcept;
  double spent() const noexcept { return spent_; }

 private:
  double spent_ = 0;
  double late_ = 0;  ///< The part of it after `first_seconds`.
};

/// Seconds since the library was loaded.
double process_seconds() noexcept;

/// For tests: gives the time in place of process_seconds(). nullptr ends it.
void set_tuning_clock(double (*clock)()) noexcept;
/// The time that budgets get.
double tuning_clock() noexcept;

}  // namespace crisol::dispatch
