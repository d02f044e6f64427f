#include "ops/conv/conv2d_gather.h"

#include <algorithm>

#include "dispatch/persistent.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_epilogue.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_index = std::int64_t{1} << 30;  // The kernels count bytes of a few images in 32 bits.
constexpr std::int64_t slack = 32;                          // Elements of the depth that a slice may reach beyond it.
constexpr std::int64_t most_columns = 128;                  // Of all tiles.

std::int64_t row_entries(const GatheredProduct& p) { return p.packed_depth() / p.together(); }

// Even, so that A begins at a multiple of four behind it.
std::int64_t table_count(const GatheredProduct& p) { return (row_entries(p) + slack + 1) / 2 * 2; }

// Elements of the images that one tile sees.
std::int64_t seen_by_tile(const GatheredProduct& p) {
  return std::min(p.images, (most_columns - 2) / p.pixels() + 2) * p.src_image;
}

std::int64_t packed_floats(const GatheredProduct& p) { return p.groups * p.m * p.packed_depth(); }

bool is_multiple(std::int64_t value) { return value % 4 == 0; }

// Four neighbours of a row of the result can be written, and the epilogue's operands read, at once.
int result_vectors(const GatheredProduct& p, const GatheredOperands& o) {
  const bool aligned = p.c_w == 1 && p.c_h == p.columns && is_multiple(p.pixels()) && is_multiple(p.c_image) &&
                       is_multiple(p.c_group) && is_multiple(p.c_row) && o.c.offset % 4 == 0;
  return aligned && reads_vectors(o.epilogue) ? 4 : 1;
}

DerivedKey key_of(const GatheredProduct& p, runtime::BufferView weight) {
  static constexpr char forward[] = "gathered", turned[] = "gathered, turned";
  return {p.lies_packed() ? forward : turned,
          {static_cast<std::int64_t>(weight.offset), p.groups, p.m, p.channels, p.taps_h, p.taps_w, p.src_channel,
           p.tap_h * p.width, p.tap_w, p.weight_strides[1], p.weight_strides[3], p.weight_strides[4]}};
}

}  // namespace

bool GatheredProduct::lies_packed() const noexcept {
  const std::array<std::int64_t, 5> packed{m * depth(), depth(), std::int64_t{taps_h} * taps_w, taps_w, 1};
  const bool in_order = together() == 1 || taps_h * taps_w == 1;
  return in_order && depth() == packed_depth() && weight_strides == packed;
}

const char* refuse_gathering(const Conv2dSizes& s) {
  const Conv2dOptions& o = s.options;
  if (s.kernel_h > 16 || s.kernel_w > 15) return "the kernel is larger than 16 x 15";
  const std::int64_t rows = s.height + s.out_h + 2 * std::int64_t{o.padding.h} + 16 * std::int64_t{o.dilation.h};
  const std::int64_t columns = s.width + s.out_w + 2 * std::int64_t{o.padding.w} + 16 * std::int64_t{o.dilation.w};
  if (rows >= most_index / columns) return "the padded planes are too large for the kernel's indices";
  if (std::max(s.channels * s.height * s.width, s.outputs * s.pixels()) >= most_index)
    return "one image is too large for the kernel's indices";
  return nullptr;
}

const char* refuse_gathered(const GatheredProduct& p, const DeviceInfo& info, std::int64_t groups) {
  if (p.n() >= most_index || packed_floats(p) >= most_index) return "too large for the kernel's indices";
  if (p.n() > 0 && seen_by_tile(p) > most_index) return "the images are too large for the kernel's indices";
  if (p.packed_depth() / 4 > loop_budget(info)) return "too deep";
  return groups > most_block_groups ? "too many tiles" : nullptr;
}

int most_gathered_parts(const GatheredProduct& p) {
  return most_block_parts(4 * p.groups * p.m * p.n(), 4 * (2 * table_count(p) + packed_floats(p)));
}

std::uint64_t gathered_workspace(const GatheredProduct& p, int parts) {
  const std::int64_t sums = parts > 1 ? p.groups * p.m * p.n() * parts : 0;
  return 4 * static_cast<std::uint64_t>(2 * table_count(p) + packed_floats(p) + sums);
}

GatheredLaunch::GatheredLaunch(runtime::DeviceState& device, const GatheredProduct& product,
                               const GatheredKernel& kernel, const GatheredOperands& operands)
    : device_(device), product_(product), cut_(kernel.cut), operands_(operands) {
  const DeviceInfo& info = runtime::info_of(device);
  const bool in_parts = cut_.parts > 1;
  packs_ = !product.lies_packed() || operands.weight.offset % 4 != 0;
  vectors_ = result_vectors(product, operands);
  runtime::KernelSpec spec = kernel.spec;
  spec.defines.add({"TOGETHER", product.together()});
  const int stored = in_parts ? (is_multiple(product.n()) ? 4 : 1) : vectors_;
  add_result(spec, info, in_parts ? nullptr : operands.epilogue, std::min(kernel.run, stored));
  multiply_ = &runtime::resolve(device, spec);
  if (in_parts) {
    runtime::KernelSpec adding{"conv/conv2d_block_parts.cl", "conv2d_block_parts"};
    add_result(adding, info, operands.epilogue, vectors_);
    add_ = &runtime::resolve(device, adding);
    sums_ = runtime::allocate(device,
                              4 * static_cast<std::uint64_t>(product.groups * product.m * product.n() * cut_.parts));
  }
  find_prepared();
}

