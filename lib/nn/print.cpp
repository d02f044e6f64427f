// Modules as text.
#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>

#include "base/text.h"
#include "crisol/nn/module_list.h"
#include "nn/module_state.h"
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

namespace crisol::nn {

namespace {

std::string demangled(const char* name) {
#if __has_include(<cxxabi.h>)
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (status == 0) return text.get();
#endif
  return name;
}

/// Calls line(text) for each line of a text.
template <class Line>
void for_each_line(const std::string& text, const Line& line) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    line(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// The name of a class without its namespaces.
std::string name_of(const std::type_info& type) {
  const std::string name = demangled(type.name());
  std::size_t first = 0;
  int depth = 0;  // The depth of brackets. Namespaces inside of brackets belong to template arguments.
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') first = i + 2;
  }
  return name.substr(first);
}

}  // namespace

std::string Module::type_name() const { return name_of(typeid(*this)); }

void Module::throw_wrong_class(const std::string& name, const std::type_info& type) const {
  fail(ErrorCode::invalid_argument, "module", "'", name, "' is a ", module(name).type_name(), ", not a ",
       name_of(type));
}

std::string Module::extra_repr() const { return {}; }

void Module::print(std::ostream& out, const std::string& indent) const {
  const std::string extra = extra_repr();
  const auto& children = state_->children;
  out << type_name() << '(';
  if (children.empty() && extra.find('\n') == std::string::npos) {
    out << extra << ')';
    return;
  }
  for_each_line(extra, [&](const std::string& line) { out << '\n' << indent << "  " << line; });
  std::vector<std::string> texts;
  for (const auto& [name, child] : children) {
    std::ostringstream text;
    child->print(text, indent + "  ");
    texts.push_back(text.str());
  }
  const bool joins = dynamic_cast<const ModuleList*>(this) != nullptr;
  for (std::size_t first = 0, end = 0; first < texts.size(); first = end) {
    end = first + 1;
    while (joins && end < texts.size() && texts[end] == texts[first]) ++end;
    out << '\n' << indent << "  (" << children[first].first;
    if (end - first > 1) out << '-' << children[end - 1].first << "): " << end - first << " x ";
    if (end - first == 1) out << "): ";
    out << texts[first];
  }
  out << '\n' << indent << ')';
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, "");
  return out;
}

}  // namespace crisol::nn
