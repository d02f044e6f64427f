// KIND says how a reduction combines elements. FORM says which elements a kernel for GPUs reads at once. The host takes
// the numbers from here. They are macros, because kernels compare them in #if.
#ifndef CRISOL_REDUCE_KINDS_H
#define CRISOL_REDUCE_KINDS_H

#define KIND_SUM 0
#define KIND_PROD 1
#define KIND_MAX 2
#define KIND_MIN 3
#define KIND_LOG_SUM_EXP 4
#define KIND_MOMENTS 5
#define KIND_ARG_MAX 6
#define KIND_ARG_MIN 7

#define FORM_SCALARS 0
#define FORM_ALONG 1
#define FORM_ACROSS 2

#endif
