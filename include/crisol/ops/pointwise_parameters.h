// Macros that make functions from the rows of crisol/ops/pointwise.def: the parameters for a row's numbers, and the
// consequences of its rule. crisol/tensor.h, crisol/ops/elementwise.h and crisol/functions/elementwise.h use them.
#pragma once

#include "crisol/scalar.h"

// A row's numbers as parameters with their defaults: as the only parameters, or after other parameters.
#define CRISOL_NUMBERS_NONE
#define CRISOL_NUMBERS_ONE(name, initial, at) Scalar name initial
#define CRISOL_NUMBERS_TWO(name, initial, at, name_2, initial_2, at_2) Scalar name initial, Scalar name_2 initial_2
#define CRISOL_AND_NUMBERS_NONE
#define CRISOL_AND_NUMBERS_ONE(name, initial, at) , Scalar name initial
#define CRISOL_AND_NUMBERS_TWO(name, initial, at, name_2, initial_2, at_2) \
  , Scalar name initial, Scalar name_2 initial_2

// The same without defaults, for definitions.
#define CRISOL_TAKES_NONE
#define CRISOL_TAKES_ONE(name, initial, at) , Scalar name
#define CRISOL_TAKES_TWO(name, initial, at, name_2, initial_2, at_2) , Scalar name, Scalar name_2

#define CRISOL_ONLY_TAKES_NONE
#define CRISOL_ONLY_TAKES_ONE(name, initial, at) Scalar name
#define CRISOL_ONLY_TAKES_TWO(name, initial, at, name_2, initial_2, at_2) Scalar name, Scalar name_2

// The names of a row's numbers as arguments: as the only arguments, or after other arguments.
#define CRISOL_GIVES_NONE
#define CRISOL_GIVES_ONE(name, initial, at) name
#define CRISOL_GIVES_TWO(name, initial, at, name_2, initial_2, at_2) name, name_2

#define CRISOL_ALSO_GIVES_NONE
#define CRISOL_ALSO_GIVES_ONE(name, initial, at) , name
#define CRISOL_ALSO_GIVES_TWO(name, initial, at, name_2, initial_2, at_2) , name, name_2

// Whether a row of this rule has an in-place form.
#define CRISOL_IN_PLACE_any(...) __VA_ARGS__
#define CRISOL_IN_PLACE_number(...) __VA_ARGS__
#define CRISOL_IN_PLACE_limits(...) __VA_ARGS__
#define CRISOL_IN_PLACE_counted(...) __VA_ARGS__
#define CRISOL_IN_PLACE_floating(...) __VA_ARGS__
#define CRISOL_IN_PLACE_channel(...) __VA_ARGS__
#define CRISOL_IN_PLACE_logical(...) __VA_ARGS__
#define CRISOL_IN_PLACE_fill(...) __VA_ARGS__
#define CRISOL_IN_PLACE_comparison(...)
#define CRISOL_IN_PLACE_test(...)
#define CRISOL_IN_PLACE_choice(...)

// Whether a row of this rule has gradients.
#define CRISOL_GRADIENT_any(...) __VA_ARGS__
#define CRISOL_GRADIENT_number(...) __VA_ARGS__
#define CRISOL_GRADIENT_limits(...) __VA_ARGS__
#define CRISOL_GRADIENT_counted(...) __VA_ARGS__
#define CRISOL_GRADIENT_floating(...) __VA_ARGS__
#define CRISOL_GRADIENT_test(...)
#define CRISOL_GRADIENT_logical(...)

// The parameter that a unary raw backward has in addition to dy.
#define CRISOL_SAVED_none
#define CRISOL_SAVED_x , const Tensor& x
#define CRISOL_SAVED_y , const Tensor& y
