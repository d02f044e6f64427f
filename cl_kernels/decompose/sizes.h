// The host and the kernels of decompositions share this.
#ifndef CRISOL_DECOMPOSE_SIZES_H
#define CRISOL_DECOMPOSE_SIZES_H

// Elements at whose multiples the vectors of a row begin: the longest vector of a kernel.
#define ROW_ALIGNMENT 16

#endif
