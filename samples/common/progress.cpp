#include "common/progress.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/system.h"

namespace samples {

Progress::Progress(std::string label, std::string unit, std::int64_t steps)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      steps_(steps),
      terminal_(is_terminal()),
      start_(std::chrono::steady_clock::now()) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(std::int64_t steps_done, std::int64_t units_done, double loss) {
  const Mark now{steps_done, units_done, seconds()};
  std::string speed;
  if (steps_done == 1) {
    first_ = now;
  } else {
    const double taken = now.seconds - first_.seconds;
    char text[96];
    std::snprintf(text, sizeof text, "  %.0f %.20s/s  %.0f s left",
                  static_cast<double>(now.units - first_.units) / taken, unit_.c_str(),
                  taken * static_cast<double>(steps_ - now.steps) / static_cast<double>(now.steps - first_.steps));
    speed = text;
  }
  // The device works behind this thread. So only the steps since the last wait for the device tell its speed.
  const double rate = static_cast<double>(now.steps - last_.steps) / (now.seconds - last_.seconds);
  next_ = terminal_ ? steps_done + 1 + static_cast<std::int64_t>(0.2 * rate)
                    : ((steps_done * 10 / steps_ + 1) * steps_ + 9) / 10;
  last_ = now;
  const double done = static_cast<double>(steps_done) / static_cast<double>(steps_);
  if (terminal_) {
    constexpr int width = 16;  // The whole line stays below 80 columns.
    const int full = static_cast<int>(done * width);
    std::printf("\r%s [%s%s] %3.0f%%  loss %.4f%s\033[K", label_.c_str(),
                std::string(static_cast<std::size_t>(full), '=').c_str(),
                std::string(static_cast<std::size_t>(width - full), ' ').c_str(), 100 * done, loss, speed.c_str());
  } else if (steps_done > 1 || steps_ == 1) {
    std::printf("%s  %3.0f%%  loss %.4f%s\n", label_.c_str(), 100 * done, loss, speed.c_str());
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_) std::printf("\r\033[K");
  std::fflush(stdout);
}

void check_output(const std::string& path, bool replaced_by_rename) {
  if (path.empty()) return;
  const auto refuse = [&](const char* why) { throw std::runtime_error("cannot write " + path + ": " + why); };
  const bool exists = std::filesystem::exists(path);
  if (std::filesystem::is_directory(path)) refuse("it is a folder");
  if (exists && !may_write(path)) refuse(std::strerror(errno));
  if (exists && !replaced_by_rename) return;
  const std::string probe = path + ".probe";
  if (!std::ofstream(probe)) refuse(std::strerror(errno));
  std::filesystem::remove(probe);
}

}  // namespace samples
