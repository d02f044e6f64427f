// Reads of elements to the host, which wait.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::python {

/// Copies the elements to host memory, outermost axis first, and waits for them with the interpreter's lock free. A
/// signal like Ctrl-C ends the wait with Python's exception.
void read_elements(const Tensor& x, void* bytes);

/// Waits in the same way until all queued work of a device is done.
void wait_for_device(Device device);

/// Makes the wait of a function that waits inside the library, if this wait may be long: here a signal ends it. The
/// caller holds the interpreter's lock.
void wait_ahead(Device device);

/// A function of the library that waits for its tensor, as a function that first waits in this way.
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

/// The elements of a number, of nested sequences or of an object with a buffer. Without a dtype, the dtype of
/// asarray().
HostElements host_elements(nanobind::handle object, const std::optional<DType>& wanted = {});

/// The same elements as a tensor.
Tensor from_host(nanobind::handle object, Device device);

/// An element in host memory as a Python number.
nanobind::object element_object(const unsigned char* at, DType dtype);

}  // namespace crisol::python
