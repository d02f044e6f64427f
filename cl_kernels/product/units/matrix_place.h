// The place of an operand's word in local memory. A row has 16 words, so two rows fill the 32 banks. The chunks of four
// words of a row are in an order that changes from row to row. So two kinds of access never use a bank twice. One is
// the chunks of eight rows at the same depth, which is how fragments are read. The other is whole rows that are four
// apart, which is how rows are written (product/matrix_reader.h).
//
// The tests read this file as C++.
INLINE int place_of_word(int row, int word) {
  const int pair = row >> 1;
  const int chunk = ((row & 1) * 4 + (word >> 2)) ^ ((pair & 3) | (pair & 2) << 1);
  return pair * 32 + chunk * 4 + (word & 3);
}
