// The devices of the library as devices of PyTorch: "crisol:0" is the library's default device, and the other devices
// follow in the library's order.
#pragma once

#include <cstdint>

#include "crisol/device.h"

namespace crisol_torch {

/// The number of devices that have a compiler.
int device_count();
/// The device "crisol:index". Refuses an index out of range.
crisol::Device device_at(int index);
/// The index of a device.
int index_of(crisol::Device device);

/// This thread's current device.
int current_device() noexcept;
/// Changes this thread's current device, and returns the one before.
int exchange_device(int index);

/// Registers the device's guard and its hooks with PyTorch.
void register_device();

}  // namespace crisol_torch
