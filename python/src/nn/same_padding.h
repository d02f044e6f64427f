// The paddings that PyTorch names by words.
#pragma once

#include "bindings.h"
#include "option_casters.h"

namespace crisol::python {

/// Reads the padding of a convolution: numbers, "valid" (none), or "same" (the output has the input's size).
IntSingle padding_of(nb::handle padding, IntSingle kernel, IntSingle stride, IntSingle dilation);
IntPair padding_of(nb::handle padding, IntPair kernel, IntPair stride, IntPair dilation);
IntTriple padding_of(nb::handle padding, IntTriple kernel, IntTriple stride, IntTriple dilation);

}  // namespace crisol::python
