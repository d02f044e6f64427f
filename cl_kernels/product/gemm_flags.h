// The flags that the kernels of a product get at run time, so that a change of flags compiles nothing. GemmFlag has the
// same values.
#define ADD_TO_C 1        // Adds the old C to the sum.
#define BIAS_PER_ROW 2    // Adds the bias of the row.
#define BIAS_PER_COLUMN 4 // Adds the bias of the column.
#define RELU 8            // At the end, sets negative results to 0.
#define ADD_E0 16         // Before that, adds the epilogue's first operand.
#define SNIPPET 32        // f is the code of the prelude.
#define B_PACKED 64       // B is already packed into column panels [k][NR].
#define GATHERED 128      // B is the virtual matrix of product/gather.h.
