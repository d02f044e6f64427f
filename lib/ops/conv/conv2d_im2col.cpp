// Convolution as matrix products over explicit matrices of patches, for devices whose fast product takes plain
// matrices. The workspace is limited, so the patches are made for as many images at a time as fit into it.
#include <algorithm>
#include <cstring>
#include <optional>

#include "dispatch/work_split.h"
#include "ops/conv/conv2d_variants.h"

namespace crisol::ops {

namespace {

using kernels::number;

constexpr std::int64_t max_elements = std::int64_t{1} << 30;  // The kernels count elements in 32 bits.

std::int64_t images_at_once(const Conv2dSizes& s, const Target& target) {
  const std::int64_t image = std::max({std::int64_t{1}, s.depth() * s.pixels(),
                                       s.group_channels() * s.plane() * conv2d_workspace_floats / max_elements});
  const std::int64_t floats = target.bytes_at_once(4 * conv2d_workspace_floats) / 4;
  return std::clamp<std::int64_t>(floats / image, 1, std::max<std::int64_t>(1, s.images));
}

const char* check_sizes(const Conv2dSizes& s, const Target& target) {
  if (static_cast<std::uint64_t>(s.depth() * s.pixels()) > target.info.max_allocation / 4)
    return "the patches of one image are larger than the device's largest buffer";
  if (s.depth() == 0) return "there are no patches";
  const std::int64_t rows = s.height + 2 * s.pad_h + s.kernel_h * s.dilation_h;
  const std::int64_t columns = s.width + 2 * s.pad_w + s.kernel_w * s.dilation_w;
  if (std::max({s.depth() * s.pixels(), s.group_channels() * s.plane(), rows, columns}) > max_elements)
    return "one image is too large for the kernel's indices";
  return nullptr;
}

/// The images of one group that are convolved at a time.
struct ImagePiece {
  std::int64_t first, images, group;
};

/// Makes a plan that computes patches and multiplies them, piece by piece.
class Im2colPlanner {
 public:
  Im2colPlanner(const Conv2dProblem& problem, const Target& target)
      : p_(problem),
        s_(problem.sizes),
        target_(target),
        at_once_(images_at_once(s_, target)),
        columns_(plan_.workspace(4 * static_cast<std::uint64_t>(at_once_ * s_.depth() * s_.pixels()))) {}

  const Place& columns() const noexcept { return columns_; }
  Place workspace(std::int64_t floats) { return plan_.workspace(4 * static_cast<std::uint64_t>(floats)); }
  Plan take() { return std::move(plan_); }

  template <class Run>
  void for_pieces(Run&& run) const {
    for (std::int64_t first = 0; first < s_.images; first += at_once_)
      for (std::int64_t group = 0; group < s_.groups; ++group)
        run(ImagePiece{first, std::min(at_once_, s_.images - first), group});
  }

  /// The place of a piece's images in x or dx.
  Place images_in(const Place& x, const ImagePiece& piece) const {
    return x.offset_by((piece.first * s_.channels + piece.group * s_.group_channels()) * s_.plane());
  }

  /// Adds the launch that makes the patch matrices of images of x.
  void add_im2col(std::int64_t images, const Place& x, std::int64_t image_stride, std::int64_t row_stride) {
    add_im2col(images * s_.depth() * s_.pixels(), x, columns_, columns_of(images, image_stride, row_stride),
               s_.kernel_window());
  }

  /// Adds the launch that adds up the matrices of images to dx.
  void add_col2im(std::int64_t images, const Place& dx, std::int64_t image_stride, std::int64_t row_stride) {
    const std::int64_t count = images * s_.group_channels() * s_.plane();
    plan_.add({"conv/conv2d_im2col.cl", "col2im"}, target_.flat_range(count), columns_, dx,
              static_cast<std::uint32_t>(count), columns_of(images, image_stride, row_stride), s_.kernel_window());
  }

  /// Adds the launch that copies dy, so that the pixels of all images follow one another in each output channel. It is
  /// im2col with a kernel of 1 x 1.
  void add_by_output(const Place& dy, const Place& to) {
    const std::int64_t step = std::max<std::int64_t>(1, max_elements / s_.output_image());
    for (std::int64_t first = 0; first < s_.images; first += step) {
      const std::int64_t images = std::min(step, s_.images - first);
      add_im2col(images * s_.output_image(), dy.offset_by(first * s_.output_image()), to.offset_by(first * s_.pixels()),
                 {.x_image = s_.output_image(),
                  .image = s_.pixels(),
                  .row = s_.images * s_.pixels(),
                  .channels = number(s_.outputs),
                  .height = number(s_.out_h),
                  .width = number(s_.out_w),
                  .out_h = number(s_.out_h),
                  .out_w = number(s_.out_w),
                  .images = number(images)},
                 {1, 1, 1, 1, 0, 0, 1, 1});
    }
  }

