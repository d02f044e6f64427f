#include <cstdio>

#include "base/system.h"
#include "base/text.h"
#include "crisol/training.h"

namespace crisol::training {

Progress::Progress(std::string label, std::int64_t steps, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      steps_(steps),
      terminal_(system::is_terminal()),
      start_(std::chrono::steady_clock::now()) {
  require(steps >= 0, "Progress", "steps ", steps, " is negative");
}

Progress::~Progress() { finish(); }

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Progress::step(std::int64_t units) {
  ++now_.steps;
  now_.units += units;
  return now_.steps >= next_ || now_.steps == steps_;
}

void Progress::show(const Metrics& metrics) {
  now_.seconds = seconds();
  std::string text;
  for (const auto& [name, value] : metrics) {
    char number[64];
    if (value.dtype() == DType::f32)
      std::snprintf(number, sizeof number, "%.4f", value.as_double());
    else
      std::snprintf(number, sizeof number, "%lld", static_cast<long long>(value.as_int()));
    text += "  " + name + ' ' + number;
  }
  if (now_.steps == 1) {
    first_ = now_;
  } else if (now_.steps > first_.steps && now_.seconds > first_.seconds) {
    const double taken = now_.seconds - first_.seconds;
    char speed[96];
    std::snprintf(speed, sizeof speed, "  %.0f %.20s/s  %.0f s left",
                  static_cast<double>(now_.units - first_.units) / taken, unit_.c_str(),
                  taken * static_cast<double>(steps_ - now_.steps) / static_cast<double>(now_.steps - first_.steps));
    text += speed;
  }
  // The device works later than this thread. So the speed is computed from the steps since the last wait for the
  // device.
  const double rate = static_cast<double>(now_.steps - last_.steps) / (now_.seconds - last_.seconds);
  next_ = terminal_ ? now_.steps + 1 + static_cast<std::int64_t>(0.2 * rate)
                    : ((now_.steps * 10 / steps_ + 1) * steps_ + 9) / 10;
  last_ = now_;
  const double done = static_cast<double>(now_.steps) / static_cast<double>(steps_);
  if (terminal_) {
    constexpr int width = 16;  // With this width, a line with one metric stays below 80 columns.
    const int full = static_cast<int>(done * width);
    std::printf("\r%s [%s%s] %3.0f%%%s\033[K", label_.c_str(), std::string(static_cast<std::size_t>(full), '=').c_str(),
                std::string(static_cast<std::size_t>(width - full), ' ').c_str(), 100 * done, text.c_str());
    drawn_ = true;
  } else if (now_.steps > 1 || steps_ == 1) {
    std::printf("%s  %3.0f%%%s\n", label_.c_str(), 100 * done, text.c_str());
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (!drawn_) return;
  std::printf("\r\033[K");
  std::fflush(stdout);
  drawn_ = false;
}

}  // namespace crisol::training
