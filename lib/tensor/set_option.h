// Options with a number for each axis of a window, from lists.
#pragma once

#include "crisol/options/int_pair.h"
#include "crisol/options/int_triple.h"

namespace crisol {

/// Sets an option to the first entries of a list, one entry for each axis.
template <class List>
void set_option(int& option, const List& list) {
  option = static_cast<int>(list[0]);
}

template <class List>
void set_option(IntPair& option, const List& list) {
  option = {static_cast<int>(list[0]), static_cast<int>(list[1])};
}

template <class List>
void set_option(IntTriple& option, const List& list) {
  option = {static_cast<int>(list[0]), static_cast<int>(list[1]), static_cast<int>(list[2])};
}

}  // namespace crisol
