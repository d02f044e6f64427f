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

/// How a CSV file is written.
struct CsvOptions {
  char separator = ',';  ///< Between fields; not a quote, a line end or zero.
  bool header = true;    ///< The first row holds the columns' names. Otherwise they are "0", "1", ….
};

/// A table of text. Fields may stand in double quotes; two of them inside mean one. Lines end with LF or CR LF.
/// Blanks belong to the fields. Empty lines are passed over.
class CRISOL_API Csv {
 public:
  /// Reads a file. Throws Error (ErrorCode::io), with the file, the line and what is wrong, for a file that is missing
  /// or empty, a row with more or fewer fields than the first, quotes inside or behind a field, a quote without its
  /// end, a zero byte, or a name that appears twice.
  explicit Csv(const std::string& path, const CsvOptions& options = {});

  /// Rows without the header.
  std::int64_t rows() const noexcept { return rows_; }
  /// The columns' names in the file's order.
  const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// One field. Throws invalid_argument for a row or column that is not there; so do all functions below.
  std::string_view text(std::int64_t row, const std::string& column) const;
  /// These columns as numbers: (rows, columns.size()) f32. Throws io for a field that is no decimal number, with its
  /// line. "nan" and "inf" are numbers; an empty field is not.
  Tensor numbers(const std::vector<std::string>& columns, Device device = Device()) const;
  /// One column as numbers of classes: (rows) i64. Class i is names[i], and names is class_names(column) if it is left
  /// out. Throws io for a field that is not among the names, with its line.
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
  std::vector<Range> fields_;            // Row by row.
  std::vector<std::int64_t> row_lines_;  // The line on which each row begins.
  std::int64_t rows_ = 0;
};

}  // namespace crisol::io
