#include "collector.h"

#include "arguments.h"
#include "callback.h"
#include "crisol/gradients.h"

namespace crisol::python {

namespace {

/// Passes the Python functions that a tensor keeps to the garbage collector.
class Visitor : public FunctionVisitor {
 public:
  Visitor(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}
  void hook(const GradientHook& function) override { pass(function.target<GradientCall>()); }
  void leaf_hook(const std::function<void(const Tensor&)>& function) override { pass(function.target<LeafCall>()); }
  void backward(const BackwardFunction& function) override { pass(function.target<BackwardCall>()); }
  void watch(const GradientsFunction& function) override { pass(function.target<WatchCall>()); }
  int stop() const { return stop_; }

 private:
  template <class Call>
  void pass(const Call* call) {
    if (call != nullptr && stop_ == 0) stop_ = visit_(call->function.get().ptr(), arg_);
  }

  const visitproc visit_;
  void* const arg_;
  int stop_ = 0;
};

}  // namespace

GraphFunction::GraphFunction(nb::handle function) : function_(function.inc_ref().ptr(), &GraphFunction::release) {
  count.fetch_add(1, std::memory_order_relaxed);
}

void GraphFunction::release(PyObject* function) noexcept {
  count.fetch_sub(1, std::memory_order_relaxed);
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire lock;
  Py_DECREF(function);
}

nb::list with_none(const std::vector<Tensor>& tensors) {
  nb::list list;
  for (const Tensor& x : tensors) list.append(nb::cast(if_defined(x)));
  return list;
}

std::vector<Tensor> tensors_of(nb::handle sequence) {
  std::vector<Tensor> tensors;
  for (const nb::handle x : sequence) tensors.push_back(x.is_none() ? Tensor() : nb::cast<Tensor>(x));
  return tensors;
}

Tensor GradientCall::operator()(const Tensor& gradient) const {
  return with_python([&] {
    const nb::object result = function.get()(gradient);
    if (!result.is_none() && !nb::isinstance<Tensor>(result)) {
      PyErr_Format(PyExc_TypeError, "a hook of register_hook() returned a %S; it returns a tensor or None",
                   result.type().attr("__name__").ptr());
      throw nb::python_error();
    }
    return result.is_none() ? Tensor() : nb::cast<Tensor>(result);
  });
}

void LeafCall::operator()(const Tensor& leaf) const {
  with_python([&] { function.get()(leaf); });
}

std::vector<Tensor> BackwardCall::operator()(const Tensor& dy, const std::vector<Tensor>& x, const Tensor& y) const {
  return with_python([&] { return tensors_of(function.get()(dy, with_none(x), y)); });
}

std::vector<Tensor> WatchCall::operator()(const std::vector<Tensor>& gradients) const {
  return with_python([&] { return tensors_of(function.get()(with_none(gradients))); });
}

int visit_graph(const Tensor& tensor, std::int64_t handles, visitproc visit, void* arg) {
  Visitor visitor(visit, arg);
  visit_functions(tensor, handles, visitor);
  return visitor.stop();
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!GraphFunction::any() || !nb::inst_ready(self)) return 0;
  return visit_graph(*nb::inst_ptr<Tensor>(self), 1, visit, arg);
}

int clear_tensor(PyObject* self) {
  if (GraphFunction::any() && nb::inst_ready(self)) *nb::inst_ptr<Tensor>(self) = Tensor();
  return 0;
}

}  // namespace crisol::python
