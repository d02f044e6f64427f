#include "onnx/names.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace crisol::onnx {

namespace {

bool has_empty_part(const std::string& name) {
  return name.empty() || name.front() == '.' || name.back() == '.' || name.find("..") != std::string::npos;
}

/// Adds "a" and "a.b" for "a.b.c".
void add_modules(std::set<std::string>& modules, const std::string& name) {
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    modules.insert(name.substr(0, dot));
}

}  // namespace

std::vector<std::string> module_names(const std::vector<std::string>& names) {
  std::set<std::string> modules, taken;
  for (const std::string& name : names)
    if (!has_empty_part(name)) add_modules(modules, name);
  std::vector<std::string> result;
  for (std::string name : names) {
    if (has_empty_part(name) || modules.count(name) > 0) {
      std::replace(name.begin(), name.end(), '.', '_');
      if (name.empty()) name.push_back('_');
    }
    const std::string first = name;
    for (int i = 2; modules.count(name) > 0 || !taken.insert(name).second; ++i) name = concat(first, '_', i);
    result.push_back(name);
  }
  return result;
}

}  // namespace crisol::onnx
