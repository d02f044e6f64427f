// The matrix unit that a kernel is made for: UNIT, as lib/dispatch/matrix_unit.h numbers them.
//
// Each of these headers gives
//
//   LANES, FM, FN, ACC    work-items that act together, rows and columns of what they multiply, numbers of it in each
//   acc_row(i, lane), acc_column(i, lane)   which those are
//   RUN                   how many of them, from a multiple of that on, are neighbours of a row
//   FragmentA, FragmentB  what an item holds of FM rows of A and of FN columns of B, 8 words deep
//   fragment_a(operand, row, step), fragment_b(operand, column, step)   reads them from local memory
//   fragment_multiply(acc, a, b)   acc += a * b
//
// All items of a wave come here together. EMULATED, for tests where there is no such unit, keeps the places and multiplies
// with what every device has.
#ifndef UNIT
#define UNIT 1
#endif
#include "common/inline.h"
#include "product/units/matrix_place.h"
#include "product/units/matrix_round.h"
#include "common/unroll.h"
#if UNIT == 1 || UNIT == 2
#include "product/units/matrix_nvidia.h"
#elif UNIT == 3
#include "product/units/matrix_mfma.h"
#elif UNIT == 4 || UNIT == 5
#include "product/units/matrix_wmma.h"
#else
#include "product/units/matrix_xmx.h"
#endif
#ifdef EMULATED
#include "product/units/matrix_emulated.h"
#endif
