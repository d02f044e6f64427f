// How the program in which the driver of no device runs speaks with it: two symbols, found by dlsym.
#pragma once

#include <cstddef>

namespace crisol::null_driver {

/// Names the JSON file of the device to play, as read_device_info reads it. To be set before the first OpenCL call.
constexpr const char* device_variable = "CRISOL_NULL_DEVICE";

/// Record::begin_part.
using BeginPart = void (*)(std::size_t part);
constexpr const char* begin_part_symbol = "crisol_null_begin_part";

/// Record::to_json; the text stays valid until the next call.
using GetRecord = const char* (*)();
constexpr const char* get_record_symbol = "crisol_null_record";

}  // namespace crisol::null_driver
