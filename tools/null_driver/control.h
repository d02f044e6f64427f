// The interface between the null driver and the program that it runs in: two symbols, found by dlsym.
#pragma once

#include <cstddef>

namespace crisol::null_driver {

/// The environment variable that names the JSON file of the device to simulate, in the format of read_device_info. Set
/// it before the first OpenCL call.
constexpr const char* device_variable = "CRISOL_NULL_DEVICE";

/// Record::begin_part.
using BeginPart = void (*)(std::size_t part);
constexpr const char* begin_part_symbol = "crisol_null_begin_part";

/// Record::to_json; the text stays valid until the next call.
using GetRecord = const char* (*)();
constexpr const char* get_record_symbol = "crisol_null_record";

}  // namespace crisol::null_driver
