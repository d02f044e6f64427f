// Sizes of the kernels that copy. The host needs them too and includes this file.
#ifndef CRISOL_LAYOUT_SIZES_H
#define CRISOL_LAYOUT_SIZES_H

// The kernel `tiles` of transpose_copy.cl moves tiles of TRANSPOSE_TILE x TRANSPOSE_TILE elements.
#define TRANSPOSE_TILE 32

#endif
