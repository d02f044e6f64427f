// common/rnn_cell.h for one unit a work-item.
#ifdef NO_FMA
#define FMA(a, b, c) ((a) * (b) + (c))
#else
#define FMA(a, b, c) fma(a, b, c)
#endif
#define INLINE inline
#define REAL float
#define INT int
#define AS_REAL as_float
#define AS_INT as_int
#include "common/rnn_cell.h"
