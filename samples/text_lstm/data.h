// A text as batches: the network reads several places of the text side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace text_lstm {

/// A text cut into `count` streams of equal length. Row t holds the t-th character of every stream. Characters that do
/// not fill a row are left out.
class Streams {
 public:
  /// Uses the characters begin … end-1, which must be more than count.
  Streams(const std::vector<std::int64_t>& characters, std::size_t begin, std::size_t end, std::int64_t count);

  /// The streams first … first+count-1.
  Streams part(std::int64_t first, std::int64_t count) const;

  std::int64_t count() const { return inputs_.size(1); }
  std::int64_t length() const { return inputs_.size(0); }
  /// Rows first … first+rows-1 with shape (rows, count), and the characters that follow each of them, in one row
  /// (rows·count).
  crisol::Tensor inputs(std::int64_t first, std::int64_t rows) const { return inputs_.narrow(0, first, rows); }
  crisol::Tensor targets(std::int64_t first, std::int64_t rows) const {
    return targets_.narrow(0, first, rows).flatten();
  }

 private:
  Streams() = default;

  crisol::Tensor inputs_, targets_;
};

}  // namespace text_lstm
