// Arbitrary bytes as a CSV file. Reading returns as many fields as it promises, or fails with an io error; so does the
// conversion to numbers.
#include "crisol/io/csv.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  for (const char separator : {',', ';'})
    refused(ErrorCode::io, [&] {
      const io::Csv table(file.path(), {separator, separator == ','});
      expect(!table.columns().empty(), "a table has a column");
      for (const std::string& column : table.columns()) {
        std::size_t length = 0;
        for (std::int64_t row = 0; row < table.rows(); ++row) length += table.text(row, column).size();
        expect(length <= count, "the fields are not longer than the file");
        expect(table.class_names(column).size() <= static_cast<std::size_t>(table.rows()), "no more classes than rows");
      }
      const Tensor numbers = table.numbers({table.columns()[0]});
      expect(numbers.numel() == table.rows(), "a number for each row");
    });
  return 0;
}
