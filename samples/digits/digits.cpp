#include "digits/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "digits/digit_raster.h"
#include "digits/digit_skeletons.h"
#include "digits/host_random.h"

namespace samples {
namespace {

// The random streams of one seed: images use the even indices, the orders of labels the odd indices.
std::uint64_t image_stream(std::int64_t index) { return 2 * static_cast<std::uint64_t>(index); }
std::uint64_t label_stream(std::int64_t decade) { return 2 * static_cast<std::uint64_t>(decade) + 1; }

int label_of(std::uint64_t seed, std::int64_t index) {
  HostRandom random(seed, label_stream(index / 10));
  std::array<int, 10> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (std::size_t i = 9; i > 0; --i)
    std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<int>(i) + 1))]);
  return order[static_cast<std::size_t>(index % 10)];
}

// Draws a style by weight among the styles with this number of strokes; 0 means any number.
const DigitStyle& pick_style(int digit, std::size_t strokes, HostRandom& random) {
  const std::vector<DigitStyle>& styles = digit_styles(digit);
  const auto fits = [strokes](const DigitStyle& style) { return strokes == 0 || style.strokes.size() == strokes; };
  float total = 0;
  for (const DigitStyle& style : styles)
    if (fits(style)) total += style.weight;
  float left = random.uniform(0, total);
  const DigitStyle* picked = nullptr;
  for (const DigitStyle& style : styles) {
    if (!fits(style)) continue;
    picked = &style;
    left -= style.weight;
    if (left < 0) break;
  }
  return *picked;
}

// A Catmull-Rom curve through points[first..last]. Reflection extends both ends.
void append_curve(PenPath& path, const Stroke& points, int first, int last) {
  constexpr int steps = 8;
  const auto at = [&](int i) -> ControlPoint {
    if (i >= first && i <= last) return points[static_cast<std::size_t>(i)];
    const ControlPoint& end = points[static_cast<std::size_t>(i < first ? first : last)];
    const ControlPoint& next = points[static_cast<std::size_t>(i < first ? first + 1 : last - 1)];
    return {2 * end.x - next.x, 2 * end.y - next.y};
  };
  const auto blend = [](float a, float b, float c, float d, float t) {
    return 0.5f * (2 * b + t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))));
  };
  for (int i = first; i < last; ++i) {
    const ControlPoint a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    for (int s = i == first ? 0 : 1; s <= steps; ++s) {
      const float t = static_cast<float>(s) / steps;
      path.push_back({blend(a.x, b.x, c.x, d.x, t), blend(a.y, b.y, c.y, d.y, t), 1.0f});
    }
  }
}

PenPath trace(const Stroke& points) {
  PenPath path;
  const int last = static_cast<int>(points.size()) - 1;
  for (int first = 0; first < last;) {
    int end = first + 1;
    while (end < last && !points[static_cast<std::size_t>(end)].corner) ++end;
    append_curve(path, points, first, end);
    first = end;
  }
  return path;
}

// Every path gets the same number of points, at equal distances along it.
PenPath resample(const PenPath& path) {
  constexpr int count = 56;
  std::vector<float> reached{0};
  for (std::size_t i = 1; i < path.size(); ++i) {
    const float dx = path[i].x - path[i - 1].x, dy = path[i].y - path[i - 1].y;
    reached.push_back(reached.back() + std::sqrt(dx * dx + dy * dy));
  }
  PenPath even;
  for (std::size_t i = 0, at = 1; i < count; ++i) {
    const float distance = reached.back() * static_cast<float>(i) / (count - 1);
    while (at + 1 < path.size() && reached[at] < distance) ++at;
    const float t = (distance - reached[at - 1]) / std::max(reached[at] - reached[at - 1], 1e-6f);
    const PenPoint &a = path[at - 1], &b = path[at];
    even.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), 1.0f});
  }
  return even;
}

Stroke shaken(Stroke stroke, float jitter, HostRandom& random) {
  for (ControlPoint& point : stroke) {
    // The ends of a stroke vary more, so that strokes end before they meet or cross each other.
    const bool end = &point == &stroke.front() || &point == &stroke.back();
    const float spread = end ? 1.5f * jitter : jitter;
    point.x += spread * random.normal();
    point.y += spread * random.normal();
  }
  return stroke;
}

// A smooth random field on the unit square: quadratic B-splines over a grid of normals.
class SmoothField {
 public:
  SmoothField(HostRandom& random, float amplitude) {
    for (float& value : knots_) value = amplitude * random.normal();
  }

  float operator()(float x, float y) const noexcept {
    const Taps u = taps(x), v = taps(y);
    float sum = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        sum += v.weight[j] * u.weight[i] * knots_[static_cast<std::size_t>((v.first + j) * side + u.first + i)];
    return sum;
  }

 private:
  static constexpr int side = 6;
  struct Taps {
    int first;
    float weight[3];
  };

  static Taps taps(float position) noexcept {
    const float scaled = std::clamp(position, 0.0f, 0.9999f) * (side - 2);
    const int first = static_cast<int>(scaled);
    const float t = scaled - static_cast<float>(first);
    return {first, {0.5f * (1 - t) * (1 - t), 0.5f + t * (1 - t), 0.5f * t * t}};
  }

