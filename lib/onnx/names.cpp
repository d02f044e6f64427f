#include "onnx/names.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace crisol::onnx {

namespace {

/// Whether a name cannot be a path of modules. Long names are excluded, because they could have any number of parts.
bool is_no_path(const std::string& name) {
  constexpr std::size_t longest = 500;
  return name.empty() || name.size() > longest || name.front() == '.' || name.back() == '.' ||
         name.find("..") != std::string::npos;
}

/// For the name "a.b.c", adds "a" and "a.b".
void add_modules(std::set<std::string>& modules, const std::string& name) {
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    modules.insert(name.substr(0, dot));
}

}  // namespace

std::vector<std::string> module_names(const std::vector<std::string>& names) {
  std::set<std::string> modules, taken;
  for (const std::string& name : names)
    if (!is_no_path(name)) add_modules(modules, name);
  std::map<std::string, int> numbers;  // The last number for each name that occurs more than once.
  std::vector<std::string> result;
  for (std::string name : names) {
    if (is_no_path(name) || modules.count(name) > 0) {
      std::replace(name.begin(), name.end(), '.', '_');
      if (name.empty()) name.push_back('_');
    }
    const std::string first = name;
    int& number = numbers.try_emplace(first, 1).first->second;
    while (modules.count(name) > 0 || !taken.insert(name).second) name = concat(first, '_', ++number);
    result.push_back(name);
  }
  return result;
}

}  // namespace crisol::onnx
