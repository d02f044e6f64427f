// A check of where a sample's results go.
#pragma once

#include <string>

namespace samples {

/// Throws std::runtime_error when a result cannot be written to `path`. Called before a training, so that no finished
/// training is lost. An empty path means no result. `replaced_by_rename`: the file will be written under another name
/// and renamed.
void check_output(const std::string& path, bool replaced_by_rename);

}  // namespace samples
