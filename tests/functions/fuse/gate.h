// A function to fuse. Its source is the same for tensors and expressions.
#pragma once

namespace crisol::testing {

struct Gate {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return tanh(a * b + b) * sigmoid(a);
  }
};

}  // namespace crisol::testing
