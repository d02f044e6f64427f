// Data sets of the library, and Python objects as data sets.
#pragma once

#include "bindings.h"

namespace crisol::python {

/// A data set of the library, or a Python object with __len__ and __getitem__.
io::SharedDataset dataset_of(nb::handle object);

}  // namespace crisol::python
