// `mnist classify`
#pragma once

#include <string>
#include <vector>

namespace mnist {

/// Prints the digit in each picture, its probabilities, and the image that the network saw. Returns the exit status,
/// which is not 0 when a picture could not be read.
int classify(const std::string& weights, const std::vector<std::string>& pictures);

}  // namespace mnist
