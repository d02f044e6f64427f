// Reads of elements to the host, which wait.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "crisol/grad_mode.h"
#include "crisol/tensor.h"

namespace crisol::python {

/// Copies the elements to host memory, outermost axis first. Waits for them without the interpreter's lock. A signal
/// such as Ctrl-C ends the wait with Python's exception.
void read_elements(const Tensor& x, void* bytes);

/// Waits until all queued work of a device is done. A signal ends the wait as in read_elements.
void wait_for_device(Device device);

/// Call it before a function that waits inside the library. It waits for the device first if the wait may be long, so
/// that a signal can end the wait. The caller must hold the interpreter's lock.
void wait_ahead(Device device);

/// Turns a function that waits for its tensor into one that first calls wait_ahead.
template <class Result, class... Arguments>
auto waiting(Result (*function)(const Tensor&, Arguments...)) {
  return [function](const Tensor& x, Arguments... arguments) {
    wait_ahead(x.device());
    const nanobind::gil_scoped_release free;
    return function(x, arguments...);
  };
}

/// Elements in host memory, outermost axis first.
struct HostElements {
  std::vector<unsigned char> bytes;
  Shape shape;
  DType dtype;
};

/// The elements of a number, of nested sequences or of an object with a buffer. The default dtype is that of
/// asarray().
HostElements host_elements(nanobind::handle object, const std::optional<DType>& wanted = {});

/// The same elements as a tensor.
Tensor from_host(nanobind::handle object, Device device);

/// An element in host memory as a Python number.
nanobind::object element_object(const unsigned char* at, DType dtype);

/// Whether a gradient may be wanted of what is computed of x.
inline bool is_recorded(const Tensor& x) { return x.requires_grad() && grad_enabled(); }

}  // namespace crisol::python
