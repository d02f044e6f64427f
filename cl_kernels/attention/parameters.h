// The parameters of attention. Strides and distances count elements.
#ifndef CRISOL_ATTENTION_PARAMETERS_H
#define CRISOL_ATTENTION_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// `heads` heads of `rows` queries and `keys` keys, of `depth` elements, with values of `columns` elements. The heads
// have three axes, and the last two axes have the sizes heads1 and heads2. A unit of work computes `block` rows of a
// head and takes key_block keys at a time. `slice` is the scratch of a work-item.
typedef struct {
  Long heads, heads1, heads2, slice;
  Int rows, keys, depth, columns, block, key_block, causal, has_bias;
} AttentionParameters;
CHECK_PARAMETERS(AttentionParameters, 64);

// The strides of an operand: from head to head along the three axes, and within a head.
typedef struct {
  Long head0, head1, head2, row, column;
} HeadParameters;
CHECK_PARAMETERS(HeadParameters, 40);

PARAMETERS_END
#endif
