#include "runtime/program/kernel_signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

#include "base/text.h"

namespace crisol::runtime {

namespace {

using Macros = std::map<std::string, std::string>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of a comment, a literal or a preprocessor line that begins at `at`. Returns `at` for code.
std::size_t end_of_noise(const std::string& source, std::size_t at, bool line_begins) {
  const auto after = [&](const char* mark, std::size_t from) {
    const std::size_t found = source.find(mark, from);
    return found == std::string::npos ? source.size() : found + std::string_view(mark).size();
  };
  if (source.compare(at, 2, "/*") == 0) return after("*/", at + 2);
  if (source.compare(at, 2, "//") == 0) return std::min(source.find('\n', at), source.size());
  if (source[at] == '#' && line_begins) {
    std::size_t end = at;
    do {
      end = std::min(source.find('\n', end + 1), source.size());
    } while (end < source.size() && source[end - (source[end - 1] == '\r' ? 2 : 1)] == '\\');
    return end;
  }
  if (source[at] != '"' && source[at] != '\'') return at;
  for (std::size_t end = at + 1; end < source.size() && source[end] != '\n'; ++end) {
    if (source[end] == source[at]) return end + 1;
    if (source[end] == '\\') ++end;
  }
  return at;  // This line has no literal's end.
}

/// The code without comments, literals and preprocessor lines. Blanks replace them, so that positions stay.
std::string code_of(const std::string& source) {
  std::string code = source;
  bool line_begins = true;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = end_of_noise(source, at, line_begins);
    for (std::size_t i = at; i < end; ++i)
      if (code[i] != '\n') code[i] = ' ';
    if (source[at] == '\n')
      line_begins = true;
    else if (end == at && source[at] != ' ' && source[at] != '\t')
      line_begins = false;
    at = std::max(end, at + 1);
  }
  return code;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      if (text[at] == '*' || text[at] == '[') words.emplace_back(1, text[at]);
      ++at;
      continue;
    }
    const std::size_t start = at;
    while (at < text.size() && is_word(text[at])) ++at;
    words.push_back(text.substr(start, at - start));
  }
  return words;
}

/// The lines `#define NAME WORDS` of the source. Lines with parameters or other characters are left out.
Macros macros_of(const std::string& source, const KernelDefines& defines) {
  Macros macros(defines.begin(), defines.end());
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, std::min(line.find("//"), line.find("/*")));
    std::istringstream in(line);
    std::string first, name, text;
    in >> first;
    if (first == "#") {
      in >> name;
      first += name;
    }
    if (first != "#define" || !(in >> name) || !std::all_of(name.begin(), name.end(), is_word)) continue;
    std::getline(in >> std::ws, text);
    const auto is_plain = [](char c) { return is_word(c) || std::isspace(static_cast<unsigned char>(c)) != 0; };
    if (std::all_of(text.begin(), text.end(), is_plain)) macros.emplace(name, text);
  }
  return macros;
}

/// Replaces macros in the words. Eight rounds are more than any source needs, and a macro that names itself ends.
std::vector<std::string> expanded(std::vector<std::string> words, const Macros& macros) {
  for (int round = 0; round < 8; ++round) {
    std::vector<std::string> next;
    for (const std::string& word : words) {
      const auto macro = macros.find(word);
      if (macro == macros.end())
        next.push_back(word);
      else
        for (std::string& part : words_of(macro->second)) next.push_back(std::move(part));
    }
    if (next == words) break;
    words = std::move(next);
  }
  return words;
}

/// "unsigned int" and "uint" are one type.
std::string type_of(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  static const std::map<std::string, std::string> same{
      {"unsigned char", "uchar"}, {"signed char", "char"},    {"unsigned short", "ushort"},
      {"unsigned int", "uint"},   {"unsigned", "uint"},       {"signed", "int"},
      {"signed int", "int"},      {"unsigned long", "ulong"}, {"unsigned short int", "ushort"}};
  const auto found = same.find(joined);
  return found == same.end() ? joined : found->second;
}

/// Splits "float4" into "float" and 4.
void split_lanes(KernelParameter& parameter) {
  for (const int lanes : {16, 8, 4, 2})
    if (const std::string number = std::to_string(lanes); parameter.type.ends_with(number)) {
      parameter.type.resize(parameter.type.size() - number.size());
      parameter.lanes = lanes;
      return;
    }
}

