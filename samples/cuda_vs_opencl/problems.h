// The tasks with their sizes, and their expected results.
#pragma once

#include <string>

#include "tasks.h"

namespace twins {

struct Problems {
  ReluChain relu_chain;
  Sgemm sgemm;
  Conv3x3 conv3x3;
  LstmGates lstm_gates;
  SimpleCnn simple_cnn;
  int digit;  ///< The digit in the network's image.
};

/// The sizes of the comparison, or small sizes for simulators and tests. `weights` is a file of `mnist train`. Without
/// it the network has random weights.
Problems make_problems(bool small, const std::string& weights);

/// The expected results, computed on the host in double.
Floats expected(const ReluChain& task);
Floats expected(const Sgemm& task);
Floats expected(const Conv3x3& task);
Floats expected(const LstmGates& task);
Floats expected(const SimpleCnn& task);

/// Largest |a - b|, divided by the largest |b|.
double error_of(const Floats& values, const Floats& expected);

}  // namespace twins
