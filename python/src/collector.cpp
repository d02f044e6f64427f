#include "collector.h"

#include <map>

#include "arguments.h"
#include "callback.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

/// Stands for a part of a graph that several objects own together. It has one reference for each owner, so the
/// collector counts the owners that it knows.
struct StandIn {
  GraphPart part;
  std::int64_t owners;
};

using StandIns = std::map<std::weak_ptr<const void>, PyObject*, std::owner_less<>>;

/// The stand-ins while a full collection runs, else none.
StandIns stand_ins;
/// The stand-ins whose part was not visited yet, or null when all of them are known.
std::vector<PyObject*>* found = nullptr;
bool in_full_collection = false;

void make_stand_in(const GraphPart& part) {
  if (stand_ins.count(part.part) > 0) return;
  const std::int64_t owners = part.part.use_count();
  PyObject* const made = nb::cast(StandIn{part, owners}).release().ptr();
  for (std::int64_t i = 1; i < owners; ++i) Py_INCREF(made);
  stand_ins.emplace(part.part, made);
  found->push_back(made);
}

/// Passes the Python functions and the stand-ins that a part of a graph keeps to the garbage collector.
class Visitor : public PartVisitor {
 public:
  Visitor(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}
  void hook(const GradientHook& function) override { pass(function.target<GradientCall>()); }
  void leaf_hook(const std::function<void(const Tensor&)>& function) override { pass(function.target<LeafCall>()); }
  void backward(const BackwardFunction& function) override { pass(function.target<BackwardCall>()); }
  void watch(const GradientsFunction& function) override { pass(function.target<WatchCall>()); }
  void checkpoint(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& function) override {
    pass(function.target<CheckpointCall>());
  }
  void shared(const GraphPart& part, std::int64_t owners) override {
    if (found != nullptr) return make_stand_in(part);
    const auto at = stand_ins.find(part.part);
    // A finalizer may have changed the owners. Without the visits, the stand-in and what it keeps stay.
    if (at == stand_ins.end() || part.part.use_count() != nb::inst_ptr<StandIn>(at->second)->owners) return;
    for (std::int64_t i = 0; i < owners && stop_ == 0; ++i) stop_ = visit_(at->second, arg_);
  }
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

int traverse_stand_in(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const StandIn& of = *nb::inst_ptr<StandIn>(self);
  return visit_graph(of.part, of.owners, visit, arg);
}

PyType_Slot stand_in_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_stand_in)}, {0, nullptr}};

/// Makes the stand-ins for all parts of graphs that Python's objects keep.
void make_stand_ins() {
  std::vector<PyObject*> pending;
  found = &pending;
  const visitproc ignore = [](PyObject*, void*) { return 0; };
  for (const nb::handle object : nb::module_::import_("gc").attr("get_objects")()) {
    if (nb::isinstance<Tensor>(object)) traverse_tensor(object.ptr(), ignore, nullptr);
    if (nb::isinstance<optim::Optimizer>(object)) traverse_optimizer(object.ptr(), ignore, nullptr);
    if (nb::isinstance<nn::Module>(object) && nb::inst_ready(object)) visit_hooks(object.ptr(), ignore, nullptr);
  }
  while (!pending.empty()) {
    PyObject* const next = pending.back();
    pending.pop_back();
    traverse_stand_in(next, ignore, nullptr);
  }
}

/// Called by Python before and after each collection. Only a full collection is worth the time.
void at_collection(const std::string& phase, const nb::dict& info) {
  in_full_collection = phase == "start" && nb::cast<int>(info["generation"]) == 2 && GraphFunction::any();
  try {
    if (in_full_collection) make_stand_ins();
  } catch (const std::exception&) {
    // Without some stand-ins the collection finds less.
  }
  found = nullptr;
  if (in_full_collection) return;
  for (const auto& [part, object] : std::exchange(stand_ins, {}))
    for (std::int64_t i = nb::inst_ptr<StandIn>(object)->owners; i > 0; --i) Py_DECREF(object);
}

}  // namespace

bool counts_owners() noexcept { return in_full_collection; }

void bind_collector(nb::module_& m) {
  nb::class_<StandIn>(m, "StandIn", nb::type_slots(stand_in_slots));
  nb::module_::import_("gc").attr("callbacks").attr("append")(nb::cpp_function(&at_collection));
}

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

std::vector<Tensor> CheckpointCall::operator()(const std::vector<Tensor>& inputs) const {
  return with_python([&] { return tensors_of(function.get()(with_none(inputs))); });
}

int visit_graph(const GraphPart& part, std::int64_t owners, visitproc visit, void* arg) {
  Visitor visitor(visit, arg);
  visit_part(part, owners, visitor);
  return visitor.stop();
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!GraphFunction::any() || !nb::inst_ready(self)) return 0;
  return visit_graph(part_of(*nb::inst_ptr<Tensor>(self)), 1, visit, arg);
}

// An optimiser has each parameter twice: in a group, and in a list of its own.
int traverse_optimizer(PyObject* self, visitproc visit, void* arg) {
  if (const int stop = traverse_attributes(self, visit, arg)) return stop;
  if (!counts_owners() || !nb::inst_ready(self)) return 0;
  for (const optim::ParamGroup& group : nb::inst_ptr<optim::Optimizer>(self)->param_groups())
    for (const Tensor& parameter : group.params)
      if (const int stop = visit_graph(part_of(parameter), 2, visit, arg)) return stop;
  return 0;
}

int clear_tensor(PyObject* self) {
  if (GraphFunction::any() && nb::inst_ready(self)) *nb::inst_ptr<Tensor>(self) = Tensor();
  return 0;
}

}  // namespace crisol::python
