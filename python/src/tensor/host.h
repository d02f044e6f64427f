// Reads of elements to the host, which wait.
#pragma once

#include <nanobind/nanobind.h>

#include "crisol/tensor.h"

namespace crisol::python {

/// Copies the elements to host memory, outermost axis first, and waits for them with the interpreter's lock free. A
/// signal like Ctrl-C ends the wait with Python's exception.
void read_elements(const Tensor& x, void* bytes);

/// Waits in the same way until all queued work of a device is done.
void wait_for_device(Device device);

/// An element in host memory as a Python number.
nanobind::object element_object(const unsigned char* at, DType dtype);

}  // namespace crisol::python
