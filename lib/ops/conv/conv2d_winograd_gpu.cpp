#include "ops/conv/conv2d_winograd_gpu.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/gpu_model.h"
#include "dispatch/gpu_variant.h"
#include "dispatch/persistent.h"
#include "ops/conv/conv2d_winograd.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"
#include "runtime/moved.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t workspace_floats = std::int64_t{1}
                                          << 26;  // 256 MB, unless the limit is lower or an image needs more.
// The kernels count elements of a position, and bytes of the input, in 32 bits.
constexpr std::int64_t most_index = std::int64_t{1} << 30;

// A convolution as the kernels see it: backward data is one of dy with the kernels turned round.
struct Sizes {
  std::int64_t images, channels, height, width, outputs, out_h, out_w;
  std::int32_t pad_h, pad_w;
  std::int64_t tile;

  std::int64_t positions() const noexcept { return (tile + 2) * (tile + 2); }
  std::int64_t tiles_h() const noexcept { return ceil_div(out_h, tile); }
  std::int64_t tiles_w() const noexcept { return ceil_div(out_w, tile); }
  std::int64_t tiles(std::int64_t some_images) const noexcept { return some_images * tiles_h() * tiles_w(); }
  /// Columns of the products, which are read four at a time.
  std::int64_t stride(std::int64_t some_images) const noexcept { return ceil_div(tiles(some_images), 4) * 4; }
  std::int64_t kernel_floats() const noexcept { return positions() * outputs * channels; }
  std::int64_t tile_floats(std::int64_t some_images) const noexcept {
    return positions() * (outputs + channels) * stride(some_images);
  }
};

Sizes sizes_of(const Conv2dSizes& s, bool data, std::int64_t tile) {
  const Conv2dOptions& o = s.options;
  if (data)
    return {s.images, s.outputs, s.out_h,         s.out_w,         s.channels,
            s.height, s.width,   2 - o.padding.h, 2 - o.padding.w, tile};
  return {s.images, s.channels, s.height, s.width, s.outputs, s.out_h, s.out_w, o.padding.h, o.padding.w, tile};
}

std::int64_t images_at_once(const Sizes& s) {
  const auto limit = static_cast<std::int64_t>(workspace_limit() / 4);
  const std::int64_t floats = (limit == 0 ? workspace_floats : std::min(limit, workspace_floats)) - s.kernel_floats();
  return std::clamp<std::int64_t>(floats / s.tile_floats(1), 1, s.images);
}

// Multiply-adds, and what moving a number between the parts costs, in such: a GPU's memory brings a number in the time
// of some 40 multiply-adds (25 to 160, from vendors' figures; not measured).
double cost_of(const Sizes& s) {
  constexpr double of_number = 40;
  const auto positions = static_cast<double>(s.positions() * s.tiles(s.images));
  const auto c = static_cast<double>(s.channels), k = static_cast<double>(s.outputs);
  return positions * (c * k + 2 * of_number * (c + k)) + of_number * static_cast<double>(s.kernel_floats());
}

double direct_cost(const Conv2dSizes& s) {
  return 9.0 * static_cast<double>(s.images * s.pixels()) * static_cast<double>(s.channels) *
         static_cast<double>(s.outputs);
}

// The transformed kernels: those that the weight keeps, or new ones.
runtime::BlockPtr transformed_kernels(const Conv2dProblem& p, const Sizes& s, runtime::Kernel& transform,
                                      bool flipped) {
  static constexpr char kind[] = "winograd tiles";
  runtime::DeviceState& device = p.device;
  const runtime::BufferView weight = in(p.weight);
  const auto output_step = static_cast<std::uint32_t>(flipped ? 9 : 9 * s.channels);
  const auto channel_step = static_cast<std::uint32_t>(flipped ? 9 * s.outputs : 9);
  Storage& owner = *p.weight.impl()->storage;
  const std::uint64_t version = owner.version.load(std::memory_order_relaxed);
  const DerivedKey key{kind, {static_cast<std::int64_t>(weight.offset), s.outputs, s.channels, flipped, s.tile}};
  const DerivedData::Found found = owner.find_derived(key, version);
  if (found.data) return std::static_pointer_cast<runtime::Block>(found.data);
  runtime::BlockPtr block = runtime::allocate(device, 4 * static_cast<std::uint64_t>(s.kernel_floats()));
  const std::int64_t count = s.outputs * s.channels;
  runtime::launch(device, transform, runtime::flat_range(device, count), weight, runtime::BufferView{block.get(), 0},
                  static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(s.channels), output_step, channel_step,
                  flipped ? 1 : 0);
  if (!found.worth_keeping) return block;
  return std::static_pointer_cast<runtime::Block>(owner.derived.keep(key, version, block));
}

