// Sizes of the kernels that measure. The host needs them too, so it includes this file.
#ifndef CRISOL_MEASURE_SIZES_H
#define CRISOL_MEASURE_SIZES_H

// The independent chains of multiply-adds. They are enough to hide the latency of an FMA, and few enough for 16
// registers.
#define CHAINS 12

#endif
