// The host and the kernels of decompositions share this.
#ifndef CRISOL_DECOMPOSE_SIZES_H
#define CRISOL_DECOMPOSE_SIZES_H

// The vectors of a row begin at multiples of this number of elements, which is the largest VW of a kernel.
#define ROW_ALIGNMENT 16

#endif
