// The JSON header of a safetensors file, separate from files and tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/io/safetensors.h"

namespace crisol::io {

constexpr std::uint64_t largest_safetensors_header = 100'000'000;

/// Parses the entries and metadata of a header. Checks every rule of the format, for a file with `data_bytes` bytes of
/// data. Errors start with the file's name, `path`.
SafetensorsHeader parse_header(std::string_view text, std::uint64_t data_bytes, const std::string& path);

/// Assigns a range to each entry, the largest dtypes first, so that every tensor is aligned to its element size.
void assign_ranges(std::vector<SafetensorsEntry>& entries);

/// The header's text, padded with spaces to a multiple of 8. Throws invalid_argument for names that break the rules.
std::string format_header(const std::vector<SafetensorsEntry>& entries, const Metadata& metadata);

}  // namespace crisol::io
