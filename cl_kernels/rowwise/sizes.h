// Sizes of the kernels that work on rows. The host needs them too, so it includes this file.
#ifndef CRISOL_ROWWISE_SIZES_H
#define CRISOL_ROWWISE_SIZES_H

// The vectors that each work-item of a group takes of a row that is cut into parts. With so few, plain sums over a part
// stay exact enough.
#define PART_CHUNKS_OF_ITEM 64

#endif
