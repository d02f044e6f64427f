// Filling, joining, moving and padding elements, and windows as columns.
#include <cmath>

#include "call.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Tensor;
using Wholes = std::vector<std::int64_t>;

// (tensors, axis, out). PyTorch leaves out tensors of shape (0), and converts the others to one dtype.
void cat(const Call& c, const Tensor& out) {
  std::vector<Tensor> parts;
  for (const Tensor& part : c.tensors(0)) {
    if (part.dim() == 1 && part.numel() == 0 && out.dim() != 1) continue;
    parts.push_back(part.dtype() == out.dtype() ? part : ops::cast(part, out.dtype()));
  }
  need(!parts.empty(), "nothing to join");
  ops::cat_into(out, parts, c.axis(1));
}

void fill(const Call& c, const Tensor& x) {
  if (c.value(1).isScalar()) return ops::fill_into(x, c.scalar(1));
  const at::Tensor value = c.torch(1);
  need(value.dim() == 0, "a value of several elements");
  if (value.is_cpu()) return ops::fill_into(x, number_of(value));
  ops::copy_into(x, tensor_of(value));
}

// A factory gives its result the size itself.
Results made(const Call& c, at::IntArrayRef sizes, const std::function<Tensor(const Tensor& out)>& make) {
  const at::Tensor out = c.torch(c.size() - 1);
  if (out.sizes() != sizes) out.resize_(sizes);
  const Tensor target = tensor_of(out);
  ops::copy_into(target, make(target));
  return {c.value(c.size() - 1)};
}

// (start, end, step, out)
Results arange(const Call& c) {
  const crisol::Scalar start = c.scalar(0), end = c.scalar(1), step = c.scalar(2);
  const bool whole = !is_floating(start.dtype()) && !is_floating(end.dtype()) && !is_floating(step.dtype());
  const std::optional<DType> dtype = dtype_of(c.torch(3).scalar_type());
  need(dtype && (whole || is_floating(*dtype)), "whole numbers in steps of a fraction");
  const double steps = (end.as_double() - start.as_double()) / step.as_double();
  need(step.as_double() != 0 && std::isfinite(steps) && steps >= 0, "the range is not valid");
  return made(c, {static_cast<std::int64_t>(std::ceil(steps))}, [&](const Tensor& out) {
    return crisol::arange(start.as_double(), end.as_double(), step.as_double(), out.dtype(), out.device());
  });
}

// (start, end, steps, out)
Results linspace(const Call& c) {
  const std::optional<DType> dtype = dtype_of(c.torch(3).scalar_type());
  need(dtype && is_floating(*dtype) && c.whole(2) >= 0, "whole numbers at equal distances");
  return made(c, {c.whole(2)}, [&](const Tensor& out) {
    return crisol::linspace(c.number(0), c.number(1), c.whole(2), out.dtype(), out.device());
  });
}

Results eye(const Call& c) {
  const std::int64_t rows = c.whole(0), columns = c.size() == 3 ? c.whole(1) : rows;
  need(rows >= 0 && columns >= 0, "a negative size");
  return made(c, {rows, columns},
              [&](const Tensor& out) { return crisol::eye(rows, columns, out.dtype(), out.device()); });
}

// ---- Padding with a tensor's own elements, and windows as columns

enum class Filling { reflected, replicated };

// The positions that padding reads along an axis.
Tensor positions(std::int64_t size, std::int64_t before, std::int64_t after, Filling filling, crisol::Device device) {
  const std::int64_t last = size - 1;
  need(last >= 0 && size + before + after > 0, "padding without elements");
  need(filling == Filling::replicated || (before <= last && after <= last),
       "reflection of more elements than there are");
  Wholes list;
  for (std::int64_t i = -before; i < size + after; ++i)
    list.push_back(filling == Filling::replicated ? std::clamp(i, std::int64_t{0}, last)
                                                  : last - std::abs(last - std::abs(i)));
  return crisol::from_vector(list, crisol::DType::i64, device);
}

