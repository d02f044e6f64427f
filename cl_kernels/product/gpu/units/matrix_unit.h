// The matrix unit for which a kernel is compiled: UNIT, one of product/gpu/units/kinds.h.
//
// Each unit's header gives
//
//   LANES                 how many work-items act together
//   FM, FN                rows and columns of their result, a fragment
//   ACC                   how many numbers of the result each item has
//   acc_row(i, lane), acc_column(i, lane)   the row and column of these numbers
//   RUN                   so many of an item's numbers, from a multiple of RUN on, are neighbours in a row
//   STEP_WORDS            the words of the depth that one multiplication takes
//   FragmentA, FragmentB  what an item holds of FM rows of A and of FN columns of B, STEP_WORDS deep
//   fragment_a(operand, row, step), fragment_b(operand, column, step)   reads a fragment from local memory
//   fragment_multiply(acc, a, b)   acc += a * b
//
// It may define VALUE_TYPE and SUM_TYPE of units/types.h anew.
//
// All items of a wave must call these functions together. EMULATED is for tests on devices without such a unit. It has
// the unit's layout, and multiplies with operations that every device has.
#include "product/gpu/units/kinds.h"
#ifndef UNIT
#define UNIT UNIT_MMA_SM80
#endif
#include "common/inline.h"
#include "product/gpu/units/matrix_place.h"
#include "product/gpu/units/matrix_round.h"
#include "common/unroll.h"
#if UNIT == UNIT_MMA_SM80 || UNIT == UNIT_MMA_SM75
#include "product/gpu/units/matrix_nvidia.h"
#elif UNIT == UNIT_MFMA
#include "product/gpu/units/matrix_mfma.h"
#elif UNIT == UNIT_WMMA || UNIT == UNIT_WMMA_GFX12
#include "product/gpu/units/matrix_wmma.h"
#else
#include "product/gpu/units/matrix_xmx.h"
#endif
#ifdef EMULATED
#include "product/gpu/units/matrix_emulated.h"
#endif
