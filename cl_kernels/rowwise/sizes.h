// Sizes of the kernels that work on rows. The host needs them too and includes this file.
#ifndef CRISOL_ROWWISE_SIZES_H
#define CRISOL_ROWWISE_SIZES_H

// The number of chunks that each work-item takes of a part of a row. With so few chunks, plain sums over a part are
// exact enough.
#define PART_CHUNKS_OF_ITEM 64

#endif
