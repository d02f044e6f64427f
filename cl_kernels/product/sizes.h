// Sizes of products that the host needs too, so it includes this file.
#ifndef CRISOL_PRODUCT_SIZES_H
#define CRISOL_PRODUCT_SIZES_H

// A slice has this number of words of the depth for matrix units. Slices of every engine have at most MAX_SLICE
// elements.
#define SLICE_WORDS 16
#define MAX_SLICE 32

// The number of columns of a that one unit of work of gemm_pack covers, in `group` panels.
#define PACK_CHUNK 512

// The rows of A that share each load of B in gemm_skinny.
#define SKINNY_ROWS 4

// The number of ints that product/gather.h keeps about `columns` neighbouring columns: four for each, and 7 scalars.
#define GATHERED_INTS(columns) (4 * (columns) + ((columns) < 8 ? 8 : (columns)))

#endif