// The pairs of `padding` begin with the last axis.
Tensor padded(Tensor x, const Wholes& padding, Filling filling) {
  for (std::size_t i = 0; i + 1 < padding.size(); i += 2) {
    const int axis = x.dim() - 1 - static_cast<int>(i / 2);
    if (padding[i] == 0 && padding[i + 1] == 0) continue;
    x = crisol::index_select(x, axis, positions(x.size(axis), padding[i], padding[i + 1], filling, x.device()));
  }
  return x;
}

// (x, padding)
template <Filling filling>
Tensor pad(const Call& c) {
  return padded(c.tensor(0), c.wholes(1), filling);
}
// (dy, x, padding)
template <Filling filling>
Tensor pad_backward(const Call& c) {
  const Wholes padding = c.wholes(2);
  return gradients([&](const std::vector<Tensor>& x) { return padded(x[0], padding, filling); }, {c.tensor(1)},
                   c.tensor(0))[0];
}

// Sizes of a window: kernel, dilation, padding and stride, two each.
struct Windows {
  Wholes kernel, dilation, padding, stride;
};
Windows windows_of(const Call& c, std::size_t first) {
  Windows windows{c.wholes(first), c.wholes(first + 1), c.wholes(first + 2), c.wholes(first + 3)};
  for (const Wholes* list : {&windows.kernel, &windows.dilation, &windows.padding, &windows.stride})
    need(list->size() == 2, "windows without two axes");
  return windows;
}

// Windows of (N, C, H, W) as columns (N, C · kernel, windows).
Tensor columns(const Tensor& x, const Windows& w) {
  const Tensor y = crisol::pad(x, {{w.padding[1], w.padding[1]}, {w.padding[0], w.padding[0]}});
  const auto count = [&](std::size_t i) {
    const std::int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    const std::int64_t size = y.size(static_cast<int>(i) + 2);
    need(size >= reach, "windows that are larger than the image");
    return (size - reach) / w.stride[i] + 1;
  };
  const std::int64_t rows = count(0), across = count(1);
  const crisol::Shape result{y.size(0), y.size(1) * w.kernel[0] * w.kernel[1], rows * across};
  if (result.numel() == 0) return crisol::zeros(result, x.dtype(), x.device());
  const crisol::Shape& s = y.strides();
  const Tensor view = crisol::as_strided(
      y, {y.size(0), y.size(1), w.kernel[0], w.kernel[1], rows, across},
      {s[0], s[1], w.dilation[0] * s[2], w.dilation[1] * s[3], w.stride[0] * s[2], w.stride[1] * s[3]});
  return view.reshape(result);
}

// (x, kernel, dilation, padding, stride)
Tensor im2col(const Call& c) {
  const Tensor x = c.tensor(0);
  if (x.dim() == 4) return columns(x, windows_of(c, 1));
  need(x.dim() == 3, "an image without channels");
  return ops::select(columns(ops::unsqueeze(x, 0), windows_of(c, 1)), 0, 0);
}

// (columns, output size, kernel, dilation, padding, stride): the gradient of im2col, which is linear.
Tensor col2im(const Call& c) {
  const Tensor given = c.tensor(0);
  const Windows windows = windows_of(c, 2);
  const Wholes size = c.wholes(1);
  need(size.size() == 2 && given.numel() != 0 && (given.dim() == 2 || given.dim() == 3), "the shape of columns");
  const bool batch = given.dim() == 3;
  const Tensor dy = batch ? given : ops::unsqueeze(given, 0);
  const std::int64_t channels = dy.size(1) / (windows.kernel[0] * windows.kernel[1]);
  const Tensor x = crisol::zeros({dy.size(0), channels, size[0], size[1]}, dy.dtype(), dy.device());
  const Tensor image = gradients([&](const std::vector<Tensor>& in) { return columns(in[0], windows); }, {x}, dy)[0];
  return batch ? image : ops::select(image, 0, 0);
}

