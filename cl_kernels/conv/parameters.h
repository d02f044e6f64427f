// The parameters of convolutions. Distances count elements.
#ifndef CRISOL_CONV_PARAMETERS_H
#define CRISOL_CONV_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// A convolution of x (images, channels, height, width) with the result y (images, outputs, out_h, out_w).
typedef struct {
  Long images, channels, height, width, outputs, out_h, out_w, groups;
} ConvSizes;
CHECK_PARAMETERS(ConvSizes, 64);

typedef struct {
  Int taps_h, taps_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} ConvWindow;
CHECK_PARAMETERS(ConvWindow, 32);

// The weight of conv2d_planes.cl: distances of outputs, of channels and of groups. With `flipped`, the taps run
// backwards. The elements of x are insert_h and insert_w apart, with zeros between them. A unit of work is `band` rows
// of y. `slice` is the scratch of a work-item.
typedef struct {
  Long output, channel, group, slice;
  Int flipped, insert_h, insert_w, band;
} PlanesParameters;
CHECK_PARAMETERS(PlanesParameters, 48);

// For channels in blocks (conv/cpu/blocks/blocks.h): y has `blocks` blocks of outputs.
typedef struct {
  Long channels, height, width, blocks, out_h, out_w;
} BlocksParameters;
CHECK_PARAMETERS(BlocksParameters, 48);

// Work of conv2d_blocks.cl: a unit has `tiles` tiles of a plane, and adds `in_blocks` blocks of x at a time.
typedef struct {
  Int images, tiles, in_blocks, unused;
} BlocksCut;
CHECK_PARAMETERS(BlocksCut, 16);

// The matrix of patches of conv2d_im2col.cl. The `channels` channels of a group become rows, and `images` images follow
// one another. The first three members are distances: between images of x, between images and rows of the matrix.
typedef struct {
  Long x_image, image, row;
  Int channels, height, width, out_h, out_w, images;
} ColumnsParameters;
CHECK_PARAMETERS(ColumnsParameters, 48);

// The result of conv2d_depthwise.cl has `outputs` channels of out_h x out_w, and its input has channels of height x
// width. An output reads `ins` channels, and `outs` outputs share them. conv2d_depthwise_weight.cl uses the struct too,
// with dy as the result.
typedef struct {
  Int outputs, out_h, out_w, height, width, ins, outs, pad_h, pad_w, unused;
} DepthwiseParameters;
CHECK_PARAMETERS(DepthwiseParameters, 40);

// Winograd's filtering on CPUs (conv2d_winograd.cl). The outputs are cut into `blocks`. `slice` is the scratch of a
// work-item.
typedef struct {
  Long images, slice;
  Int channels, height, width, outputs, out_h, out_w, pad_h, pad_w, blocks, unused;
} WinogradParameters;
CHECK_PARAMETERS(WinogradParameters, 56);

// Winograd's tiles on GPUs, of planes of height x width. An image has tiles_h x tiles_w tiles, and all images together
// have `tiles` tiles. In V and M a channel has space for `stride` tiles.
typedef struct {
  Int tiles, stride, tiles_h, tiles_w, channels, height, width, unused;
} WinogradTiles;
CHECK_PARAMETERS(WinogradTiles, 32);

// Planes of height x width are copied into planes of rows x columns. Their first element goes to (pad_h, pad_w).
typedef struct {
  Int images, channels, height, width, rows, columns, pad_h, pad_w;
} PaddedParameters;
CHECK_PARAMETERS(PaddedParameters, 32);

// The gradient of a weight by Winograd's filtering (conv2d_winograd_weight.cl). All tiles of all images are cut into
// `parts`. A unit of work has block_k outputs and block_c channels, and takes `chunk` tiles at a time.
typedef struct {
  Long images, slice;
  Int channels, outputs, tiles_h, tiles_w, parts, block_k, block_c, chunk;
} WinogradWeightParameters;
CHECK_PARAMETERS(WinogradWeightParameters, 48);

// The pixels of src that a product in tiles reads. The result has `pixels` pixels in an image, pixels_hw in a slice and
// pixels_w in a row. With two axes an image is one slice. `image` and `group` are distances in src.
typedef struct {
  Long image, group;
  Int pixels, pixels_hw, pixels_w, unused;
} PatchesParameters;
CHECK_PARAMETERS(PatchesParameters, 32);

// A channel of src is depth x height x width. Pixel (od, oh, ow) of the result reads, for tap (q, r, s), slice
// od * step_d + start_d + q * tap_d, row oh * step_h + start_h + r * tap_h and column ow * step_w + start_w + s *
// tap_w. With two axes, the kernels do not read the members for the depth axis.
typedef struct {
  Int depth, height, width, taps_d, taps_h, taps_w, step_d, step_h, step_w, start_d, start_h, start_w, tap_d, tap_h,
      tap_w, unused;
} WindowParameters;
CHECK_PARAMETERS(WindowParameters, 64);

// The table of a product's depth has `count` entries. The first `entries` are taps of channel_vector channels. The last
// four members are distances in src: between channels, and between taps along slices, rows and columns.
typedef struct {
  Int count, entries, channel_vector, taps_d, taps_h, taps_w, channel, slice, row, column;
} TableParameters;
CHECK_PARAMETERS(TableParameters, 40);

// The packed weight of a product. It has `count` entries, and row_entries in each of the m rows of a group. The last
// six are distances in the weight.
typedef struct {
  Int count, m, entries, row_entries, channel_vector, taps_d, taps_h, taps_w, group, line, channel, slice, row, column;
} PackParameters;
CHECK_PARAMETERS(PackParameters, 56);

// The operands of a weight's gradient. x_step and dy_step are distances: from the images of the table to the images
// after them. `channel`, `slice`, `row` and `column` are distances in x: between channels, and between taps along
// slices, rows and columns.
typedef struct {
  Long x_group, dy_group;
  Int x_step, dy_step, taps_d, taps_h, taps_w, channel, slice, row, column, dy_channel, table_size, unused;
} PixelsParameters;
CHECK_PARAMETERS(PixelsParameters, 64);

// Images of whole numbers, and their padded phases (conv/cpu/pair_images.cl).
typedef struct {
  Int images, channels, height, width, pad_h, pad_w, stride_h, stride_w, phase_h, phase_w, has_zero, unused;
} PairImageParameters;
CHECK_PARAMETERS(PairImageParameters, 48);

// A convolution of the phases (conv/cpu/convolve_pairs.cl). A phase has `phase` elements, and phase_w in a row. Results
// have `pixels` pixels, and `width` in a row. `run` is the number of neighbours that are read together: 1, 2, 4, 8
// or 16. A unit of work has `panels` panels of 16 pixels.
typedef struct {
  Int images, channels, filters, block, taps_h, taps_w, stride_h, stride_w, dilation_h, dilation_w, phase, phase_w;
  Int pixels, width, run, panels;
} PairConvolutionParameters;
CHECK_PARAMETERS(PairConvolutionParameters, 64);

PARAMETERS_END
#endif
