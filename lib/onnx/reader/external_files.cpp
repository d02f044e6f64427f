#include "onnx/reader/external_files.h"

#include <algorithm>
#include <filesystem>

#include "base/system.h"
#include "base/text.h"
#include "onnx/reader/message.h"

namespace crisol::onnx::file {

namespace {

namespace fs = std::filesystem;

/// The reason why the text of a location is invalid, or null if it is valid.
const char* fault_of(std::string_view location) {
  if (std::any_of(location.begin(), location.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return "it has a control character";
  // These characters name drives, streams and folders on Windows.
  if (location.find_first_of("\\:") != location.npos) return "it has a backslash or a colon";
  if (location.starts_with('/')) return "it is an absolute path";
  for (std::size_t at = 0; at <= location.size();) {
    const std::size_t end = std::min(location.find('/', at), location.size());
    if (location.substr(at, end - at) == "..") return "it has \"..\"";
    at = end + 1;
  }
  return nullptr;
}

bool is_below(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

}  // namespace

const std::shared_ptr<const io::MappedFile>& ExternalFiles::file_at(std::string_view location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const auto refuse = [&](const auto&... reason) {
    fail(ErrorCode::io, "onnx", model_path_, ": external data in ", in_quotes(location), ": ", reason...);
  };
  if (const char* fault = fault_of(location)) refuse("the location is refused: ", fault);
  std::error_code error;
  fs::path folder = system::path_of(model_path_).parent_path();
  folder = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) refuse("the model's folder cannot be found: ", error.message());
  const fs::path file = fs::canonical(folder / system::path_of(location), error);
  if (error) refuse("no such file in the model's folder");
  if (!is_below(folder, file))
    refuse("the location is refused: a symbolic link leads out of the model's folder (copy the file there)");
  auto mapped = std::make_shared<const io::MappedFile>("onnx", system::text_of(file));
  return files_.try_emplace(std::string(location), std::move(mapped)).first->second;
}

std::string_view ExternalFiles::bytes_of(const TensorProto& tensor) {
  const ExternalData& data = tensor.external;
  const std::string_view bytes = file_at(data.location)->bytes();
  const std::uint64_t size = bytes.size(), wanted = tensor.byte_count();
  if (data.offset > size || wanted > size - data.offset)
    fail(ErrorCode::io, "onnx", model_path_, ": external data in ", in_quotes(data.location), ": tensor ",
         in_quotes(tensor.name), " takes ", wanted, " bytes from byte ", data.offset, ", the file has ", size,
         " bytes");
  return bytes.substr(static_cast<std::size_t>(data.offset), static_cast<std::size_t>(wanted));
}

}  // namespace crisol::onnx::file
