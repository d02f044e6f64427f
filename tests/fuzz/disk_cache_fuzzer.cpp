// Arbitrary bytes as a file in the folder of compiled programs. Loading returns no program, or a program that is stored
// and loaded again unchanged.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "expect.h"
#include "runtime/program/disk_cache.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

constexpr const char* key = "a program's identity";

struct Header {
  char magic[8];
  std::uint64_t key_hash, text_size, binary_size, checksum;
};

/// Writes the checksum of the content into the header. Mutations alone would hardly ever find a correct checksum.
void mend(std::string& file) {
  Header header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  const std::string_view rest = std::string_view(file).substr(sizeof header);
  if (header.text_size > rest.size()) return;
  header.checksum = hash_of(rest.substr(header.text_size), hash_of(rest.substr(0, header.text_size)));
  std::memcpy(file.data(), &header, sizeof header);
}

}  // namespace

/// The first byte decides whether the checksum is corrected.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  if (count == 0) return 0;
  static const testing::TemporaryFolder folder;
  static const runtime::DiskCache cache(folder.path());
  std::string content(reinterpret_cast<const char*>(bytes + 1), count - 1);
  if (bytes[0] % 2 == 1) mend(content);
  std::ofstream(cache.path_of(key), std::ios::binary) << content;

  const auto loaded = cache.load(key);
  expect(cache.entries().size() == 1, "every file is listed");
  if (!loaded) return 0;
  // A title and each name take one line. So a program that was read is written again unchanged.
  cache.store(key, *loaded);
  const auto again = cache.load(key);
  expect(again && again->title == loaded->title && again->warmed == loaded->warmed && again->binary == loaded->binary,
         "a program is stored and loaded as it was");
  return 0;
}