// The epilogue of the images from `first` on: an operand with an element a pixel begins there.
Epilogue moved(const Epilogue& f, std::int64_t elements) {
  Epilogue later = f;
  for (std::size_t i = 0; i < later.operand_count; ++i) {
    EpilogueOperand& operand = later.operands[i];
    operand.first = moved(operand.first, elements * operand.column);
  }
  return later;
}

class Run {
 public:
  Run(const Conv2dProblem& problem, const Sizes& sizes, bool flipped)
      : p_(problem),
        s_(sizes),
        device_(problem.device),
        info_(runtime::info_of(device_)),
        at_once_(images_at_once(s_)) {
    const runtime::BufferView to = flipped ? out(p_.x) : out(p_.y);
    const bool vectors = s_.tile == 4 && s_.out_w % 4 == 0 && to.offset % 4 == 0 && reads_vectors(p_.epilogue);
    runtime::KernelSpec ending{"conv/conv2d_winograd_output.cl", "winograd_output", defines(),
                               epilogue_prelude(p_.epilogue)};
    ending.defines.add({"VEC_C", vectors ? 4 : 1});
    end_ = &runtime::resolve(device_, ending);
    begin_ = &runtime::resolve(device_, {"conv/conv2d_winograd_tiles.cl", "winograd_input", defines()});
    runtime::Kernel& transform =
        runtime::resolve(device_, {"conv/conv2d_winograd_tiles.cl", "winograd_kernels", defines()});
    tiles_ = runtime::allocate(device_, 4 * static_cast<std::uint64_t>(s_.tile_floats(at_once_)));
    kernels_ = transformed_kernels(p_, s_, transform, flipped);
  }

  void images(runtime::BufferView from, runtime::BufferView to) const {
    for (std::int64_t first = 0; first < s_.images; first += at_once_) {
      const std::int64_t to_first = first * s_.outputs * s_.out_h * s_.out_w;
      const Epilogue f = p_.epilogue == nullptr ? Epilogue() : moved(*p_.epilogue, to_first);
      piece(std::min(at_once_, s_.images - first), moved(from, first * s_.channels * s_.height * s_.width),
            moved(to, to_first), p_.epilogue == nullptr ? nullptr : &f);
    }
  }

 private:
  const Conv2dProblem& p_;
  const Sizes& s_;
  runtime::DeviceState& device_;
  const DeviceInfo& info_;
  std::int64_t at_once_;
  runtime::Kernel *begin_, *end_;
  runtime::BlockPtr tiles_, kernels_;

  runtime::Defines defines() const {
    runtime::Defines defines{{"TILE", s_.tile}};
    define_block(defines, info_);
    // Of NVIDIA's, and CPUs run both ways in tests: AMD's and Intel's pay for branches.
    const bool branches = info_.vendor_id != vendor_amd && info_.vendor_id != vendor_intel;
    if (branches) defines.add({"SKIPS_HIDDEN", 1});
    return defines;
  }

  void piece(std::int64_t images, runtime::BufferView from, runtime::BufferView to, const Epilogue* f) const {
    const std::int64_t stride = s_.stride(images), inputs = s_.channels * stride, outputs = s_.outputs * stride;
    const runtime::BufferView v{tiles_.get(), 0}, m = moved(v, s_.positions() * inputs), u{kernels_.get(), 0};
    runtime::launch(device_, *begin_, runtime::flat_range(device_, inputs), from, v, static_cast<std::uint32_t>(inputs),
                    Shape{s_.tiles(images), stride, s_.tiles_h(), s_.tiles_w(), s_.channels, s_.height, s_.width},
                    s_.pad_h, s_.pad_w);
    const Gemm product{.device = device_,
                       .m = s_.outputs,
                       .n = stride,
                       .k = s_.channels,
                       .batch = s_.positions(),
                       .a = {u, s_.channels, 1, s_.outputs * s_.channels},
                       .b = {v, stride, 1, inputs},
                       .c = {m, stride, 1, outputs},
                       .bias = u};
    run_gemm_block(product,
                   plan_blocks(info_, product.m, product.n, product.k, product.batch, s_.channels % 4 == 0 ? 4 : 1, 1));
    const EpilogueArguments e = epilogue_arguments(f, m);
    runtime::launch(device_, *end_, runtime::flat_range(device_, outputs), m, p_.bias.defined() ? in(p_.bias) : m, to,
                    e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2],
                    static_cast<std::uint32_t>(outputs),
                    Shape{s_.tiles(images), stride, s_.tiles_h(), s_.tiles_w(), s_.outputs, s_.out_h, s_.out_w},
                    (p_.bias.defined() ? bias_per_row : 0) | epilogue_flags(f));
  }
};

}  // namespace

