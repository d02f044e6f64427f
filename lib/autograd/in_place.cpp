#include "autograd/in_place.h"

#include <cstring>
#include <memory>

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"
#include "ops/collapse.h"

namespace crisol::autograd {

namespace {

/// Where a view's elements are in the whole tensor, of which the view shows a part.
struct Region {
  Shape whole, whole_strides, shape, strides;
  std::int64_t first = 0;  ///< The distance from the whole tensor's first element to the view's first element.

  Region(const Tensor& of, const Tensor& view)
      : whole(of.shape()),
        whole_strides(of.strides()),
        shape(view.shape()),
        strides(view.strides()),
        first(view.offset() - of.offset()) {}

  /// New memory for the whole tensor, in the tensor's layout.
  Tensor memory(const Tensor& like, bool cleared) const {
    std::int64_t span = 1;
    for (int i = 0; i < whole.rank(); ++i) span += (whole[i] - 1) * whole_strides[i];
    const Shape size{whole.numel() == 0 ? 0 : span};
    return cleared ? zeros(size, like.dtype(), like.device()) : empty(size, like.dtype(), like.device());
  }
  Tensor whole_in(const Tensor& memory) const { return make_view(memory, whole, whole_strides, 0); }
  Tensor view_in(const Tensor& memory) const { return make_view(memory, shape, strides, first); }
};

Tensor put(const Tensor& whole, const Tensor& values, const Tensor& like, const Region& region);

/// The elements of a tensor at the place of a view. The op has a gradient.
Tensor take(const Tensor& whole, const Region& region) {
  const bool in_order = whole.is_contiguous() && contiguous_strides(region.whole) == region.whole_strides;
  Tensor y;
  if (in_order) {
    y = make_view(whole, region.shape, region.strides, whole.offset() + region.first);
  } else {
    const Tensor memory = region.memory(whole, false);
    ops::copy_into(region.whole_in(memory), whole);
    y = region.view_in(memory);
  }
  return call("view", {whole}, y, unnoted,
              [&] { return [region](const Tensor& dy) { return put(Tensor(), dy, dy, region); }; });
}

/// If a view shows elements repeatedly, the values for such an element are added up. The region then has each element
/// once.
Tensor sum_of_repeats(const Tensor& values, Region& region) {
  for (int i = 0; i < region.shape.rank(); ++i)
    if (region.strides[i] == 0 && region.shape[i] > 1) region.shape[i] = 1;
  return sum_to_shape(values, region.shape);
}

/// The elements of `whole`, with `values` at the place of a view. Undefined tensors count as zeros.
Tensor put(const Tensor& whole, const Tensor& given, const Tensor& like, const Region& original) {
  Region region = original;
  const Tensor values = given.defined() ? sum_of_repeats(given, region) : given;
  const Tensor memory = region.memory(like, true), y = region.whole_in(memory);
  if (whole.defined()) ops::copy_into(y, whole);
  if (values.defined())
    ops::copy_into(region.view_in(memory), values);
  else
    ops::fill_into(region.view_in(memory), 0);
  return call("view_backward", {whole, values}, y, unnoted, [&] {
    return [region](const Tensor& dy, Needs needs) {
      return Gradients{needs[0] ? put(dy, Tensor(), dy, region) : Tensor(), needs[1] ? take(dy, region) : Tensor()};
    };
  });
}

/// A new place in the graph for a result of an op. Computes nothing.
std::shared_ptr<Slot> place_of_result(const char* op, const std::vector<Tensor>& inputs, Node::Backward backward) {
  auto slot = std::make_shared<Slot>();
  slot->node = std::make_shared<Node>(op, 1, inputs, std::move(backward));
  return slot;
}

/// Gives a tensor a place in the graph. The tensor keeps its grad(), and stays marked by retain_grad().
void set_place(const Tensor& x, std::shared_ptr<AutogradSlot> place) {
  TensorImpl& impl = *x.impl();
  const std::shared_ptr<AutogradSlot> before = std::exchange(impl.autograd, std::move(place));
  const Slot* const old = static_cast<Slot*>(before.get());
  if (old == nullptr || old->node == nullptr || impl.autograd == nullptr) return;
  Slot& now = static_cast<Slot&>(*impl.autograd);
  now.gradient = old->gradient;
  for (Watched& watched : old->node->watched) {
    if (watched.output != old->output || watched.retained.lock() != before) continue;
    watched.retained.reset();
    now.node->watch(now.output).retained = impl.autograd;
  }
}

/// Throws for a view that comes from split(), as PyTorch does: the other results would need new places in the graph.
void refuse_one_of_several(const char* op, const Tensor& x, const Tensor& whole) {
  const Slot* const slot = slot_of(x);
  const Slot* const end = slot_of(whole);
  const Node* node = slot == nullptr ? nullptr : slot->node.get();
  while (node != nullptr && (end == nullptr || node != end->node.get())) {
    require(std::strcmp(node->op, "split") != 0, op,
            "a view that split(), chunk() or unbind() returned, among several, ",
            "is changed in place while ops are recorded; use an index, such as x[i], or clone() it");
    node = node->edges.empty() ? nullptr : node->edges[0].node.get();
  }
}

}  // namespace

Tensor sum_to_shape(const Tensor& dy, const Shape& shape) {
  if (dy.shape() == shape) return dy;
  return call("sum_to", {dy}, ops::sum_to(dy, shape), unnoted,
              [&] { return [from = dy.shape()](const Tensor& ddy) { return ddy.expand(from); }; });
}

void require_written(const char* op, const Tensor& x) {
  require(x.defined(), op, "the tensor to be written is undefined");
}

bool records_write(const char* op, const Tensor& x, bool value_wants_gradient) {
  require_written(op, x);
  if (!grad_enabled()) return false;
  const Tensor whole = whole_of(x);
  for (const Tensor* leaf : {&x, &whole})
    require(!(leaf->is_leaf() && leaf->requires_grad()), op, "a leaf that wants a gradient",
            leaf == &whole && whole.impl() != x.impl() ? " is changed in place through a view" : " is changed in place",
            " while ops are recorded; use crisol::NoGrad, or detach() it");
  const bool records = (value_wants_gradient && is_floating(x.dtype())) || x.requires_grad() || whole.requires_grad();
  if (!records) return false;
  require(whole.impl() == x.impl() || x.impl()->view_of == whole.impl(), op,
          "a view that was made under crisol::NoGrad is changed in place while ops are recorded; make the view again");
  if (whole.impl() != x.impl()) refuse_one_of_several(op, x, whole);
  const Slot* slot = slot_of(whole);
  require(slot == nullptr || slot->tied.empty(), op,
          "a parameter that is tied to another one is changed in place while ops are recorded; use crisol::NoGrad");
  ops::require_no_overlap(op, x);
  ops::require_no_overlap(op, whole);
  return true;
}

void record_write(const char* op, const Tensor& x, const Tensor& result) {
  const Tensor whole = whole_of(x);
  if (whole.impl() == x.impl()) {
    set_place(x, result.impl()->autograd);
  } else {
    const Region region(whole, x);
    set_place(whole, place_of_result(op, {whole, result}, [region](const Gradients& dy, Needs needs) {
                return Gradients{needs[0] ? put(dy[0], Tensor(), dy[0], region) : Tensor(),
                                 needs[1] ? take(dy[0], region) : Tensor()};
              }));
  }
  ++whole.impl()->recorded_writes;
}

void write_result(const char* op, const Tensor& x, const Tensor& result) {
  ops::copy_into(x, result);
  record_write(op, x, result);
}

void follow_writes(const Tensor& view) {
  TensorImpl& impl = *view.impl();
  impl.recorded_writes = impl.view_of->recorded_writes;
  const Slot* const own = static_cast<Slot*>(impl.autograd.get());
  const Tensor whole(impl.view_of);
  if (impl.view_of->storage != impl.storage || (own != nullptr && own->wanted) || !whole.requires_grad()) return;
  set_place(view, place_of_result("view", {whole}, [region = Region(whole, view)](const Gradients& dy, Needs) {
              return Gradients{put(Tensor(), dy[0], dy[0], region)};
            }));
}

void note_view(const Tensor& result, const std::vector<Tensor>& inputs) {
  TensorImpl& impl = *result.impl();
  if (impl.view_of != nullptr) return;
  for (const Tensor& input : inputs) {
    if (!input.defined() || input.impl()->storage != impl.storage || input.impl() == result.impl()) continue;
    const Tensor whole = whole_of(input);
    if (whole.impl() == result.impl()) continue;
    impl.view_of = whole.impl();
    impl.recorded_writes = whole.impl()->recorded_writes;
    return;
  }
}

Tensor view_in_graph(const Tensor& x, const Shape& shape, const Shape& strides, std::int64_t offset) {
  const Tensor view = make_view(x, shape, strides, offset);
  if (grad_enabled()) follow_writes(view);
  return view;
}

}  // namespace crisol::autograd
