#include "runtime/program/kernel_calls.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace crisol::runtime {

namespace {

constexpr std::string_view void_name = "_KERNEL void ";

struct KernelText {
  std::size_t begin, name, open, close, end;  ///< Positions: the beginning of the line, the name, both parentheses,
                                              /// and the end after the last brace.
};

bool in_identifier(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_moved(std::string_view word, std::string_view source) {
  constexpr std::string_view width = "#define VW ";
  if (word == "CPU_KERNEL" || word == "VECTOR_KERNEL" || word == "STEP_KERNEL") return true;
  const std::size_t at = source.find(width);
  return word == "EACH_ROW_KERNEL" && at < source.find("//") && source.substr(at + width.size(), 2) != "1\n";
}

// Finds the kernel whose first line has void_name at `at`. The function's last brace is the first brace in column 0.
bool find_kernel(const std::string& source, std::size_t at, KernelText& found) {
  found.begin = source.rfind('\n', at) + 1;
  found.name = at + void_name.size();
  if (!is_moved(source.substr(found.begin, at + void_name.find(' ') - found.begin), source)) return false;
  found.open = source.find('(', found.name);
  int depth = 0;
  for (found.close = found.open; found.close < source.size(); ++found.close) {
    if (source[found.close] == '(') ++depth;
    if (source[found.close] == ')' && --depth == 0) break;
  }
  found.end = source.find("\n}\n", found.close);
  if (found.end == std::string::npos) return false;
  found.end += 3;
  return true;
}

// The names that a list of parameters declares.
std::string names_of(std::string_view parameters) {
  constexpr std::string_view list = "_PARAMETERS", names = "_ARGUMENTS";
  std::string out;
  while (!parameters.empty()) {
    const std::size_t comma = std::min(parameters.find(','), parameters.size());
    std::string_view one = parameters.substr(0, comma);
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    while (!one.empty() && !in_identifier(one.back())) one.remove_suffix(1);
    std::size_t first = one.size();
    while (first > 0 && in_identifier(one[first - 1])) --first;
    one.remove_prefix(first);
    out += one.ends_with(list) ? concat(one.substr(0, one.size() - list.size()), names) : std::string(one);
    out += ", ";
  }
  return out;
}

}  // namespace

std::string with_calls_of_kernels(const std::string& source) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = source.find(void_name); at != std::string::npos; at = source.find(void_name, at + 1)) {
    KernelText kernel{};
    if (!find_kernel(source, at, kernel)) continue;
    const std::string_view text = source;
    const std::string_view start = text.substr(kernel.begin, kernel.name - kernel.begin);
    const std::string_view name = text.substr(kernel.name, kernel.open - kernel.name);
    const std::string_view parameters = text.substr(kernel.open + 1, kernel.close - kernel.open - 1);
    const std::string_view code = text.substr(kernel.close + 1, kernel.end - kernel.close - 1);
    out += text.substr(done, kernel.begin - done);
    out += concat(
        "#define get_global_id(axis) global_id_##axis\n#define get_global_size(axis) global_size_##axis\n"
        "static __attribute__((noinline)) void code_of_",
        name, '(', parameters,
        ", const size_t global_id_0, const size_t global_id_1, const size_t global_id_2, const size_t global_size_0, "
        "const size_t global_size_1, const size_t global_size_2)",
        code, "#undef get_global_id\n#undef get_global_size\n", start, name, '(', parameters, ") {\n  code_of_", name,
        '(', names_of(parameters),
        "get_global_id(0), get_global_id(1), get_global_id(2), get_global_size(0), get_global_size(1), "
        "get_global_size(2));\n}\n");
    done = kernel.end;
  }
  return out + source.substr(done);
}

}  // namespace crisol::runtime