bool is_element_type(const std::string& type) {
  constexpr std::array types{"char", "uchar", "short", "ushort", "int", "uint",
                             "long", "ulong", "float", "double", "half"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Reads one declaration; the last word before a bracket is the name.
KernelParameter parameter_of(const char* op, const std::string& kernel, const std::string& declaration,
                             const Macros& macros) {
  KernelParameter parameter;
  parameter.declaration = declaration;
  const std::vector<std::string> words = words_of(declaration);
  const auto refuse = [&](const char* why) {
    fail(ErrorCode::invalid_argument, op, kernel, ": the parameter '", declaration, "' ", why);
  };
  if (std::find(words.begin(), words.end(), "[") != words.end()) refuse("is an array; write a pointer");
  if (words.size() < 2 || words.back() == "*") refuse("has no name");
  parameter.name = words.back();
  std::vector<std::string> type;
  bool is_const = false;
  for (const std::string& word : expanded({words.begin(), words.end() - 1}, macros)) {
    if (word == "*") {
      if (parameter.pointer) refuse("is a pointer to a pointer");
      parameter.pointer = true;
    } else if (word == "const") {
      is_const = is_const || !parameter.pointer;  // A const after the star belongs to the pointer, not to the elements.
    } else if (word == "__global" || word == "global") {
      parameter.address_space = "__global";
    } else if (word == "__constant" || word == "constant") {
      parameter.address_space = "__constant";
    } else if (word == "__local" || word == "local") {
      refuse("is local memory; declare it in the kernel: __local float name[64];");
    } else if (word != "restrict" && word != "__restrict" && word != "__restrict__" && word != "volatile" &&
               word != "__private" && word != "private") {
      type.push_back(word);
    }
  }
  parameter.type = type_of(type);
  split_lanes(parameter);
  if (!is_element_type(parameter.type)) refuse("has a type that is not known; use OpenCL's float, int, uchar, …");
  if (parameter.pointer) {
    if (parameter.address_space.empty()) refuse("needs __global before its type");
    parameter.written = !is_const && parameter.address_space == "__global";
  } else if (parameter.lanes != 1 || parameter.type == "half") {
    refuse("cannot be passed as a number; use a scalar type other than half");
  }
  return parameter;
}

struct Definition {
  std::size_t open, close, body;  ///< The places of the parentheses and of the brace.
};

/// Finds the parentheses after `name`, if a kernel of this name is defined at `at`.
bool find_definition(const std::string& code, std::size_t at, const std::string& name, Definition& found) {
  if ((at > 0 && is_word(code[at - 1])) || at + name.size() >= code.size()) return false;
  found.open = code.find_first_not_of(" \t\r\n", at + name.size());
  if (found.open == std::string::npos || code[found.open] != '(') return false;
  int depth = 0;
  for (found.close = found.open; found.close < code.size(); ++found.close) {
    if (code[found.close] == '(') ++depth;
    if (code[found.close] == ')' && --depth == 0) break;
  }
  if (found.close >= code.size()) return false;
  found.body = code.find_first_not_of(" \t\r\n", found.close + 1);
  if (found.body == std::string::npos || code[found.body] != '{') return false;  // Only declared.
  const std::size_t last = at == 0 ? std::string::npos : code.find_last_of(";{}", at - 1);
  const std::size_t start = last == std::string::npos ? 0 : last + 1;
  const std::vector<std::string> before = words_of(code.substr(start, at - start));
  return std::any_of(before.begin(), before.end(),
                     [](const std::string& w) { return w == "__kernel" || w == "kernel"; });
}

bool has_directive(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line, first; std::getline(lines, line); first.clear())
    if (std::istringstream(line) >> first && first.front() == '#') return true;
  return false;
}

std::vector<std::string> split_parameters(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream words(part);
    std::string declaration;
    for (std::string word; words >> word;) declaration += (declaration.empty() ? "" : " ") + word;
    list.push_back(declaration);
  }
  if (list.size() == 1 && (list[0].empty() || list[0] == "void")) list.clear();
  return list;
}

/// `__global const float* x` becomes `__global const float* x_buffer, ulong x_first`, and the body begins with
/// `__global const float* x = (…)((…)x_buffer + x_first);`. The position counts single elements, also for vectors.
std::string rewritten(const std::string& source, const Definition& at, const std::vector<KernelParameter>& parameters) {
  std::string list, start = "{";
  for (const KernelParameter& parameter : parameters) {
    list += list.empty() ? "" : ", ";
    if (!parameter.pointer) {
      list += parameter.declaration;
      continue;
    }
    const bool is_const = !parameter.written && parameter.address_space == "__global";
    const std::string qualified = concat(parameter.address_space, is_const ? " const " : " ", parameter.type);
    const std::string vector = parameter.lanes == 1 ? "" : std::to_string(parameter.lanes);
    list += concat(qualified, "* crisol_", parameter.name, ", ulong crisol_first_", parameter.name);
    start += concat(' ', parameter.declaration, " = (", qualified, vector, "*)(crisol_", parameter.name,
                    " + crisol_first_", parameter.name, ");");
  }
  const std::string old = source.substr(at.open, at.body - at.open);
  const std::string lines(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
  return concat(source.substr(0, at.open), '(', list, ") ", lines, start, source.substr(at.body + 1));
}

}  // namespace

KernelSignature read_signature(const char* op, const std::string& source, const std::string& name,
                               const KernelDefines& defines) {
  require(!name.empty() && std::all_of(name.begin(), name.end(), is_word), op, "'", name, "' is no name of a kernel");
  const std::string code = code_of(source);
  std::vector<Definition> found;
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + name.size()))
    if (Definition one{}; find_definition(code, at, name, one)) found.push_back(one);
  require(!found.empty(), op, "the source has no '__kernel void ", name, "(…) { … }'");
  require(found.size() == 1, op, "the source has ", found.size(), " kernels of the name ", name);
  require(!has_directive(source.substr(found[0].open, found[0].close - found[0].open)), op, name,
          " has a preprocessor line between its parentheses");
  const Macros macros = macros_of(source, defines);
  KernelSignature signature;
  for (const std::string& declaration :
       split_parameters(code.substr(found[0].open + 1, found[0].close - found[0].open - 1)))
    signature.parameters.push_back(parameter_of(op, name, declaration, macros));
  signature.source = rewritten(source, found[0], signature.parameters);
  return signature;
}

}  // namespace crisol::runtime
