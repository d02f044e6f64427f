// The time that tuning at first use may take.
#pragma once

namespace crisol::dispatch {

/// Times are seconds since the process began. Within the first `first_seconds`, tuning may take all of the time. After
/// that it may take the share `late_share` of the time since then. It never takes more than `most_seconds` in all.
class TuningBudget {
 public:
  static constexpr double first_seconds = 10, late_share = 0.02, most_seconds = 30;

  /// Whether a piece of work that is expected to take `expected` seconds may begin now.
  bool allows(double now, double expected) const noexcept;
  void spend(double from, double to) noexcept;
  double spent() const noexcept { return spent_; }

 private:
  double spent_ = 0;
  double late_ = 0;  ///< The part of the used time that was after `first_seconds`.
};

/// Seconds since the library was loaded.
double process_seconds() noexcept;

/// For tests: replaces process_seconds() by `clock`. nullptr ends this.
void set_tuning_clock(double (*clock)()) noexcept;
/// The current time for budgets.
double tuning_clock() noexcept;

}  // namespace crisol::dispatch
