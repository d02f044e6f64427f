// Shared by the samples: progress of a training, and a check of where its results go.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace samples {

/// Progress of a number of training steps. On a terminal: a bar, redrawn five times a second. Elsewhere: a line after
/// every tenth of the steps.
class Progress {
 public:
  /// The line starts with `label`; `unit` names what is counted per second.
  Progress(std::string label, std::string unit, std::int64_t steps);
  /// Whether show() is due. Before show() the caller asks the device for the loss, and this waits for the device.
  bool due(std::int64_t steps_done) const { return steps_done >= next_ || steps_done == steps_; }
  void show(std::int64_t steps_done, std::int64_t units_done, double loss);
  /// Removes the bar.
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
  Mark first_, last_;  ///< The first step may include compiling, so speeds are counted from its end.
  std::int64_t next_ = 1;
};

/// Throws std::runtime_error when a result cannot be written to `path`. Called before a training, so that no finished
/// training is lost. An empty path means no result. `replaced_by_rename`: the file will be written under another name
/// and renamed.
void check_output(const std::string& path, bool replaced_by_rename);

}  // namespace samples
