// Sizes of products. The host needs them too and includes this file.
#ifndef CRISOL_PRODUCT_SIZES_H
#define CRISOL_PRODUCT_SIZES_H

// With matrix units a slice has this number of words along the depth. Slices of every engine have at most MAX_SLICE
// elements.
#define SLICE_WORDS 16
#define MAX_SLICE 32

// The number of columns of `a` that one unit of work of gemm_pack covers. They are in `group` panels.
#define PACK_CHUNK 512

// The number of rows of A that share each load of B in gemm_skinny.
#define SKINNY_ROWS 4

// The number of ints that cpu/gather.h stores for `columns` neighbouring columns: four for each column, and 7 more.
#define GATHERED_INTS(columns) (4 * (columns) + ((columns) < 8 ? 8 : (columns)))

#endif
