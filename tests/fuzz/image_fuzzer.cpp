// Arbitrary bytes as a PNG or JPEG file. Reading returns as many pixels as it promises, or fails with an io error.
#include "crisol/io/image.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  for (const std::int64_t channels : {1, 3})
    refused(ErrorCode::io, [&] {
      const io::Image image = io::read_image(file.path(), channels);
      expect(image.height > 0 && image.width > 0 && image.channels == channels, "sizes are positive");
      expect(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * channels),
             "there are as many pixels as the sizes say");
      expect(io::resize(image, 5, 7).pixels.size() == static_cast<std::size_t>(35 * channels), "resize gives the size");
    });
  return 0;
}
