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

#define PRECISION_TF32 1
#define PRECISION_FP16 2
#define PRECISION_BF16 3

#endif
