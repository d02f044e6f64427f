#include "crisol/io/csv.h"

#include <cmath>

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using doctest::Contains;
using testing::refusal;

namespace {

io::Csv parse(const std::string& text, const io::CsvOptions& options = {}) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path() + "/table.csv", text);
  return io::Csv(folder.path() + "/table.csv", options);
}

doctest::String parse_refusal(const std::string& text) {
  return refusal(ErrorCode::io, [&] { parse(text); });
}

}  // namespace

TEST_CASE("CSV: columns as numbers and classes") {
  for (const std::string end : {"\n", "\r\n"}) {
    const io::Csv table =
        parse("width,kind,\"the height\"" + end + "1.5,cat,-2e3" + end + "+3,dog,0" + end + end + "\"nan\",cat,inf");
    CHECK(table.columns() == std::vector<std::string>{"width", "kind", "the height"});
    REQUIRE(table.rows() == 3);
    const Tensor numbers = table.numbers({"the height", "width"});
    CHECK(numbers.shape() == Shape{3, 2});
    const std::vector<float> values = numbers.to_vector<float>();
    CHECK(std::vector<float>(values.begin(), values.begin() + 4) == std::vector<float>{-2000, 1.5f, 0, 3});
    CHECK(std::isinf(values[4]));
    CHECK(std::isnan(values[5]));
    CHECK(table.numbers_except({"kind"}).shape() == Shape{3, 2});
    const std::vector<float> others = table.numbers_except({"kind"}).to_vector<float>();
    CHECK(std::vector<float>(others.begin(), others.begin() + 4) == std::vector<float>{1.5f, -2000, 3, 0});
    CHECK(table.numbers_except({"the height", "kind"}).shape() == Shape{3, 1});
    CHECK(table.class_names("kind") == std::vector<std::string>{"cat", "dog"});
    CHECK(table.classes("kind").to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 0});
    CHECK(table.classes("kind", {"dog", "bird", "cat"}).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{2, 0, 2});
    CHECK(table.text(1, "kind") == "dog");
  }
}

TEST_CASE("CSV: quotes, separators and files without a header") {
  const io::Csv table = parse("\"a \"\"b\"\"\n;c\";\"\";x\n1;;\n", {.separator = ';', .header = false});
  CHECK(table.columns() == std::vector<std::string>{"0", "1", "2"});
  REQUIRE(table.rows() == 2);
  CHECK(table.text(0, "0") == "a \"b\"\n;c");
  CHECK(table.text(0, "1").empty());
  CHECK(table.text(1, "2").empty());
  CHECK(parse("a,b\n").rows() == 0);
  CHECK(parse("a,b\n").numbers({"a"}).shape() == Shape{0, 1});
  CHECK(parse("\xef\xbb\xbfname\n1").columns()[0] == "name");
}

TEST_CASE("CSV: a bad file is refused by name and line") {
  CHECK(refusal(ErrorCode::io, [] { io::Csv("/nowhere/table.csv"); }) ==
        Contains("[csv] /nowhere/table.csv: no such file"));
  CHECK(parse_refusal("") == Contains("table.csv: an empty file"));
  CHECK(parse_refusal("\n\n") == Contains("an empty file"));
  CHECK(parse_refusal("a,b\n1,2\n\n1,2,3\n") == Contains("line 4 has 3 fields, the first row has 2"));
  CHECK(parse_refusal("a,b\n1\n") == Contains("line 2 has 1 fields"));
  CHECK(parse_refusal("a,b\n\"x\ny\",2\n1\n") == Contains("line 4 has 1 fields"));
  CHECK(parse_refusal("a\nx\"y\n") == Contains("line 2: a quote inside a field"));
  CHECK(parse_refusal("a\n\"x\"y\n") == Contains("line 2: text behind the end of a quoted field"));
  CHECK(parse_refusal("a\n1\n\"x\n\n") == Contains("line 3: a quote without its end"));
  CHECK(parse_refusal("a\n\"x\"\"") == Contains("line 2: a quote without its end"));
  CHECK(parse_refusal("a,a\n1,2\n") == Contains("two columns are named \"a\""));
  CHECK(parse_refusal(std::string("a\n1\0\n", 5)) == Contains("a zero byte at position 3"));
  testing::check_error([] { parse("a\n1\n", {.separator = '"'}); }, {"[Csv]", "separator"});
}

TEST_CASE("CSV: a bad field, row or column is refused") {
  const io::Csv table = parse("x,y\n1,\n2,1e39\n3,0x10\n4,5 \n");
  const auto number_refusal = [&](const std::string& text) {
    return refusal(ErrorCode::io, [&] { parse("x\n" + text + "\n1\n").numbers({"x"}); });
  };
  CHECK(refusal(ErrorCode::io, [&] {
          table.numbers({"x", "y"});
        }) == Contains("the row at line 2, column \"y\": \"\" is not a number"));
  CHECK(number_refusal("1e39") == Contains("is out of range"));
  CHECK(number_refusal("-1e999") == Contains("is out of range"));
  CHECK(number_refusal("0x10") == Contains("\"0x10\" is not a number"));
  CHECK(number_refusal("5 ") == Contains("\"5 \" is not a number"));
  CHECK(number_refusal("--5") == Contains("is not a number"));
  CHECK(parse("x\n1e-50\n").numbers({"x"}).item() == 0);
  testing::check_error([&] { table.numbers({"z"}); }, {"no column \"z\"", "\"x\", \"y\""});
  testing::check_error([&] { table.numbers_except({"x", "z"}); }, {"no column \"z\"", "\"x\", \"y\""});
  CHECK(table.numbers_except({"x", "y"}).shape() == Shape{4, 0});
  testing::check_error([&] { table.text(4, "x"); }, {"row 4 is not in [0, 4)"});
  testing::check_error([&] { table.classes("x", {"1", "1"}); }, {"a class is named twice"});
  CHECK(refusal(ErrorCode::io, [&] {
          table.classes("x", {"1", "2"});
        }) == Contains("line 4, column \"x\": \"3\" is none of the 2 classes"));
}
