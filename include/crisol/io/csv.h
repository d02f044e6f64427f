// Tables as text: CSV files (RFC 4180).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// The format of a CSV file.
struct CsvOptions {
  char separator = ',';  ///< The character between fields. It must not be a quote, a line end or zero.
  bool header = true;    ///< The first row holds the columns' names. Otherwise they are "0", "1", ….
};

/// A table of text. A field may be enclosed in double quotes. Two double quotes inside such a field mean one. Lines end
/// with LF or CR LF. Blanks are part of the fields. Empty lines are skipped.
class CRISOL_API Csv {
 public:
  /// Reads a file. Throws Error (ErrorCode::io), with file, line and reason, for these faults:
  /// - The file is missing or empty, or holds a zero byte.
  /// - A row has more or fewer fields than the first row.
  /// - A quote is inside or after a field, or has no end.
  /// - A column name appears twice.
  explicit Csv(const std::string& path, const CsvOptions& options = {});

  /// The number of rows without the header.
  std::int64_t rows() const noexcept { return rows_; }
  /// The columns' names in the file's order.
  const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// One field. This function and the functions below throw invalid_argument for a row or column that does not exist.
  std::string_view text(std::int64_t row, const std::string& column) const;
  /// The given columns as numbers: (rows, columns.size()) f32. Throws io, with the line, for a field that is no decimal
  /// number. "nan" and "inf" are numbers. An empty field is not a number.
  Tensor numbers(const std::vector<std::string>& columns, Device device = Device()) const;
  /// All other columns as numbers, in the file's order: (rows, number of other columns) f32. For example,
  /// `numbers_except({"label"})` gives the features of a table with one column of labels. Throws the same errors as
  /// numbers().
  Tensor numbers_except(const std::vector<std::string>& columns, Device device = Device()) const;
  /// One column as class numbers: (rows) i64. The text names[i] is class i. If `names` is left out, class_names(column)
  /// is used. Throws io, with the line, for a field that is not in `names`.
  Tensor classes(const std::string& column, const std::vector<std::string>& names = {}, Device device = Device()) const;
  /// The different texts of a column, sorted.
  std::vector<std::string> class_names(const std::string& column) const;

 private:
  struct Range {
    std::size_t begin, length;
  };

  std::size_t column_index(const std::string& column) const;
  std::string_view field(std::int64_t row, std::size_t column) const;
  template <class... Parts>
  [[noreturn]] void refuse(std::int64_t row, std::size_t column, const Parts&... parts) const;

  std::string path_, text_;
  std::vector<std::string> columns_;
  std::vector<Range> fields_;            // Fields, row by row.
  std::vector<std::int64_t> row_lines_;  // The line on which each row begins.
  std::int64_t rows_ = 0;
};

}  // namespace crisol::io
