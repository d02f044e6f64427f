// The place of an operand's word in local memory. A row has 16 words, so two rows fill the 32 banks. A row has chunks
// of four words, and their order changes from row to row. So two kinds of access never use a bank twice. Fragments
// read the chunks of eight rows at the same depth. product/gpu/matrix_reader.h writes whole rows that are four rows
// apart.
//
// The tests read this file as C++.
INLINE int place_of_word(int row, int word) {
  const int pair = row >> 1;
  const int chunk = ((row & 1) * 4 + (word >> 2)) ^ ((pair & 3) | (pair & 2) << 1);
  return pair * 32 + chunk * 4 + (word & 3);
}
