// Sizes of the kernels that sort. The host needs them too and includes this file.
#ifndef CRISOL_SORT_SIZES_H
#define CRISOL_SORT_SIZES_H

// The counts of radix_sort: 256 for each of the four digits of a key.
#define RADIX_COUNTS 1024

// select_rows counts elements by the upper BIN_BITS bits of their keys. So it has more bins than RADIX_COUNTS.
#define BIN_BITS 11
#define BINS (1 << BIN_BITS)

#endif