  /// Adds a product whose operands begin at these places.
  void add_product(GemmProblem problem, const Place& a, const Place& b, const Place& c, const Place& bias) {
    problem.a.offset = offset_of(a);
    problem.b.offset = offset_of(b);
    problem.c.offset = offset_of(c);
    // Most pieces have the same product, whose plan is used again.
    if (!product_ || std::memcmp(&problem, &problem_, sizeof problem) != 0) {
      product_ = choose_gemm(problem, target_);
      problem_ = problem;
    }
    plan_.append_sharing(product_->plan, std::array{a, b, c, bias, a, a});
  }

 private:
  kernels::ColumnsParameters columns_of(std::int64_t images, std::int64_t image_stride, std::int64_t row_stride) const {
    return {.x_image = s_.input_image(),
            .image = image_stride,
            .row = row_stride,
            .channels = number(s_.group_channels()),
            .height = number(s_.height),
            .width = number(s_.width),
            .out_h = number(s_.out_h),
            .out_w = number(s_.out_w),
            .images = number(images)};
  }

  void add_im2col(std::int64_t count, const Place& x, const Place& to, const kernels::ColumnsParameters& columns,
                  const kernels::ConvWindow& window) {
    const std::int64_t iterations = columns.out_w + 1;
    const bool by_rows = target_.takes_cpu_kernels() && iterations <= target_.loop_budget;
    const std::int64_t units = by_rows ? count / columns.out_w : count;
    plan_.add({"conv/conv2d_im2col.cl", by_rows ? "im2col_rows" : "im2col"},
              by_rows ? persistent_range(target_, units, iterations) : target_.flat_range(units), x, to,
              static_cast<std::uint32_t>(units), columns, window);
  }

  // The position of a place's first element, modulo 4.
  std::int64_t offset_of(const Place& place) const {
    return (place.offset + (place.kind == Place::Kind::operand ? p_.offsets[place.index] : 0)) % 4;
  }

  const Conv2dProblem& p_;
  const Conv2dSizes& s_;
  const Target& target_;
  const std::int64_t at_once_;
  Plan plan_;
  const Place columns_;
  GemmProblem problem_{};
  std::optional<dispatch::Choice> product_;
};

}  // namespace

PlanOr plan_im2col(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [x, weight, y] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_sizes(s, target)) return reason;
  const std::int64_t m = s.group_outputs(), n = s.pixels(), k = s.depth();
  Im2colPlanner planner(p, target);
  planner.for_pieces([&, x = x, weight = weight, y = y](const ImagePiece& piece) {
    const Place a = weight.offset_by(piece.group * m * k);
    planner.add_im2col(piece.images, planner.images_in(x, piece), k * n, n);
    GemmProblem product = inner_product(p, m, n, k, piece.images);
    product.a = {k, 1};
    product.b = {n, 1, k * n};
    product.c = {n, 1, s.outputs * n};
    if (p.has_bias != 0) product.flags = bias_per_row;
    planner.add_product(product, a, planner.columns(), y.offset_by((piece.first * s.outputs + piece.group * m) * n),
                        p.has_bias != 0 ? conv2d_bias.offset_by(piece.group * m) : a);
  });
  return planner.take();
}

PlanOr plan_im2col_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, weight, dx] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_sizes(s, target)) return reason;
  const std::int64_t m = s.depth(), n = s.pixels(), k = s.group_outputs();
  Im2colPlanner planner(p, target);
  planner.for_pieces([&, dy = dy, weight = weight, dx = dx](const ImagePiece& piece) {
    const Place a = weight.offset_by(piece.group * k * m);
    GemmProblem product = inner_product(p, m, n, k, piece.images);
    product.a = {1, m};
    product.b = {n, 1, s.outputs * n};
    product.c = {n, 1, m * n};
    planner.add_product(product, a, dy.offset_by((piece.first * s.outputs + piece.group * k) * n), planner.columns(),
                        a);
    planner.add_col2im(piece.images, planner.images_in(dx, piece), m * n, n);
  });
  return planner.take();
}

PlanOr plan_im2col_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  if (const char* reason = check_sizes(s, target)) return reason;
  if (s.images == 0) return "there are no images";
  if (s.output_image() > max_elements) return "one image is too large for the kernel's indices";
  Im2colPlanner planner(p, target);
  // One product over the pixels of all images of a piece. In both matrices the images' pixels follow each other.
  const Place by_output = s.images == 1 ? dy : planner.workspace(s.images * s.output_image());
  if (s.images > 1) planner.add_by_output(dy, by_output);
  const std::int64_t m = s.group_outputs(), n = s.depth();
  planner.for_pieces([&, x = x, dw = dw](const ImagePiece& piece) {
    const std::int64_t pixels = piece.images * s.pixels();
    planner.add_im2col(piece.images, planner.images_in(x, piece), s.pixels(), pixels);
    GemmProblem product = inner_product(p, m, n, pixels, 1);
    product.a = {s.images * s.pixels(), 1};
    product.b = {1, pixels};
    product.c = {n, 1};
    if (piece.first > 0) product.flags = add_to_c;
    const Place a = by_output.offset_by((piece.group * m * s.images + piece.first) * s.pixels());
    planner.add_product(product, a, planner.columns(), dw.offset_by(piece.group * m * n), a);
  });
  return planner.take();
}

}  // namespace crisol::ops
