// The table of element types, and that no other file lists the types.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "crisol/c/crisol.h"
#include "crisol/dtype_table.h"
#include "doctest/doctest.h"
#include "support/files.h"

using namespace crisol;
using crisol::testing::read_file;

namespace {

namespace fs = std::filesystem;

std::string without_comments_and_texts(const std::string& code) {
  static const std::regex noise(R"("(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)");
  return std::regex_replace(code, noise, " ");
}

/// The types that a text names behind a pattern.
std::set<std::string> types_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> types;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) types.insert((*at)[1]);
  return types;
}

/// The code cut where a statement or a block ends. A condition stays with the statement of one line behind it.
std::vector<std::string> statements_of(const std::string& code) {
  std::vector<std::string> statements(1);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool ends_line = code.find_first_not_of(' ', i + 1) == code.find('\n', i + 1);
    if (code[i] == ';' || ((code[i] == '{' || code[i] == '}') && ends_line))
      statements.emplace_back();
    else
      statements.back() += code[i];
  }
  return statements;
}

/// The texts in braces without calls and other braces.
std::vector<std::string> lists_in_braces(const std::string& code) {
  std::vector<std::string> lists;
  for (std::size_t at = code.find('{'); at != std::string::npos; at = code.find('{', at + 1)) {
    const std::size_t end = code.find_first_of("{}();", at + 1);
    if (end != std::string::npos && code[end] == '}') lists.push_back(code.substr(at, end - at));
  }
  return lists;
}

/// What looks like a list of types: a case of a switch, types one after another in braces, and several comparisons with
/// types in one statement.
std::vector<std::string> lists_in(const std::string& file) {
  static const std::regex a_case(R"(case\s+(?:crisol::)?DType::(\w+))"), any(R"(DType::(\w+))"),
      neighbours(R"(DType::\w+\s*,\s*(?:crisol::)?DType::(\w+))"), compared(R"([=!]=\s*DType::(\w+))");
  std::vector<std::string> found;
  if (file.find("DType::") == std::string::npos) return found;
  const std::string code = without_comments_and_texts(file);
  for (const std::string& name : types_in(code, a_case)) found.push_back("case DType::" + name);
  for (const std::string& list : lists_in_braces(code))
    if (types_in(list, any).size() > 1 && !types_in(list, neighbours).empty()) found.push_back(list);
  for (const std::string& statement : statements_of(code))
    if (types_in(statement, compared).size() > 1) found.push_back(statement);
  return found;
}

}  // namespace

TEST_CASE("dtypes: what counts as a list of types") {
  CHECK(lists_in("switch (dtype) { case DType::f32: return 4; }").size() == 1);
  CHECK(lists_in("for (const DType t : {DType::f32, DType::u8}) use(t);").size() == 1);
  CHECK(lists_in("const bool x = t == DType::f32 || t == DType::f16;").size() == 1);
  CHECK(lists_in("return t == DType::f32 ? a : t == DType::i32 ? b : c;").size() == 1);
  CHECK(lists_in("return t == DType::f32 ? a : b; // case DType::f32, {DType::f32, DType::u8}").empty());
  CHECK(lists_in("const bool x = t == DType::f32, y = other == DType::f32;").empty());
  CHECK(lists_in("return {empty(shape, DType::f32), empty(shape, DType::i64)};").empty());
}

TEST_CASE("dtypes: no file but the table lists the types") {
  const std::string root = CRISOL_SOURCE_DIR;
  for (const char* const folder : {"include", "lib", "python/src", "tools", "tests/support", "samples"})
    for (const auto& entry : fs::recursive_directory_iterator(root + "/" + folder)) {
      const std::string path = entry.path().generic_string();
      if (!entry.is_regular_file() || (!path.ends_with(".cpp") && !path.ends_with(".h"))) continue;
      if (path.ends_with("include/crisol/dtype_table.h")) continue;  // with_host_type() is the one switch.
      for (const std::string& list : lists_in(read_file(path)))
        FAIL_CHECK(path << " lists types of elements: " << list);
    }
}