  std::array<float, side * side> knots_;
};

// The shape of one writer's digits: proportions, slant and rotation.
class Hand {
 public:
  explicit Hand(HostRandom& random) {
    middle_ = std::clamp(0.2f * random.normal(), -0.5f, 0.5f);
    taper_ = std::clamp(0.35f * random.normal(), -0.9f, 0.9f);
    bow_ = std::clamp(0.25f * random.normal(), -0.7f, 0.7f);
    const float width = random.chance(0.5f) ? random.uniform(0.65f, 1.0f) : random.uniform(1.0f, 1.6f);
    const float slant = std::clamp(0.1f + 0.28f * random.normal(), -0.6f, 0.9f);
    // The tangent of half the angle gives sine and cosine without a function of libm.
    const float half = std::clamp(0.06f * random.normal(), -0.2f, 0.2f);
    const float norm = 1 / (1 + half * half);
    const float cosine = (1 - half * half) * norm, sine = 2 * half * norm;
    xx_ = cosine * width;
    xy_ = -cosine * slant - sine;
    yx_ = sine * width;
    yy_ = cosine - sine * slant;
  }

  // First shifts the middle up or down, makes the top or the bottom wider, and bends the axis. Then applies width,
  // slant and rotation.
  void place(float x, float y, PenPoint& p) const noexcept {
    const float arch = y * (1 - y);
    const float u = (x - 0.35f) * (1 + taper_ * (y - 0.5f)) + bow_ * arch;
    const float v = y + middle_ * arch;
    p.x = xx_ * u + xy_ * v;
    p.y = yx_ * u + yy_ * v;
  }

 private:
  float middle_, taper_, bow_;
  float xx_, xy_, yx_, yy_;
};

// Draws a blend of two styles with the same number of strokes, so that there are more shapes than styles.
std::vector<PenPath> write_digit(int digit, HostRandom& random) {
  // Each statement makes at most one draw, because C++ does not specify the order of draws within an expression.
  const DigitStyle& style = pick_style(digit, 0, random);
  const DigitStyle& other = pick_style(digit, style.strokes.size(), random);
  const float blend = random.uniform(-0.3f, 0.5f);
  const float jitter = random.uniform(0.005f, 0.04f);
  const float elastic = random.uniform(0, 0.09f);
  const SmoothField x_field(random, elastic), y_field(random, elastic), pressure(random, random.uniform(0, 0.25f));
  const Hand hand(random);
  std::vector<PenPath> paths;
  for (std::size_t i = 0; i < style.strokes.size(); ++i) {
    PenPath path = resample(trace(shaken(style.strokes[i], jitter, random)));
    const PenPath towards = resample(trace(shaken(other.strokes[i], jitter, random)));
    for (std::size_t k = 0; k < path.size(); ++k) {
      PenPoint& p = path[k];
      p.x += blend * (towards[k].x - p.x);
      p.y += blend * (towards[k].y - p.y);
      p.width = std::clamp(1 + pressure(p.x, p.y), 0.5f, 1.5f);
      hand.place(p.x + x_field(p.x, p.y), p.y + y_field(p.x, p.y), p);
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

void render_one(int digit, std::uint64_t seed, std::int64_t index, std::uint8_t* image) {
  HostRandom random(seed, image_stream(index));
  const std::vector<PenPath> paths = write_digit(digit, random);
  Pen pen;
  pen.radius = random.uniform(0.65f, 0.95f);
  const float broadest = random.chance(0.15f) ? 1.3f : 0.75f;
  pen.radius += random.uniform(0, broadest);
  pen.softness = random.uniform(0.3f, 1.4f);
  pen.ink = random.uniform(1.05f, 1.6f);
  pen.roughness = random.uniform(0, 0.3f);
  draw_digit(paths, pen, random, image);
}

}  // namespace

crisol::io::ImageSet render_digits(std::int64_t count, std::uint64_t seed) {
  constexpr std::int64_t image_bytes = digit_image_side * digit_image_side;
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / image_bytes)
    throw std::invalid_argument("render_digits: count must be 0 or more, and leave room for " +
                                std::to_string(image_bytes) + " bytes an image: " + std::to_string(count));
  crisol::io::ImageSet set;
  set.rows = set.columns = digit_image_side;
  set.pixels.resize(static_cast<std::size_t>(count * image_bytes));
  set.labels.resize(static_cast<std::size_t>(count));
  const auto render_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const int digit = label_of(seed, i);
      set.labels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(digit);
      render_one(digit, seed, i, set.pixels.data() + i * image_bytes);
    }
  };
  // Threads pay off from a few hundred images on.
  const std::int64_t workers =
      std::clamp<std::int64_t>(count / 256, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> running;
  for (std::int64_t w = 1; w < workers; ++w)
    running.push_back(std::async(std::launch::async, render_range, count * w / workers, count * (w + 1) / workers));
  render_range(0, count / workers);
  for (std::future<void>& worker : running) worker.get();
  return set;
}

}  // namespace samples
