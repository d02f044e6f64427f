// Arbitrary bytes as a file of stored variants. Reading returns no entries, or entries that are written and read again
// unchanged.
#include <string>
#include <string_view>

#include "base/hash.h"
#include "dispatch/stored/tuning.h"
#include "expect.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

/// A file with these lines and their checksum, because mutations alone would hardly ever find a correct checksum.
std::string file_of(std::string_view lines) {
  char checksum[20];
  std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(hash_of(lines)));
  const std::string empty = dispatch::write_tuning({});
  return empty.substr(0, empty.size() - 17) + checksum + '\n' + std::string(lines);
}

}  // namespace

/// The first byte decides whether the rest is a whole file or only its lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  if (count == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes + 1), count - 1);
  const std::string text = bytes[0] % 2 == 1 ? file_of(rest) : std::string(rest);
  const dispatch::TuningFile file = dispatch::read_tuning(text);
  expect(file.fault == nullptr || file.entries.empty(), "nothing of a damaged file is used");
  const std::string written = dispatch::write_tuning(file.entries);
  const dispatch::TuningFile again = dispatch::read_tuning(written);
  expect(again.fault == nullptr && again.entries.size() == file.entries.size(), "what was read can be written");
  expect(dispatch::write_tuning(again.entries) == written, "entries are written and read as they were");
  const dispatch::TuningTable table(file.entries);
  expect(table.empty() == file.entries.empty(), "the table holds the entries");
  return 0;
}
