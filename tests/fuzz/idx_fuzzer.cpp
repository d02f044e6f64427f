// Arbitrary bytes as IDX files of images and labels, plain and gzipped. Reading returns the values that the header
// promises, or fails with an io error.
#include "crisol/io/idx.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  const bool no_images = refused(ErrorCode::io, [&] {
    const io::IdxImages images = io::read_idx_images(file.path());
    expect(images.count >= 0 && images.rows > 0 && images.columns > 0, "sizes are positive");
    expect(images.pixels.size() == static_cast<std::size_t>(images.count * images.rows * images.columns),
           "there are as many pixels as the sizes say");
  });
  const bool no_labels = refused(ErrorCode::io, [&] { io::read_idx_labels(file.path()); });
  expect(no_images || no_labels, "no file holds both images and labels");
  return 0;
}
