#include "draw.h"

namespace mnist {

std::string draw_image(const std::uint8_t* pixels, int rows, int columns) {
  static constexpr char ramp[] = " .:-=+*#%@";
  std::string text;
  std::size_t end = 0;  // The end of the last row with ink.
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

}  // namespace mnist
