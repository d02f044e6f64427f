// What a product's kernels are told at run time, so that it compiles nothing. The first seven are those of GemmFlag.
#define ADD_TO_C 1        // The sum is added to C,
#define BIAS_PER_ROW 2    // and the bias of its row
#define BIAS_PER_COLUMN 4 // or column;
#define RELU 8            // then negative results become 0.
#define ADD_E0 16         // Before that, the epilogue's first operand is added.
#define SNIPPET 32        // f is what the prelude brings.
#define B_PACKED 64       // B lies in column panels [k][NR] already.
#define GATHERED 128      // B is the virtual matrix of product/gather.h.