// The table and, behind it, A: those that the weight keeps, or new ones.
void GatheredLaunch::find_prepared() {
  Storage& owner = *operands_.weight_storage;
  const std::uint64_t version = owner.version.load(std::memory_order_relaxed);
  const DerivedKey key = key_of(product_, operands_.weight);
  const DerivedData::Found found = owner.find_derived(key, version);
  is_prepared_ = found.data != nullptr;
  if (is_prepared_) {
    prepared_ = std::static_pointer_cast<runtime::Block>(found.data);
    return;
  }
  table_ = &runtime::resolve(device_, {"conv/conv2d_block_prepare.cl", "conv2d_block_table"});
  if (packs_) pack_ = &runtime::resolve(device_, {"conv/conv2d_block_prepare.cl", "conv2d_block_pack"});
  const std::int64_t floats = 2 * table_count(product_) + (packs_ ? packed_floats(product_) : 0);
  prepared_ = runtime::allocate(device_, 4 * static_cast<std::uint64_t>(floats));
  queue_preparation();
  if (found.worth_keeping)
    prepared_ = std::static_pointer_cast<runtime::Block>(owner.derived.keep(key, version, prepared_));
}

void GatheredLaunch::queue_preparation() const {
  const GatheredProduct& p = product_;
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const std::int64_t count = table_count(p), entries = p.depth() / p.together();
  runtime::launch(device_, *table_, runtime::flat_range(device_, count), runtime::BufferView{prepared_.get(), 0},
                  static_cast<std::int32_t>(count), static_cast<std::int32_t>(entries), std::int32_t{p.together()},
                  Shape{p.taps_h, p.taps_w, p.src_channel, p.tap_h * p.width, p.tap_w});
  if (!packs_) return;
  const std::int64_t packed = p.groups * p.m * row_entries(p);
  runtime::launch(
      device_, *pack_, runtime::flat_range(device_, packed), operands_.weight,
      runtime::BufferView{prepared_.get(), static_cast<std::uint64_t>(2 * count)}, number(packed), number(p.m),
      number(entries), number(row_entries(p)), number(p.together()), number(p.taps_h), number(p.taps_w),
      Shape{p.weight_strides[0], p.weight_strides[1], p.weight_strides[2], p.weight_strides[3], p.weight_strides[4]});
}

void GatheredLaunch::queue() const {
  const GatheredProduct& p = product_;
  const GatheredOperands& o = operands_;
  const bool cut = cut_.parts > 1;
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  const EpilogueArguments e = epilogue_arguments(o.epilogue, o.src);
  const std::int32_t flags = o.flags | epilogue_flags(o.epilogue);
  const runtime::BufferView a =
      packs_ ? runtime::BufferView{prepared_.get(), static_cast<std::uint64_t>(2 * table_count(p))} : o.weight;
  const runtime::BufferView c = cut ? runtime::BufferView{sums_.get(), 0} : o.c;
  const Shape plane{p.height, p.width, p.taps_h, p.taps_w, p.pixels(), p.columns, p.src_image};
  const runtime::KernelArg to(Shape{p.c_image, p.c_h, p.c_w}, 4);
  const std::int64_t depth = p.packed_depth(), *local = cut_.local;
  runtime::launch(device_, *multiply_, {{cut_.groups * local[0], local[1]}, {local[0], local[1]}}, a, o.src, c, o.bias,
                  runtime::BufferView{prepared_.get(), 0}, e.first, e.second, e.strides, e.scalars[0], e.scalars[1],
                  e.scalars[2], number(p.m), number(p.n()), number(depth), p.m * depth, number(depth), p.src_group,
                  p.c_group, p.c_row, plane, Shape{p.step_h, p.step_w, p.start_h, p.start_w, p.tap_h, p.tap_w}, to,
                  number(cut_.part_depth), cut_.parts, flags);
  if (!cut) return;
  const std::int64_t count = p.groups * p.m * p.n();
  runtime::launch(device_, *add_, runtime::flat_range(device_, count / vectors_), c, o.c, o.bias, e.first, e.second,
                  e.strides, e.scalars[0], e.scalars[1], e.scalars[2], number(p.m), number(p.n()), count, p.c_group,
                  p.c_row, plane, to, cut_.parts, flags);
}

}  // namespace crisol::ops
