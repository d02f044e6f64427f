// What the sample draws in a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mnist {

/// stdout is a terminal that can move its cursor.
bool is_terminal();

/// A grey image as text, two characters a pixel; 0 is background.
std::string draw_image(const std::uint8_t* pixels, int rows, int columns);

/// Progress of one epoch: a bar that is redrawn on a terminal, a line every tenth elsewhere.
class Progress {
 public:
  Progress(int epoch, int epochs, std::int64_t batches);
  /// Whether enough has happened since the last show() to ask the device for the loss, which waits for it.
  bool due(std::int64_t batches_done) const;
  void show(std::int64_t batches_done, std::int64_t images_done, double loss);
  /// Takes the bar away.
  void finish();
  double seconds() const;

 private:
  std::int64_t batches_;
  std::string label_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_, last_shown_;
  std::int64_t last_done_ = 0;
};

}  // namespace mnist
