#include "reference/images/vision.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "reference/index_loop.h"

namespace crisol::reference {

namespace {

double cubic(double distance, double a) {
  const double t = std::abs(distance);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
}

}  // namespace

std::vector<std::vector<double>> interpolate_weights(std::int64_t size, std::int64_t count, double scale,
                                                     const InterpolateOptions& o) {
  const auto n = static_cast<double>(size);
  std::vector<std::vector<double>> rows;
  for (std::int64_t j = 0; j < count; ++j) {
    std::vector<double> row(static_cast<std::size_t>(size));
    const auto add = [&](double position, double weight) {
      row[static_cast<std::size_t>(std::clamp(position, 0.0, n - 1))] += weight;
    };
    const auto at = static_cast<double>(j);
    double place = (at + 0.5) / scale - 0.5;
    if (o.align_corners) place = count > 1 ? at * (n - 1) / static_cast<double>(count - 1) : 0;
    if (o.mode == InterpolateMode::nearest) {
      add(std::floor(at / scale), 1);
    } else if (o.mode == InterpolateMode::nearest_exact) {
      add(std::floor((at + 0.5) / scale), 1);
    } else if (o.antialias) {
      const double stretch = std::min(scale, 1.0);
      double sum = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        const double t = (static_cast<double>(i) - place) * stretch;
        row[static_cast<std::size_t>(i)] =
            o.mode == InterpolateMode::linear ? std::max(0.0, 1 - std::abs(t)) : cubic(t, -0.5);
        sum += row[static_cast<std::size_t>(i)];
      }
      for (double& weight : row) weight /= sum;
    } else if (o.mode == InterpolateMode::linear) {
      const double inside = std::max(place, 0.0), below = std::floor(inside);
      add(below, 1 - (inside - below));
      add(below + 1, inside - below);
    } else {
      for (double i = std::floor(place) - 1; i < std::floor(place) + 3; ++i) add(i, cubic(place - i, -0.75));
    }
    rows.push_back(row);
  }
  return rows;
}

Values interpolate(const Values& x, const InterpolateOptions& o) {
  Values result = x;
  for (int axis = 2; axis < x.shape.rank(); ++axis) {
    const Values from = result;
    const auto size = static_cast<double>(from.shape[axis]);
    const bool is_one = std::max<std::size_t>(static_cast<std::size_t>(o.size.rank()), o.scale_factor.size()) == 1;
    const int entry = is_one ? 0 : axis - 2;
    const double factor = o.size.empty() ? o.scale_factor[static_cast<std::size_t>(entry)] : 0;
    const std::int64_t count = o.size.empty() ? static_cast<std::int64_t>(size * factor) : o.size[entry];
    const double scale = o.size.empty() ? factor : static_cast<double>(count) / size;
    const auto weights = interpolate_weights(from.shape[axis], count, scale, o);
    result.shape[axis] = count;
    result.values.assign(static_cast<std::size_t>(result.shape.numel()), 0);
    for_each_index(result.shape, [&](const Shape& at) {
      Shape source = at;
      for (source[axis] = 0; source[axis] < from.shape[axis]; ++source[axis])
        result.values[position(at, result.shape)] +=
            weights[static_cast<std::size_t>(at[axis])][static_cast<std::size_t>(source[axis])] *
            from.values[position(source, from.shape)];
    });
  }
  return result;
}

namespace {

/// Moves a position into the input by the rule of the padding mode.
double inside(double x, std::int64_t size, const GridSampleOptions& o) {
  const double low = o.align_corners ? 0 : -0.5, high = static_cast<double>(size) - 1 - low;
  if (o.padding_mode == GridSamplePadding::zeros) return x;
  if (o.padding_mode == GridSamplePadding::reflection) {
    if (low == high) return 0;
    while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  }
  return std::clamp(x, 0.0, static_cast<double>(size - 1));
}

struct Tap {
  std::int64_t at;
  double weight;
};

/// The positions along an axis that a coordinate reads. A position outside reads zero.
std::vector<Tap> taps_of(double coordinate, std::int64_t size, const GridSampleOptions& o) {
  const auto n = static_cast<double>(size);
  const double place = o.align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  std::vector<Tap> taps;
  const auto add = [&](double at, double weight) {
    if (at >= 0 && at < n) taps.push_back({static_cast<std::int64_t>(at), weight});
  };
  if (o.mode == GridSampleMode::nearest) {
    add(std::nearbyint(inside(place, size, o)), 1);
  } else if (o.mode == GridSampleMode::bilinear) {
    const double x = inside(place, size, o);
    add(std::floor(x), 1 - (x - std::floor(x)));
    add(std::floor(x) + 1, x - std::floor(x));
  } else {
    for (double i = std::floor(place) - 1; i < std::floor(place) + 3; ++i)
      add(inside(i, size, o), cubic(place - i, -0.75));
  }
  return taps;
}

Shape sampled_shape(const Shape& x, const Values& grid) {
  Shape shape = x;
  for (int axis = 2; axis < x.rank(); ++axis) shape[axis] = grid.shape[axis - 1];
  return shape;
}

/// Calls visit(index in x, index in y, weight) for every product that sampling sums.
void for_taps(const Shape& x, const Values& grid, const GridSampleOptions& o,
              const std::function<void(const Shape&, const Shape&, double)>& visit) {
  const bool is_volume = x.rank() == 5;
  for_each_index(sampled_shape(x, grid), [&](const Shape& at) {
    const auto coordinate = [&](std::int64_t which) {
      const Shape place = is_volume ? Shape{at[0], at[2], at[3], at[4], which} : Shape{at[0], at[2], at[3], which};
      return grid.values[position(place, grid.shape)];
    };
    const std::vector<Tap> inward = is_volume ? taps_of(coordinate(2), x[2], o) : std::vector<Tap>{{0, 1}};
    for (const Tap& slice : inward)
      for (const Tap& down : taps_of(coordinate(1), x[x.rank() - 2], o))
        for (const Tap& across : taps_of(coordinate(0), x[x.rank() - 1], o))
          visit(is_volume ? Shape{at[0], at[1], slice.at, down.at, across.at} : Shape{at[0], at[1], down.at, across.at},
                at, slice.weight * down.weight * across.weight);
  });
}

}  // namespace

