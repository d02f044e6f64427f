// Where a word of an operand lies in local memory: rows of 16 words, two of them to the 32 banks, their chunks of four
// words in an order that changes from row to row. Then eight rows' chunks at the same depth meet no bank twice, which is how
// fragments are read, and neither do whole rows that lie four apart, which is how they are written (product/matrix_source.h).
//
// Read by the tests as C++.
INLINE int place_of_word(int row, int word) {
  const int pair = row >> 1;
  const int chunk = ((row & 1) * 4 + (word >> 2)) ^ ((pair & 3) | (pair & 2) << 1);
  return pair * 32 + chunk * 4 + (word & 3);
}
