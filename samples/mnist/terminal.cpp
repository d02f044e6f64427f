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
  for (int r = 0; r < rows; ++r) {
    std::string line;
    for (int c = 0; c < columns; ++c) line.append(2, ramp[pixels[r * columns + c] * 9 / 255]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

Progress::Progress(int epoch, int epochs, std::int64_t batches)
    : batches_(batches),
      label_("epoch " + std::to_string(epoch) + "/" + std::to_string(epochs)),
      terminal_(is_terminal()),
      start_(std::chrono::steady_clock::now()),
      last_shown_(start_) {}

bool Progress::due(std::int64_t batches_done) const {
  if (batches_done == batches_) return true;
  if (!terminal_) return batches_done * 10 / batches_ > last_done_ * 10 / batches_;
  return std::chrono::steady_clock::now() - last_shown_ > std::chrono::milliseconds(200);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(std::int64_t batches_done, std::int64_t images_done, double loss) {
  last_shown_ = std::chrono::steady_clock::now();
  last_done_ = batches_done;
  const double done = static_cast<double>(batches_done) / static_cast<double>(batches_);
  const double rate = static_cast<double>(images_done) / seconds();
  const double left = seconds() * (1 - done) / done;
  if (terminal_) {
    constexpr int width = 30;
    const int full = static_cast<int>(done * width);
    std::printf("\r%s [%s%s] %3.0f%%  loss %.4f  %.0f images/s  %.0f s left\033[K", label_.c_str(),
                std::string(static_cast<std::size_t>(full), '=').c_str(),
                std::string(static_cast<std::size_t>(width - full), ' ').c_str(), 100 * done, loss, rate, left);
  } else {
    std::printf("%s  %3.0f%%  loss %.4f  %.0f images/s  %.0f s left\n", label_.c_str(), 100 * done, loss, rate, left);
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_) std::printf("\r\033[K");
  std::fflush(stdout);
}

}  // namespace mnist
