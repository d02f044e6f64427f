// contiguous, clone, cast, copy_into, fill_into. Copies between dtypes or layouts are pointwise programs whose
// expression is only the element. OpenCL makes contiguous copies.
#include "crisol/ops/copy.h"

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "base/text.h"
#include "base/whole.h"
#include "crisol/dtype_table.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/layout/copy_plan.h"
#include "ops/layout/transpose_copy.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/pointwise/pointwise_plan.h"
#include "ops/result.h"
#include "runtime/dry_run.h"
#include "runtime/memory/transfer.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

std::uint64_t byte_position(const Tensor& x) {
  const TensorImpl& impl = *x.impl();
  return impl.storage->base + static_cast<std::uint64_t>(impl.offset) * size_of(impl.dtype);
}

// The kernels for each pair of dtypes. They are made at their first use.
class KernelsByDType {
 public:
  template <class Make>
  const PointwiseKernels& get(std::size_t index, Make make) {
    std::atomic<const PointwiseKernels*>& slot = slots_[index];
    if (slot.load(std::memory_order_acquire) == nullptr) {
      PointwiseGraph graph;
      make(graph);
      slot.store(&kernels_of(graph), std::memory_order_release);
    }
    return *slot.load(std::memory_order_acquire);
  }

 private:
  std::array<std::atomic<const PointwiseKernels*>, all_dtypes.size() * all_dtypes.size()> slots_{};
};

const PointwiseKernels& copy_kernels(DType from, DType to) {
  static KernelsByDType kernels;
  const std::size_t index = static_cast<std::size_t>(from) * all_dtypes.size() + static_cast<std::size_t>(to);
  return kernels.get(index, [&](PointwiseGraph& graph) { graph.output(graph.convert(graph.input(from), to)); });
}

const PointwiseKernels& fill_kernels(DType dtype) {
  static KernelsByDType kernels;
  return kernels.get(static_cast<std::size_t>(dtype), [&](PointwiseGraph& graph) {
    graph.output(graph.convert(graph.scalar(is_floating(dtype) ? value_type(dtype) : DType::i64), dtype));
  });
}

void copy_bytes(const Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0 || runtime::in_dry_run()) return;
  dst.impl()->storage->written();
  runtime::copy(*src.impl()->storage->block, byte_position(src), *dst.impl()->storage->block, byte_position(dst),
                static_cast<std::size_t>(dst.numel()) * size_of(dst.dtype()));
}

// A kernel copies large tensors on CPUs, because clEnqueueCopyBuffer uses one thread there.
bool copies_by_kernel(const Tensor& dst) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20;  // In bytes.
  return dst.device().info().type == DeviceType::cpu &&
         static_cast<std::uint64_t>(dst.numel()) * size_of(dst.dtype()) >= least;
}

// Copies a tensor from another device through the host. The result is contiguous.
Tensor through_host(const Tensor& src, Device device) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(src.numel()) * size_of(src.dtype()));
  src.read_bytes(bytes.data());
  return from_bytes(bytes.data(), src.shape(), src.dtype(), device);
}

// The checks of a copy. Returns whether there is something to copy.
bool check_copy(const Tensor& dst, const Tensor& src) {
  require(dst.defined() && src.defined(), "copy_into", "a tensor is undefined");
  require_no_overlap("copy_into", dst);
  require(broadcast_shape("copy_into", dst.shape(), src.shape()) == dst.shape(), "copy_into", "shape ", src.shape(),
          " does not broadcast to ", dst.shape());
  if (src.device() != dst.device()) return true;
  const Overlap overlap = overlap_of(src, dst);
  if (overlap == Overlap::same) return false;
  require(overlap == Overlap::none, "copy_into", "source of shape ", src.shape(), " and destination of shape ",
          dst.shape(), " share a part of their elements; clone() the source");
  return true;
}

