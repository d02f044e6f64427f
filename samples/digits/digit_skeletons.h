// Centre lines of the ten digits in several writing styles.
#pragma once

#include <vector>

namespace samples {

/// A control point in units of the digit's height, y downwards. A stroke is a smooth curve through its points, broken
/// where `corner` is set.
struct ControlPoint {
  float x, y;
  bool corner = false;
};

using Stroke = std::vector<ControlPoint>;

/// One way of writing a digit; `weight` is how often it is drawn, relative to the other styles of that digit.
struct DigitStyle {
  float weight;
  std::vector<Stroke> strokes;
};

/// The styles of a digit from 0 to 9, never empty.
const std::vector<DigitStyle>& digit_styles(int digit);

}  // namespace samples
