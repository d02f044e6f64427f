// What the sample draws in a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mnist {

/// stdout is a terminal that can move its cursor.
bool is_terminal();

/// A grey image as text, two characters a pixel, without blank rows above and below; 0 is background.
std::string draw_image(const std::uint8_t* pixels, int rows, int columns);

/// Progress of one epoch: a bar that is redrawn five times a second on a terminal, a line every tenth elsewhere.
class Progress {
 public:
  Progress(int epoch, int epochs, std::int64_t batches);
  /// Whether enough has happened since the last show() to ask the device for the loss, which waits for it.
  bool due(std::int64_t batches_done) const { return batches_done >= next_ || batches_done == batches_; }
  void show(std::int64_t batches_done, std::int64_t images_done, double loss);
  /// Takes the bar away.
  void finish();
  double seconds() const;

 private:
  struct Mark {
    std::int64_t batches = 0, images = 0;
    double seconds = 0;
  };

  std::int64_t batches_;
  std::string label_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  Mark first_, last_;  ///< The first step may compile: speeds are counted from its end.
  std::int64_t next_ = 1;
};

}  // namespace mnist
