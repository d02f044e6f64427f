#include "options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <memory>
#include <string_view>

#include "crisol/kernel_cache.h"

namespace crisol::ort {

namespace {

/// A setting of the session.
std::string setting(const OrtSessionOptions* session, const std::string& key, const std::string& otherwise) {
  if (get<int>(api().HasSessionConfigEntry, session, key.c_str()) == 0) return otherwise;
  std::size_t size = 0;
  if (OrtStatus* status = api().GetSessionConfigEntry(session, key.c_str(), nullptr, &size))
    api().ReleaseStatus(status);
  std::string value(size, '\0');
  check(api().GetSessionConfigEntry(session, key.c_str(), value.data(), &size));
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

/// What ONNX Runtime puts before the name of an option: the provider's name in small letters.
std::string prefix() {
  std::string text = "ep.";
  for (const char* c = provider_name; *c != '\0'; ++c)
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  return text + '.';
}

/// An option of the session.
std::string option(const OrtSessionOptions* session, const std::string& name, const std::string& otherwise) {
  return setting(session, prefix() + name, otherwise);
}

void refuse_unknown_options(const OrtSessionOptions* session) {
  constexpr std::string_view known[] = {"device_id", "precision", "cache_dir"};
  const std::unique_ptr<OrtKeyValuePairs, decltype(api().ReleaseKeyValuePairs)> entries(
      get<OrtKeyValuePairs*>(api().GetSessionOptionsConfigEntries, session), api().ReleaseKeyValuePairs);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  api().GetKeyValuePairs(entries.get(), &keys, &values, &count);
  const std::string own = prefix();
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name(keys[i]);
    if (name.substr(0, own.size()) != own) continue;
    name.remove_prefix(own.size());
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      throw RuntimeError("[crisol] there is no option \"" + std::string(name) +
                         "\": the options are device_id, precision and cache_dir");
  }
}

Device device_at(const std::string& text) {
  const std::vector<Device> all = devices();
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index >= all.size())
    throw RuntimeError("[crisol] the option device_id is \"" + text + "\", and there are " +
                       std::to_string(all.size()) + " devices: 0 is the first");
  return all[index];
}

}  // namespace

Options options_of(const OrtSessionOptions* session, const std::string& chosen) {
  refuse_unknown_options(session);
  Options options{device_at(option(session, "device_id", chosen))};
  options.context = {setting(session, "ep.context_enable", "0") == "1",
                     setting(session, "ep.context_embed_mode", "0") == "1",
                     setting(session, "ep.context_file_path", "")};
  const std::string precision = option(session, "precision", "fp32");
  const Precision known[] = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
  const auto* const found = std::find_if(std::begin(known), std::end(known),
                                         [&](Precision one) { return precision == crisol::name_of(one); });
  if (found == std::end(known))
    throw RuntimeError("[crisol] the option precision is \"" + precision + "\": it takes fp32, tf32, fp16 or bf16");
  options.precision = *found;
  if (const std::string folder = option(session, "cache_dir", ""); !folder.empty()) set_kernel_cache_folder(folder);
  return options;
}

}  // namespace crisol::ort
