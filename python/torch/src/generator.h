// PyTorch's generator over the library's.
#pragma once

#include <ATen/core/Generator.h>

#include <optional>

#include "crisol/random.h"

namespace crisol_torch {

/// The generator of a device that functions use if none is given.
const at::Generator& default_generator(int device);
/// A new generator with PyTorch's usual seed.
at::Generator make_generator(int device);

/// The library's generator behind a given one. Without one, it is the default generator of the device. Refuses a
/// generator of another device.
crisol::Generator generator_of(const std::optional<at::Generator>& given, crisol::Device device);

}  // namespace crisol_torch
