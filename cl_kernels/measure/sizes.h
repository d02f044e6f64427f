// Sizes of the kernels that measure. The host needs them too and includes this file.
#ifndef CRISOL_MEASURE_SIZES_H
#define CRISOL_MEASURE_SIZES_H

// The number of independent chains of multiply-adds. So many chains hide the latency of an FMA and fit into 16
// registers.
#define CHAINS 12

#endif
