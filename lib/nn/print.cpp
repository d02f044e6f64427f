// Modules as text.
#include <cstdlib>
#include <ostream>

#include "base/text.h"
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

// 1,290
std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

// The name of a class without namespaces.
std::string name_of(const std::type_info& type) {
  const std::string name = demangled(type.name());
  std::size_t first = 0;
  int depth = 0;  // The depth of brackets, because the arguments of a template have namespaces too.
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

std::string Module::extra_repr() const {
  std::string text;
  for (const auto& [name, parameter] : state_->parameters)
    text += concat(text.empty() ? "" : ", ", name, '=', parameter.shape());
  return text;
}

void Module::print(std::ostream& out, const std::string& indent) const {
  const std::string extra = extra_repr();
  out << type_name() << '(' << extra;
  for (const auto& [name, child] : state_->children) {
    out << '\n' << indent << "  (" << name << "): ";
    child->print(out, indent + "  ");
  }
  if (!state_->children.empty()) out << '\n' << indent;
  out << ')';
  const std::int64_t count = parameter_count();
  if (count > 0) out << ", " << with_commas(count) << (count == 1 ? " parameter" : " parameters");
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, "");
  return out;
}

}  // namespace crisol::nn