TEST_CASE("dtypes: the rows of the table agree with each other") {
  std::set<std::string> names, codes, words;
  std::set<char> formats;
  std::set<std::int64_t> numbers;
  for (const DType dtype : all_dtypes) {
    CAPTURE(dtype);
    const DTypeRow& row = dtype_row(dtype);
    names.insert(row.name);
    codes.insert(row.code);
    words.insert(row.python);
    CHECK((row.format == '\0' || formats.insert(row.format).second));
    numbers.insert(row.onnx);
    CHECK(value_type(value_type(dtype)) == value_type(dtype));
    CHECK(is_floating(value_type(dtype)) == is_floating(dtype));
    CHECK(size_of(value_type(dtype)) >= size_of(dtype));
    with_host_type(dtype, [&](auto element) {
      using T = decltype(element);
      using Limits = std::numeric_limits<T>;
      CHECK(dtype_of<T>() == dtype);
      CHECK(sizeof(T) == size_of(dtype));
      CHECK(as_double(element_of<T>(1)) == 1);
      if constexpr (Limits::is_specialized) {
        CHECK(Limits::digits == row.digits);
        CHECK((is_floating(dtype) ? Limits::max_exponent : 0) == row.exponent);
      }
    });
  }
  for (const std::size_t count : {names.size(), codes.size(), words.size(), numbers.size()})
    CHECK(count == all_dtypes.size());
  CHECK(CRISOL_BOOL == static_cast<int>(DType::boolean));
  CHECK(epsilon_of(DType::f32) == 0x1p-23);
  CHECK(epsilon_of(DType::f16) == 0x1p-10);
  CHECK(epsilon_of(DType::f64) == 0x1p-52);
  CHECK(epsilon_of(DType::bf16) == 0x1p-7);
}

TEST_CASE("dtypes: a promotion is a type that holds both, and the order of a chain does not matter") {
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : is_whole(dtype) ? 1 : 0; };
  // No type of whole numbers holds u64 and negative numbers.
  const auto are_apart = [](DType a, DType b) {
    return std::max(a, b) == DType::u64 && kind_of(std::min(a, b)) == DTypeKind::integer;
  };
  for (const DType a : all_dtypes)
    for (const DType b : all_dtypes) {
      const DType joint = promote_types(a, b);
      CAPTURE(a);
      CAPTURE(b);
      CHECK(joint == promote_types(b, a));
      CHECK((a != b || joint == a));
      CHECK(promote_types(joint, a) == joint);
      if (kind(a) == kind(joint)) CHECK(dtype_row(joint).digits >= dtype_row(a).digits);
      if (are_apart(a, b)) {
        CHECK(joint == DType::f64);
        continue;
      }
      CHECK(kind(joint) == std::max(kind(a), kind(b)));
      for (const DType c : all_dtypes)
        if (!are_apart(a, c) && !are_apart(b, c))
          CHECK(promote_types(joint, c) == promote_types(a, promote_types(b, c)));
    }
}

TEST_CASE("dtypes: the narrowest type that holds the numbers of a type of C++") {
  CHECK(nearest_dtype<float>() == DType::f32);
  CHECK(nearest_dtype<double>() == DType::f64);
  CHECK(nearest_dtype<bool>() == DType::boolean);
  CHECK(nearest_dtype<std::uint8_t>() == DType::u8);
  CHECK(nearest_dtype<std::int8_t>() == DType::i8);
  CHECK(nearest_dtype<std::int16_t>() == DType::i16);
  CHECK(nearest_dtype<std::uint16_t>() == DType::u16);
  CHECK(nearest_dtype<std::int32_t>() == DType::i32);
  CHECK(nearest_dtype<std::uint32_t>() == DType::u32);
  CHECK(nearest_dtype<std::uint64_t>() == DType::u64);
}