template <bool data, int tile>
const char* refuse_winograd_tiles(const Conv2dProblem& p, const DeviceInfo& info) {
  constexpr const char* op = data ? "conv2d_backward_data" : "conv2d";
  constexpr const char* name = tile == 4 ? "winograd_f4" : "winograd_f2";
  if (const char* reason = refuse_off_gpu(op, name, info)) return reason;
  if (const char* reason = refuse_winograd_form(p.sizes)) return reason;
  if (const char* reason = refuse_blocks(info)) return reason;
  const Sizes s = sizes_of(p.sizes, data, tile);
  const std::int64_t images = images_at_once(s);
  if (s.height * s.width >= most_index || s.out_h * s.out_w >= most_index ||
      std::max(s.channels, s.outputs) * s.stride(images) >= most_index ||
      images * s.channels * s.height * s.width >= most_index || s.outputs * s.channels * 9 >= most_index)
    return "too large for the kernel's indices";
  if (s.channels / 8 > loop_budget(info)) return "too deep";
  if (forced_variant(op) == name) return nullptr;
  // Its products are fp32, since its transforms would enlarge the rounding to less: what it saves must be more than
  // what matrix units save.
  const double direct = direct_cost(p.sizes), gain = matrix_gain(info, p.unit, p.precision);
  if (cost_of(s) > direct) return "too few channels or too small planes to pay";
  if (cost_of(s) > direct / gain) return "matrix units take less";
  if (cost_of(sizes_of(p.sizes, data, 6 - tile)) < cost_of(s)) return "tiles of the other size take less";
  return nullptr;
}

template <bool data, int tile>
std::uint64_t winograd_tiles_workspace(const Conv2dProblem& p, const DeviceInfo&) {
  const Sizes s = sizes_of(p.sizes, data, tile);
  return 4 * static_cast<std::uint64_t>(s.kernel_floats() + s.tile_floats(images_at_once(s)));
}

template <bool data, int tile>
void run_winograd_tiles(const Conv2dProblem& p) {
  const Sizes s = sizes_of(p.sizes, data, tile);
  Run(p, s, data).images(in(data ? p.y : p.x), out(data ? p.x : p.y));
}

template const char* refuse_winograd_tiles<false, 4>(const Conv2dProblem&, const DeviceInfo&);
template void run_winograd_tiles<false, 4>(const Conv2dProblem&);
template std::uint64_t winograd_tiles_workspace<false, 4>(const Conv2dProblem&, const DeviceInfo&);
template const char* refuse_winograd_tiles<false, 2>(const Conv2dProblem&, const DeviceInfo&);
template void run_winograd_tiles<false, 2>(const Conv2dProblem&);
template std::uint64_t winograd_tiles_workspace<false, 2>(const Conv2dProblem&, const DeviceInfo&);
template const char* refuse_winograd_tiles<true, 4>(const Conv2dProblem&, const DeviceInfo&);
template void run_winograd_tiles<true, 4>(const Conv2dProblem&);
template std::uint64_t winograd_tiles_workspace<true, 4>(const Conv2dProblem&, const DeviceInfo&);
template const char* refuse_winograd_tiles<true, 2>(const Conv2dProblem&, const DeviceInfo&);
template void run_winograd_tiles<true, 2>(const Conv2dProblem&);
template std::uint64_t winograd_tiles_workspace<true, 2>(const Conv2dProblem&, const DeviceInfo&);

}  // namespace crisol::ops
