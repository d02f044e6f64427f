// The sizes of a quantised weight, for C++ and kernels.
#ifndef CRISOL_QUANTIZED_PARAMETERS_H
#define CRISOL_QUANTIZED_PARAMETERS_H
#include "common/parameters.h"

// The floats of x for a vector of `words` words of codes, as quantized_rows_cpu.cl arranges them: elements and sums.
#define ARRANGED_SUMS(bits, groups_of_block) ((bits) == 4 && (groups_of_block) == 0 ? 2 : 1)
#define ARRANGED_FLOATS(words, bits, groups_of_block) ((words) * (32 / (bits) + ARRANGED_SUMS(bits, groups_of_block)))
// The ints of x for a row of so many vectors of 64 bytes, as quantized/sum_rows.h describes them.
#define ARRANGED_INTS(bits, vectors, blocks) (16 * (3 + (vectors) * (3 * 8 / (bits) + 3) + ((blocks) + 15) / 16))

PARAMETERS_BEGIN

typedef struct {
  Long rows;             // The number of results, which are rows of the weight.
  Long inputs;           // The number of rows of x.
  Long groups;           // Groups of 32 columns in a row.
  Long blocks;           // Scales of a row.
  Long groups_of_block;  // Groups that share a scale. 0 if a group has two scales.
  Long has_bias;         // Whether y gets a bias.
} QuantizedParameters;
CHECK_PARAMETERS(QuantizedParameters, 48);

PARAMETERS_END
#endif