bool in_order(const Tensor& dst, const Tensor& src) {
  return dst.dtype() == src.dtype() && dst.shape() == src.shape() && dst.is_contiguous() && src.is_contiguous();
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
  if (!check_copy(dst, src)) return;
  if (src.device() != dst.device()) return copy_into(dst, through_host(src, dst.device()));
  const bool same_order = in_order(dst, src);
  if (same_order && !copies_by_kernel(dst)) return copy_bytes(dst, src);
  if (const PreparedPtr transposes = same_order ? nullptr : prepare_transposes(dst, src))
    return launch(*transposes, {in(src), out(dst)});
  const Tensor* input = &src;
  copy_kernels(src.dtype(), dst.dtype()).run_into("copy_into", {&input, 1}, {}, {&dst, 1});
}

std::function<void()> prepare_copy(const Tensor& dst, const Tensor& src) {
  if (!check_copy(dst, src)) return [] {};
  if (src.device() != dst.device()) return prepare_copy(dst, through_host(src, dst.device()));
  const bool same_order = in_order(dst, src);
  if (same_order && !copies_by_kernel(dst)) return [dst, src] { copy_bytes(dst, src); };
  if (PreparedPtr transposes = same_order ? nullptr : prepare_transposes(dst, src))
    return [dst, src, transposes] { launch(*transposes, {in(src), out(dst)}); };
  return copy_kernels(src.dtype(), dst.dtype()).prepare("copy_into", src, dst);
}

Tensor clone(const Tensor& x) {
  Tensor copy = empty(x.shape(), x.dtype(), x.device());
  copy_into(copy, x);
  return copy;
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor copy = empty(x.shape(), dtype, x.device());
  copy_into(copy, x);
  return copy;
}

namespace {

Tensor flip(const Tensor& x, const Shape& axes, const Tensor* into) {
  constexpr const char* op = "flip";
  require(x.defined(), op, "the tensor is undefined");
  Shape strides = x.strides();
  std::int64_t offset = x.offset();
  unsigned seen = 0;
  for (const std::int64_t wanted : axes) {
    const int axis = axis_or_scalar(op, wanted, x.dim());
    require((seen >> axis & 1u) == 0, op, "axis ", wanted, " is named twice in ", axes);
    seen |= 1u << axis;
    if (axis == x.dim() || x.shape()[axis] == 0) continue;
    offset += (x.shape()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  Result y(op, into, x.shape(), x.dtype(), x.device(), {&x}, Result::Layout::any);
  // Only copies can read negative strides, so no other op gets this view.
  copy_into(y.place(), make_view(x, x.shape(), strides, offset));
  return y.done();
}

}  // namespace

Tensor flip(const Tensor& x, const Shape& axes) { return flip(x, axes, nullptr); }
void flip_into(const Tensor& y, const Tensor& x, const Shape& axes) { flip(x, axes, &y); }

void write_bytes(const Tensor& dst, const void* bytes) {
  require(dst.defined(), "write_bytes", "the tensor is undefined");
  if (!dst.is_contiguous()) return copy_into(dst, from_bytes(bytes, dst.shape(), dst.dtype(), dst.device()));
  if (dst.numel() == 0) return;
  dst.impl()->storage->written();
  runtime::write(*dst.impl()->storage->block, byte_position(dst), bytes,
                 static_cast<std::size_t>(dst.numel()) * size_of(dst.dtype()));
}

void fill_into(const Tensor& dst, const Scalar& value) {
  require(dst.defined(), "fill_into", "the tensor is undefined");
  require_no_overlap("fill_into", dst);
  Scalar number = value;
  if (dst.dtype() == DType::boolean)
    number = value.as_double() != 0 ? 1 : 0;
  else if (!is_floating(dst.dtype()))
    number = is_floating(value.dtype()) ? whole_bits(value.as_double(), dst.dtype()) : value.as_int();
  fill_kernels(dst.dtype()).run_into("fill_into", {}, {&number, 1}, {&dst, 1});
}

void add_copy(Plan& plan, Place from, Place to, std::int64_t count) {
  const auto copy = [](runtime::DeviceState&, std::span<const runtime::KernelArg> args) {
    const runtime::BufferView &source = args[0].view(), &target = args[1].view();
    std::int64_t elements = 0;
    std::memcpy(&elements, args[2].data(), sizeof elements);
    runtime::copy(*source.block, 4 * source.offset, *target.block, 4 * target.offset,
                  4 * static_cast<std::size_t>(elements));
  };
  plan.add_call(copy, from, to, count);
}

}  // namespace crisol::ops