Values grid_sample(const Values& x, const Values& grid, const GridSampleOptions& options) {
  Values y{sampled_shape(x.shape, grid), {}};
  y.values.assign(static_cast<std::size_t>(y.shape.numel()), 0);
  for_taps(x.shape, grid, options, [&](const Shape& from, const Shape& to, double weight) {
    y.values[position(to, y.shape)] += weight * x.values[position(from, x.shape)];
  });
  return y;
}

Values grid_sample_backward(const Values& dy, const Shape& x, const Values& grid, const GridSampleOptions& options) {
  Values dx{x, std::vector<double>(static_cast<std::size_t>(x.numel()))};
  for_taps(x, grid, options, [&](const Shape& from, const Shape& to, double weight) {
    dx.values[position(from, x)] += weight * dy.values[position(to, dy.shape)];
  });
  return dx;
}

Values roi_align(const Values& x, const Values& boxes, const std::vector<std::int64_t>& images,
                 const RoiAlignOptions& o) {
  const double shift = o.aligned ? 0.5 : 0;
  const auto pixel = [&](std::int64_t n, std::int64_t c, double h, double w) {
    const auto place = [](double at, std::int64_t size) {
      return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)));
    };
    return x.values[position({n, c, place(h, x.shape[2]), place(w, x.shape[3])}, x.shape)];
  };
  const auto sample = [&](std::int64_t n, std::int64_t c, double h, double w) {
    if (h < -1 || h > static_cast<double>(x.shape[2]) || w < -1 || w > static_cast<double>(x.shape[3])) return 0.0;
    h = std::clamp(h, 0.0, static_cast<double>(x.shape[2] - 1));
    w = std::clamp(w, 0.0, static_cast<double>(x.shape[3] - 1));
    const double i = std::floor(h), j = std::floor(w), a = h - i, b = w - j;
    return (1 - a) * ((1 - b) * pixel(n, c, i, j) + b * pixel(n, c, i, j + 1)) +
           a * ((1 - b) * pixel(n, c, i + 1, j) + b * pixel(n, c, i + 1, j + 1));
  };
  Values y{{boxes.shape[0], x.shape[1], o.height, o.width}, {}};
  for_each_index(y.shape, [&](const Shape& at) {
    const auto corner = [&](std::int64_t which) {
      return boxes.values[position({at[0], which}, boxes.shape)] * o.spatial_scale - shift;
    };
    const auto extent = [&](std::int64_t low) {
      const double size = corner(low + 2) - corner(low);
      return o.aligned ? size : std::max(size, 1.0);
    };
    const double bin_h = extent(1) / static_cast<double>(o.height), bin_w = extent(0) / static_cast<double>(o.width);
    const auto samples = [&](double bin) {
      return o.sampling_ratio > 0 ? o.sampling_ratio
                                  : std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(bin)), 0);
    };
    const std::int64_t rows = samples(bin_h), columns = samples(bin_w);
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t s = 0; s < columns; ++s)
        sum += sample(images[static_cast<std::size_t>(at[0])], at[1],
                      corner(1) + bin_h * (static_cast<double>(at[2]) +
                                           (static_cast<double>(r) + 0.5) / static_cast<double>(rows)),
                      corner(0) + bin_w * (static_cast<double>(at[3]) +
                                           (static_cast<double>(s) + 0.5) / static_cast<double>(columns)));
    y.values.push_back(sum / static_cast<double>(std::max<std::int64_t>(rows * columns, 1)));
  });
  return y;
}

}  // namespace crisol::reference
