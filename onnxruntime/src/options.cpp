#include "options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

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

/// An option of the session. ONNX Runtime puts the provider's name in small letters before the name.
std::string option(const OrtSessionOptions* session, const std::string& name, const std::string& otherwise) {
  std::string key = "ep.";
  for (const char* c = provider_name; *c != '\0'; ++c)
    key += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  return setting(session, key + '.' + name, otherwise);
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
