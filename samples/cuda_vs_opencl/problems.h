// The tasks at given sizes, and what they should give.
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
  int digit;  ///< That the network's image shows.
};

/// The sizes of the comparison, or small ones for simulators and tests. `weights` is a file of `mnist train`; without
/// it the network has random ones.
Problems make_problems(bool small, const std::string& weights);

/// The same, computed on the host in double.
Floats expected(const ReluChain& task);
Floats expected(const Sgemm& task);
Floats expected(const Conv3x3& task);
Floats expected(const LstmGates& task);
Floats expected(const SimpleCnn& task);

/// Largest |a - b| as a part of the largest |b|.
double error_of(const Floats& values, const Floats& expected);

}  // namespace twins
