// The matrix units that a kernel may be compiled for (UNIT), and the types that they multiply (PRECISION). The host
// takes the numbers from here. They are macros, because kernels compare them in #if. 0 is no unit, and no rounding.
#ifndef CRISOL_PRODUCT_UNITS_KINDS_H
#define CRISOL_PRODUCT_UNITS_KINDS_H

#define UNIT_MMA_SM80 1
#define UNIT_MMA_SM75 2
#define UNIT_MFMA 3
#define UNIT_WMMA 4
#define UNIT_WMMA_GFX12 5
#define UNIT_XMX8 6
#define UNIT_XMX16 7

// LANES and RUN of each unit's header (units/matrix_unit.h says what they mean).
#define LANES_MMA 32
#define LANES_MFMA 64
#define LANES_WMMA 32
#define LANES_XMX8 8
#define LANES_XMX16 16
#define RUN_MMA 2
#define RUN_MFMA 4
#define RUN_WMMA 1
#define RUN_WMMA_GFX12 4
#define RUN_XMX 1

#define PRECISION_TF32 1
#define PRECISION_FP16 2
#define PRECISION_BF16 3

#endif
