#include "crisol/io/npy.h"

#include "io/files/zip_file.h"
#include "io/npy_array.h"

namespace crisol::io {

namespace {

Tensor tensor_of(const NpyArray& array, Device device) {
  return from_bytes(array.elements.data(), array.shape, array.dtype, device);
}

}  // namespace

Tensor load_npy(const std::string& path, Device device) {
  InputFile file("load_npy", path);
  const std::string bytes = file.read_all();
  if (const std::string kind = file.kind(); !kind.empty() && !bytes.starts_with('\x93'))
    file.refuse("this is ", kind, ", not a .npy file");
  return tensor_of(parse_npy(file, "", bytes), device);
}

NamedTensors load_npz(const std::string& path, Device device) {
  constexpr std::string_view suffix = ".npy";
  ZipFile zip("load_npz", path);
  NamedTensors tensors;
  for (const ZipEntry& entry : zip.entries()) {
    std::string name = entry.name;
    if (!name.ends_with(suffix))
      zip.file().refuse("\"", name.substr(0, 80), "\" in the archive is no .npy file",
                        name.find("data.pkl") == name.npos ? "" : ": this is a file of PyTorch");
    name.resize(name.size() - suffix.size());
    for (const auto& [other, tensor] : tensors)
      if (other == name) zip.file().refuse("two arrays are named \"", name.substr(0, 80), '"');
    tensors.emplace_back(name, tensor_of(parse_npy(zip.file(), name, zip.read(entry)), device));
  }
  return tensors;
}

}  // namespace crisol::io
