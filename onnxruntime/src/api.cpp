#include "api.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace crisol::ort {

namespace {

Functions functions;
int minor_version = 0;  ///< 23 for version 1.23.2.

}  // namespace

OrtStatus* set_api(const OrtApiBase& base) {
  const OrtApi* table = base.GetApi(api_version);
  if (table == nullptr) {
    functions.CreateStatus = reinterpret_cast<decltype(functions.CreateStatus)>(base.GetApi(1)->functions[0]);
    const std::string text = std::string("[crisol] ONNX Runtime ") + base.GetVersionString() +
                             " is too old: version 1.23 is the first that the provider works with";
    return functions.CreateStatus(code_invalid_argument, text.c_str());
  }
#define ORT_FUNCTION(position, name, result, parameters) \
  functions.name = reinterpret_cast<decltype(functions.name)>(table->functions[position]);
#include "functions.def"
#undef ORT_FUNCTION
  std::string_view text = base.GetVersionString();
  text.remove_prefix(std::min(text.find('.') + 1, text.size()));
  std::from_chars(text.data(), text.data() + text.size(), minor_version);
  return nullptr;
}

bool can_share_graphs() noexcept { return minor_version > 23; }
bool gives_values_of_inner_graphs() noexcept { return minor_version > 26; }
bool names_sets_of_inner_graphs() noexcept { return minor_version > 30; }

const Functions& api() noexcept { return functions; }

void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string text = functions.GetErrorMessage(status);
  functions.ReleaseStatus(status);
  throw RuntimeError(text);
}

bool Logger::shows(int level) const { return get<int>(api().Logger_GetLoggingSeverityLevel, logger_) <= level; }

void Logger::log(int level, const std::string& text) const {
#ifdef _WIN32
  constexpr auto here = L"crisol";
#else
  constexpr auto here = "crisol";
#endif
  if (shows(level)) check(api().Logger_LogMessage(logger_, level, text.c_str(), here, 0, "crisol"));
}

}  // namespace crisol::ort
