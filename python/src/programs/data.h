// Data sets of the library, and Python objects as orders of samples.
#pragma once

#include "bindings.h"

namespace crisol::python {

/// Reads a sampler: one of the library, or a Python object with __len__ and order(epoch) or __iter__.
std::shared_ptr<const io::Sampler> sampler_of(nb::handle object);

}  // namespace crisol::python
