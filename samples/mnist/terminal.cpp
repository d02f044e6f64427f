#include "terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mnist {

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

std::string draw_image(const std::uint8_t* pixels, int rows, int columns) {
  static constexpr char ramp[] = " .:-=+*#%@";
  std::string text;
  std::size_t end = 0;  // Of the last row with ink.
  for (int r = 0; r < rows; ++r) {
    std::string line;
    for (int c = 0; c < columns; ++c) line.append(2, ramp[pixels[r * columns + c] * 9 / 255]);
    line.resize(line.find_last_not_of(' ') + 1);
    if (line.empty() && text.empty()) continue;
    text += line + '\n';
    if (!line.empty()) end = text.size();
  }
  text.resize(end);
  return text;
}

Progress::Progress(int epoch, int epochs, std::int64_t batches)
    : batches_(batches),
      label_("epoch " + std::to_string(epoch) + "/" + std::to_string(epochs)),
      terminal_(is_terminal()),
      start_(std::chrono::steady_clock::now()) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(std::int64_t batches_done, std::int64_t images_done, double loss) {
  const Mark now{batches_done, images_done, seconds()};
  std::string speed;
  if (batches_done == 1) {
    first_ = now;
  } else {
    const double taken = now.seconds - first_.seconds;
    char text[64];
    std::snprintf(
        text, sizeof text, "  %.0f images/s  %.0f s left", static_cast<double>(now.images - first_.images) / taken,
        taken * static_cast<double>(batches_ - now.batches) / static_cast<double>(now.batches - first_.batches));
    speed = text;
  }
  // The device works behind this thread, so only the steps since the last time that it was waited for tell its speed.
  const double rate = static_cast<double>(now.batches - last_.batches) / (now.seconds - last_.seconds);
  next_ = terminal_ ? batches_done + 1 + static_cast<std::int64_t>(0.2 * rate)
                    : ((batches_done * 10 / batches_ + 1) * batches_ + 9) / 10;
  last_ = now;
  const double done = static_cast<double>(batches_done) / static_cast<double>(batches_);
  if (terminal_) {
    constexpr int width = 16;  // All of the line stays below 80 columns.
    const int full = static_cast<int>(done * width);
    std::printf("\r%s [%s%s] %3.0f%%  loss %.4f%s\033[K", label_.c_str(),
                std::string(static_cast<std::size_t>(full), '=').c_str(),
                std::string(static_cast<std::size_t>(width - full), ' ').c_str(), 100 * done, loss, speed.c_str());
  } else if (batches_done > 1 || batches_ == 1) {
    std::printf("%s  %3.0f%%  loss %.4f%s\n", label_.c_str(), 100 * done, loss, speed.c_str());
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_) std::printf("\r\033[K");
  std::fflush(stdout);
}

}  // namespace mnist
