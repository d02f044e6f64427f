// Convolution of 3 x 3 kernels by Winograd's F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3) on GPUs, forward and backward data. It
// has three steps: conv2d_winograd_tiles.cl, a matrix product for each of the 36 or 16 positions, and
// conv2d_winograd_output.cl.
#include <algorithm>

#include "ops/conv/conv2d_variants.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/product/gpu/gemm_tiled.h"
#include "ops/product/indices.h"

namespace crisol::ops {

namespace {

// The sizes. The kernels count the elements of a position, and the bytes of the input, in 32 bits.
struct Sizes : WinogradSizes {
  std::int64_t positions() const noexcept { return (tile + 2) * (tile + 2); }
  /// The columns of the products, rounded up because four are read at a time.
  std::int64_t columns(std::int64_t some_images) const noexcept { return ceil_div(tiles_of(some_images), 4) * 4; }
  std::int64_t kernel_floats() const noexcept { return positions() * outputs * channels; }
  std::int64_t tile_floats(std::int64_t some_images) const noexcept {
    return positions() * (outputs + channels) * columns(some_images);
  }
};

std::int64_t images_at_once(const Sizes& s, const Target& target) {
  const std::int64_t floats = target.bytes_at_once(4 * conv2d_workspace_floats) / 4 - s.kernel_floats();
  return std::clamp<std::int64_t>(floats / s.tile_floats(1), 1, s.images);
}

// The cost in multiply-adds. It consists of the products' multiply-adds, and of the time to move numbers between the
// steps. A GPU's memory moves one number in the time of about 40 multiply-adds (25 to 160, from vendors' figures; not
// measured).
double cost_of(const Sizes& s) {
  constexpr double of_number = 40;
  const auto positions = static_cast<double>(s.positions() * s.tiles());
  const auto c = static_cast<double>(s.channels), k = static_cast<double>(s.outputs);
  return positions * (c * k + 2 * of_number * (c + k)) + of_number * static_cast<double>(s.kernel_floats());
}

double direct_cost(const Conv2dSizes& s) {
  return 9.0 * static_cast<double>(s.images * s.pixels()) * static_cast<double>(s.channels) *
         static_cast<double>(s.outputs);
}

const char* check_sizes(const Sizes& s, const Target& target) {
  const std::int64_t images = images_at_once(s, target);
  if (s.height * s.width >= max_index || s.out_h * s.out_w >= max_index ||
      std::max(s.channels, s.outputs) * s.columns(images) >= max_index ||
      images * s.channels * s.height * s.width >= max_index || s.outputs * s.channels * 9 >= max_index)
    return "too large for the kernel's indices";
  return s.channels / 8 > target.loop_budget ? "too deep" : nullptr;
}

// The reason why another variant is expected to take less time, or nullptr.
const char* check_cost(const Conv2dProblem& p, const Sizes& s, const Target& target) {
  // The products are fp32, because the transforms would enlarge the errors of a lower precision. So Winograd must save
  // more time than matrix units do.
  const double direct = direct_cost(p.sizes),
               gain = target.traits.matrix_gain(target.unit(p.precision()), p.precision());
  if (cost_of(s) > direct) return "too few channels or too small planes to pay";
  if (cost_of(s) > direct / gain) return "matrix units take less";
  if (cost_of({winograd_sizes(p.sizes, 6 - s.tile, s.flipped)}) < cost_of(s))
    return "tiles of the other size take less";
  return nullptr;
}

class WinogradPlanner {
 public:
  WinogradPlanner(const Conv2dProblem& problem, const Sizes& sizes, const Target& target)
      : p_(problem), s_(sizes), target_(target), at_once_(images_at_once(s_, target)) {
    tiles_ = plan_.workspace(4 * static_cast<std::uint64_t>(s_.tile_floats(at_once_)));
    kernels_ = derive_kernels();
  }

  Plan plan() && {
    for (std::int64_t first = 0; first < s_.images; first += at_once_)
      add_images(first, std::min(at_once_, s_.images - first));
    return std::move(plan_);
  }

 private:
  const Conv2dProblem& p_;
  const Sizes& s_;
  const Target& target_;
  const std::int64_t at_once_;
  Plan plan_;
  Place tiles_{}, kernels_{};

  runtime::KernelSpec spec(const char* file, const char* entry) const {
    runtime::KernelSpec spec{file, entry, {{"TILE", s_.tile}}};
    define_device(spec.defines, target_);
    if (target_.traits.branches_are_cheap) spec.defines.add({"SKIPS_HIDDEN", 1});
    return spec;
  }

  // The tiles of `images` images with planes of this size.
  kernels::WinogradTiles tiles_parameters(std::int64_t images, std::int64_t channels, std::int64_t height,
                                          std::int64_t width) const {
    return {.tiles = number(s_.tiles_of(images)),
            .stride = number(s_.columns(images)),
            .tiles_h = number(s_.tiles_h()),
            .tiles_w = number(s_.tiles_w()),
            .channels = number(channels),
            .height = number(height),
            .width = number(width),
            .unused = 0};
  }

