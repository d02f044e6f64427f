// rnn/rnn_cell.h with one unit for each work-item.
#include "common/fma.h"
#undef INLINE  // The compiler decides which of these functions it inlines.
#define INLINE static inline
#define REAL float
#define INT int
#define AS_REAL as_float
#define AS_INT as_int
#include "rnn/rnn_cell.h"
