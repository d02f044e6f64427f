// Arbitrary bytes as .npy and .npz files. Reading returns arrays, or fails with an io error.
#include "crisol/io/npy.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  const bool no_array = refused(ErrorCode::io, [&] {
    const Tensor array = io::load_npy(file.path());
    expect(array.numel() <= static_cast<std::int64_t>(count), "there are no more elements than bytes");
  });
  const bool no_archive = refused(ErrorCode::io, [&] { io::load_npz(file.path()); });
  expect(no_array || no_archive, "no file is both");
  return 0;
}