// (dy, size of x, axis, size of a window, step): the gradient of unfold, which gives windows as a last axis.
Tensor unfold_backward(const Call& c) {
  const Tensor dy = c.tensor(0);
  const crisol::Shape sizes = c.shape(1);
  need(sizes.rank() > 0 && dy.numel() != 0, "windows of a number");
  const Tensor x = crisol::zeros(sizes, dy.dtype(), dy.device());
  std::vector<std::int64_t> strides;
  for (int i = 0; i < x.dim(); ++i) strides.push_back(x.strides()[i]);
  const auto axis = static_cast<std::size_t>(c.axis(2) < 0 ? c.axis(2) + x.dim() : c.axis(2));
  strides.push_back(strides[axis]);
  strides[axis] *= c.whole(4);
  return gradients([&](const std::vector<Tensor>& in) { return crisol::as_strided(in[0], dy.shape(), strides); }, {x},
                   dy)[0];
}

// (x, groups): channel i of a group comes to lie beside channel i of the other groups.
Tensor channel_shuffle(const Call& c) {
  const Tensor x = c.tensor(0);
  const std::int64_t groups = c.whole(1);
  need(x.dim() > 2 && groups > 0 && x.numel() != 0 && x.size(1) % groups == 0, "groups of channels");
  const Tensor grouped = ops::reshape(x, {x.size(0), groups, x.size(1) / groups, -1});
  return ops::reshape(ops::contiguous(ops::transpose(grouped, 1, 2)), x.shape());
}

Run copied(Tensor (*f)(const Call&)) {
  return into([f](const Call& c, const Tensor& out) { ops::copy_into(out, f(c)); });
}

}  // namespace

Rows layout_rows() {
  constexpr Filling reflected = Filling::reflected, replicated = Filling::replicated;
  return {
      {"fill_.Scalar", in_place(fill)},
      {"fill_.Tensor", in_place(fill)},
      {"zero_", in_place([](const Call&, const Tensor& x) { ops::fill_into(x, 0); })},
      {"cat.out", into(cat)},
      {"flip", gives([](const Call& c) { return ops::flip(c.tensor(0), c.shape(1)); })},
      {"roll", gives([](const Call& c) { return crisol::roll(c.tensor(0), c.shape(1), c.shape(2)); })},
      {"tril.out", into([](const Call& c, const Tensor& out) { ops::tril_into(out, c.tensor(0), c.whole(1)); })},
      {"triu.out", into([](const Call& c, const Tensor& out) { ops::triu_into(out, c.tensor(0), c.whole(1)); })},
      {"arange.start_out", arange},
      {"linspace.out", linspace},
      {"eye.out", eye},
      {"eye.m_out", eye},
      {"reflection_pad1d.out", copied(pad<reflected>)},
      {"reflection_pad2d", gives(pad<reflected>)},
      {"reflection_pad3d.out", copied(pad<reflected>)},
      {"replication_pad1d.out", copied(pad<replicated>)},
      {"replication_pad2d.out", copied(pad<replicated>)},
      {"replication_pad3d.out", copied(pad<replicated>)},
      {"reflection_pad1d_backward.grad_input", copied(pad_backward<reflected>)},
      {"reflection_pad2d_backward", gives(pad_backward<reflected>)},
      {"reflection_pad3d_backward.grad_input", copied(pad_backward<reflected>)},
      {"replication_pad1d_backward.grad_input", copied(pad_backward<replicated>)},
      {"replication_pad2d_backward", gives(pad_backward<replicated>)},
      {"replication_pad3d_backward", gives(pad_backward<replicated>)},
      {"im2col", gives(im2col)},
      {"col2im", gives(col2im)},
      {"unfold_backward", gives(unfold_backward)},
      {"channel_shuffle", gives(channel_shuffle)},
  };
}

}  // namespace crisol_torch
