// The bindings that are not about arrays and training: files, data, graphs, kernels, measurements.
#pragma once

#include <filesystem>
#include <string>

#include "bindings.h"

namespace crisol::python {

/// The device for new tensors of a function: the given device, or the default device.
inline Device or_default(const std::optional<Device>& device) { return device ? *device : Device(); }

/// The path of a file as text. Raises MissingFileError if there is no such file or folder.
std::string existing(const std::filesystem::path& path);

void bind_files(nb::module_& m);
void bind_data(nb::module_& m);
void bind_datasets(nb::module_& m);
void bind_onnx(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_fuse(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_measurements(nb::module_& m);

}  // namespace crisol::python
