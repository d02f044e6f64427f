// Arbitrary bytes as a safetensors file. Loading fails with an io error, or returns tensors. Saving and loading these
// tensors again changes nothing.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "crisol/io/safetensors.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

// Saved in memory if the system has such a folder.
const std::string& saved_path() {
  static const std::string path = [] {
    const std::filesystem::path folder =
        std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    return (folder / ("crisol-fuzz-" + std::to_string(getpid()) + ".safetensors")).string();
  }();
  return path;
}

std::string saved(const NamedTensors& tensors, const io::Metadata& metadata) {
  io::save_safetensors(saved_path(), tensors, metadata);
  std::ifstream file(saved_path(), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(saved_path());
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  io::SafetensorsHeader header;
  if (refused(ErrorCode::io, [&] { header = io::parse_safetensors(file.path()); })) return 0;
  for (const io::SafetensorsEntry& entry : header.entries)
    expect(header.data_begin + entry.end <= count, "a tensor lies within the file");
  NamedTensors tensors;
  io::Metadata metadata;
  // Data can still be wrong after a valid header, for example a BOOL that is neither 0 nor 1.
  if (refused(ErrorCode::io, [&] { tensors = io::load_safetensors(file.path(), Device(), &metadata); })) return 0;
  expect(tensors.size() == header.entries.size() && metadata == header.metadata, "a file holds what its header says");

  const std::string once = saved(tensors, metadata);
  const MemoryFile again(reinterpret_cast<const std::uint8_t*>(once.data()), once.size());
  io::Metadata metadata_again;
  const NamedTensors tensors_again = io::load_safetensors(again.path(), Device(), &metadata_again);
  expect(saved(tensors_again, metadata_again) == once, "what was saved is loaded as it was");
  return 0;
}
