// The common part of the depthwise convolutions for GPUs: the piece of a plane that ROWS outputs below each other read.
//
// Taps, strides and dilations are defines, so that the loops over a window are unrolled and its values stay in
// registers. The plane is read as if its elements were INSERT_H and INSERT_W apart, with zeros between them.
#include "common/inline.h"
#include "common/unroll.h"
#include "conv/parameters.h"
#include "conv/sizes.h"

#ifndef TAPS_H
#define TAPS_H 3
#define TAPS_W 3
#define STRIDE_H 1
#define STRIDE_W 1
#define DILATION_H 1
#define DILATION_W 1
#endif
#ifndef INSERT_H
#define INSERT_H 1
#define INSERT_W 1
#endif

#define ROWS DEPTHWISE_ROWS
#define SEEN ((ROWS - 1) * STRIDE_H + (TAPS_H - 1) * DILATION_H + 1)  // Number of rows of the plane that ROWS outputs
                                                                      // read.

// The place in a plane where an output's window begins, and the size of the plane.
typedef struct {
  int h, w, height, width;
} Piece;

// The row at position h, if rows are `apart` positions apart. -1 if the position has no row, or only inserted zeros.
INLINE int plane_index(int h, int height, int apart) {
  const int row = apart == 1 ? h : h / apart;
  return h >= 0 && row < height && (apart == 1 || row * apart == h) ? row : -1;
}

// The TAPS_W elements of row t of a piece.
INLINE void piece_row(__global const float* plane, const Piece* piece, int t, float values[TAPS_W]) {
  const int row = plane_index(piece->h + t, piece->height, INSERT_H);
  UNROLL
  for (int s = 0; s < TAPS_W; ++s) {
    const int column = plane_index(piece->w + s * DILATION_W, piece->width, INSERT_W);
    const bool inside = row >= 0 && column >= 0;
    const float value = plane[inside ? row * piece->width + column : 0];
    values[s] = inside ? value : 0.0f;
  }
}
