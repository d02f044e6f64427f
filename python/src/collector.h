// What Python's garbage collector sees of the objects that the library keeps.
//
// A type's traverse function visits each reference that the C++ object owns, once. If several owners share a part of a
// graph, a full collection gives the part a stand-in: a Python object that each of them visits, and that visits what
// the part keeps. In other collections none of them visits it. So the collector may keep an object too long, but never
// frees it too early.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "bindings.h"
#include "crisol/graph_parts.h"

namespace crisol::python {

/// A Python function that the graph of a tensor keeps.
class GraphFunction {
 public:
  explicit GraphFunction(nb::handle function);
  /// The function. Needs the lock.
  nb::handle get() const noexcept { return function_.get(); }
  /// Whether the process has such a function.
  static bool any() noexcept { return count.load(std::memory_order_relaxed) > 0; }

 private:
  static void release(PyObject* function) noexcept;

  static inline std::atomic<std::int64_t> count{0};
  std::shared_ptr<PyObject> function_;
};

/// A hook of a tensor: hook(gradient).
struct GradientCall {
  GraphFunction function;
  Tensor operator()(const Tensor& gradient) const;
};
/// A hook of a leaf: hook(leaf).
struct LeafCall {
  GraphFunction function;
  void operator()(const Tensor& leaf) const;
};
/// The function of a custom function: backward(dy, inputs, result).
struct BackwardCall {
  GraphFunction function;
  std::vector<Tensor> operator()(const Tensor& dy, const std::vector<Tensor>& x, const Tensor& y) const;
};
/// The function of watched tensors: function(gradients).
struct WatchCall {
  GraphFunction function;
  std::vector<Tensor> operator()(const std::vector<Tensor>& gradients) const;
};

/// The function of a checkpoint: function(inputs).
struct CheckpointCall {
  GraphFunction function;
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;
};

/// Tensors as a list for Python, with None for undefined ones.
nb::list with_none(const std::vector<Tensor>& tensors);
/// The tensors of a Python sequence. None becomes an undefined tensor.
std::vector<Tensor> tensors_of(nb::handle sequence);

inline GraphPart part_of(const Tensor& tensor) { return {GraphPart::Kind::tensor, tensor.impl()}; }
/// Visits what lives only because of this number of owners of a part.
int visit_graph(const GraphPart& part, std::int64_t owners, visitproc visit, void* arg);
/// Whether parts of graphs with several owners have stand-ins, so that each owner visits only what it owns itself.
bool counts_owners() noexcept;
void bind_collector(nb::module_& m);

/// The slots of the type Tensor.
int traverse_tensor(PyObject* self, visitproc visit, void* arg);
int clear_tensor(PyObject* self);

/// The slot of the type Optimizer.
int traverse_optimizer(PyObject* self, visitproc visit, void* arg);

/// The traverse and clear functions of an ordinary class with attributes. The first such class sets them.
inline traverseproc traverse_attributes = nullptr;
inline inquiry clear_attributes = nullptr;

/// The slots of a class whose objects own references. references() lists these, and forget() releases them.
template <class T, bool attributes>
int traverse_references(PyObject* self, visitproc visit, void* arg) {
  if (attributes) {
    if (const int stop = traverse_attributes(self, visit, arg)) return stop;
  } else {
    Py_VISIT(Py_TYPE(self));
  }
  if (!nb::inst_ready(self)) return 0;
  for (PyObject* object : nb::inst_ptr<T>(self)->references()) Py_VISIT(object);
  return 0;
}
template <class T, bool attributes>
int clear_references(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->forget();
  return attributes ? clear_attributes(self) : 0;
}
template <class T, bool attributes = false>
inline PyType_Slot reference_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_references<T, attributes>)},
                                        {Py_tp_clear, reinterpret_cast<void*>(&clear_references<T, attributes>)},
                                        {0, nullptr}};

}  // namespace crisol::python
