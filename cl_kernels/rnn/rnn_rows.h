// The common part of the CPU's recurrent kernels. A work-item takes rows of the batch through the whole sequence alone,
// so that no step waits for another item.
#include "common/vector.h"
#include "common/element.h"
#include "rnn/sequence.h"
#include "rnn/rnn_tile.h"

#define REAL floatv
#define INT intv
#define AS_REAL as_floatv
#define AS_INT as_intv
#include "rnn/rnn_cell.h"

typedef struct {
  int first, end;
} Rows;

INLINE Rows rows_of_item(int batch, long item, long items) {
  const Rows rows = {(int)(batch * item / items), (int)(batch * (item + 1) / items)};
  return rows;
}

// Loads and stores of vectors at the end of a row, where only the first `lanes` lanes exist. load_elements is
// load_lanes for elements of STORED.
INLINE floatv load_lanes(__global const float* p, int lanes) {
  if (lanes >= VW) return UNALIGNED_CONST(p);
  float part[VW];
  NO_UNROLL
  for (int lane = 0; lane < VW; ++lane) part[lane] = lane < lanes ? p[lane] : 0.0f;
  return vloadv(0, part);
}

#ifdef STORED_IS_FLOAT
#define load_elements load_lanes
#else
INLINE floatv load_elements(__global const STORED* p, int lanes) {
  if (lanes >= VW) return LOAD_MANY(STORED, p);
  float part[VW];
  NO_UNROLL
  for (int lane = 0; lane < VW; ++lane) part[lane] = lane < lanes ? LOAD(STORED, p, lane) : 0.0f;
  return vloadv(0, part);
}
#endif

INLINE void store_lanes(floatv value, __global float* p, int lanes) {
  if (lanes >= VW) {
    UNALIGNED(p) = value;
    return;
  }
  float part[VW];
  vstorev(value, 0, part);
  NO_UNROLL
  for (int lane = 0; lane < lanes; ++lane) p[lane] = part[lane];
}