  // Derives the transformed kernels.
  Place derive_kernels() {
    static constexpr char kind[] = "winograd tiles";
    const Place weight = operand(1);
    const DerivedKey key{kind, {s_.outputs, s_.channels, s_.flipped, s_.tile}};
    const Place kernels = plan_.derive(weight, key, 4 * static_cast<std::uint64_t>(s_.kernel_floats()));
    const std::int64_t count = s_.outputs * s_.channels;
    plan_.add_to_derived(kernels, spec("conv/gpu/conv2d_winograd_tiles.cl", "winograd_kernels"),
                         target_.flat_range(count), weight, kernels, static_cast<std::uint32_t>(count),
                         static_cast<std::uint32_t>(s_.channels), static_cast<std::uint32_t>(s_.output_stride()),
                         static_cast<std::uint32_t>(s_.channel_stride()), s_.flipped ? 1 : 0);
    return kernels;
  }

  void add_images(std::int64_t first, std::int64_t images) {
    const std::int64_t columns = s_.columns(images), inputs = s_.channels * columns;
    const Place from = operand(0, first * s_.channels * s_.height * s_.width);
    const Place products = tiles_.offset_by(s_.positions() * inputs);
    plan_.add(spec("conv/gpu/conv2d_winograd_tiles.cl", "winograd_input"), target_.flat_range(inputs), from, tiles_,
              static_cast<std::uint32_t>(inputs), tiles_parameters(images, s_.channels, s_.height, s_.width), s_.pad_h,
              s_.pad_w);
    add_products(products, columns);
    add_output(first, images, products);
  }

  void add_products(const Place& products, std::int64_t columns) {
    const GemmProblem product{.m = s_.outputs,
                              .n = columns,
                              .k = s_.channels,
                              .batch = s_.positions(),
                              .a = {s_.channels, 1, s_.outputs * s_.channels},
                              .b = {columns, 1, s_.channels * columns},
                              .c = {columns, 1, s_.outputs * columns}};
    const int vectors = s_.channels % 4 == 0 ? 4 : 1;
    const TilePlan cut =
        plan_tiles(fma_engine(), target_, {product.m, product.n, product.k, product.batch}, vectors, 1);
    add_tiled_product(plan_, target_, fma_engine(), cut,
                      {product, {kernels_, tiles_, products, kernels_, kernels_, kernels_}});
  }

  void add_output(std::int64_t first, std::int64_t images, const Place& products) {
    const std::int64_t columns = s_.columns(images), count = s_.outputs * columns;
    const std::int64_t elements = first * s_.outputs * s_.out_h * s_.out_w;
    // If an operand of the epilogue has an element for each pixel, it is also moved to the first image.
    const auto shifted = [&](const Place& place, std::size_t i) {
      return place.offset_by(elements * p_.epilogue.operands[i].column);
    };
    const EpilogueArgs e = epilogue_args(p_.epilogue, shifted(conv2d_e0, 0), shifted(conv2d_e1, 1), products);
    const bool vectors = s_.tile == 4 && s_.out_w % 4 == 0 && p_.offsets[2] % 4 == 0 && reads_vectors(p_.epilogue);
    runtime::KernelSpec ending = spec("conv/gpu/conv2d_winograd_output.cl", "winograd_output");
    ending.prelude = epilogue_prelude(p_.epilogue);
    ending.defines.add({"VEC_C", vectors ? 4 : 1});
    plan_.add(ending, target_.flat_range(count), products, p_.bias_or(products), operand(2, elements), e,
              static_cast<std::uint32_t>(count), tiles_parameters(images, s_.outputs, s_.out_h, s_.out_w), p_.flags());
  }
};

PlanOr plan_of(const Conv2dProblem& p, const Target& target, std::int64_t tile, bool data) {
  if (const char* reason = check_winograd_form(p.sizes)) return reason;
  if (const char* reason = against_tiles(fma_engine(), target)) return reason;
  const Sizes s{winograd_sizes(p.sizes, tile, data)};
  if (const char* reason = check_sizes(s, target)) return reason;
  const char* const costs = check_cost(p, s, target);
  Plan plan = WinogradPlanner(p, s, target).plan();
  if (costs != nullptr) return PlanOr::only_forced(std::move(plan), costs);
  return plan;
}

}  // namespace

PlanOr plan_winograd_f4(const Conv2dProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, 4, false);
}

PlanOr plan_winograd_f4_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, 4, true);
}

PlanOr plan_winograd_f2(const Conv2dProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, 2, false);
}

PlanOr plan_winograd_f2_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, 2, true);
}

}  // namespace crisol::ops
