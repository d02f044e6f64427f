// What the samples share: how a training reports itself, and where its results go.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace samples {

/// Progress of some steps of a training: a bar that is redrawn five times a second on a terminal, a line every tenth
/// elsewhere.
class Progress {
 public:
  /// `label` begins the line, `unit` names what is counted per second.
  Progress(std::string label, std::string unit, std::int64_t steps);
  /// Whether enough has happened since the last show() to ask the device for the loss, which waits for it.
  bool due(std::int64_t steps_done) const { return steps_done >= next_ || steps_done == steps_; }
  void show(std::int64_t steps_done, std::int64_t units_done, double loss);
  /// Takes the bar away.
  void finish();
  double seconds() const;

 private:
  struct Mark {
    std::int64_t steps = 0, units = 0;
    double seconds = 0;
  };

  std::string label_, unit_;
  std::int64_t steps_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  Mark first_, last_;  ///< The first step may compile: speeds are counted from its end.
  std::int64_t next_ = 1;
};

/// Throws std::runtime_error when a result could not be written there: better before the training than after it. An
/// empty path is no result. `replaced_by_rename`: the file will be written under another name and renamed.
void check_output(const std::string& path, bool replaced_by_rename);

}  // namespace samples
