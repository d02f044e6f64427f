// Sizes of convolutions. The host needs them too and includes this file.
#ifndef CRISOL_CONV_SIZES_H
#define CRISOL_CONV_SIZES_H

// conv2d_depthwise.cl and conv2d_depthwise_weight.cl: the outputs below each other that a work-item computes. The
// gradient of the weight has groups of DEPTHWISE_ITEMS.
#define DEPTHWISE_ROWS 4
#define DEPTHWISE_ITEMS 128

// conv2d_planes.cl: the rows of y that share a weight, and the most taps in a row of the kernel.
#define PLANES_ROWS 4
#define PLANES_MAX_TAPS 64

// conv2d_winograd.cl: the panels of MR outputs that are computed at a time.
#define WINOGRAD_PANELS 4

// conv/gpu/window.h: the most rows and columns of a window with two axes. A tap is two bits of a word: a row, a column.
#define WINDOW_ROWS 16
#define WINDOW_COLUMNS 15

// gpu/patches_reader.h: the number of neighbours in the depth that an item reads of a tile of `columns` columns and
// `slice` elements of the depth. It is a multiple of GATHER_MULTIPLE, because the table is read in such pieces.
#define GATHER_OF_ITEM(columns, slice, items) ((columns) * (slice) / (items))
#define GATHER_MULTIPLE 4

#endif
