#include "crisol/io/safetensors.h"

#include <filesystem>
#include <limits>

#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"
#include "support/unopenable.h"

namespace fs = std::filesystem;
using crisol::DType;
using crisol::ErrorCode;
using crisol::NamedTensors;
using crisol::Shape;
using crisol::Tensor;
using crisol::io::load_safetensors;
using crisol::io::parse_safetensors;
using crisol::io::SafetensorsHeader;
using crisol::io::save_safetensors;
using crisol::testing::read_file;
using crisol::testing::refusal;
using crisol::testing::TemporaryFolder;
using crisol::testing::Unopenable;
using crisol::testing::write_file;
using doctest::Contains;

namespace {

std::string length_prefix(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes;
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return length_prefix(header.size()) + header + std::string(data_bytes, '\1');
}

// Parses the file and returns the error message. Loading the whole file must fail with the same message.
doctest::String refusal_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/hostile.safetensors";
  write_file(path, bytes);
  doctest::String text = refusal(ErrorCode::io, [&] { parse_safetensors(path); });
  CHECK(refusal(ErrorCode::io, [&] { load_safetensors(path); }) == text);
  CHECK(text == Contains((path + ": ").c_str()));
  return text;
}

doctest::String refusal_of(const std::string& header, std::size_t data_bytes) {
  return refusal_of(file_of(header, data_bytes));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one_tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":)" + entry(dtype, shape, offsets) + "}";
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a safetensors header is read with names, dtypes, shapes, ranges and metadata") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f.safetensors";
  // The ranges are in another order than the header. There are an empty tensor, a scalar, escapes in a name, and
  // padding with spaces.
  const std::string header = R"({"__metadata__":{"format":"pt","x":""},"b":)" + entry("F32", "[2,3]", "[8,32]") +
                             R"(,"\u00e9\"":)" + entry("I64", "[]", "[0,8]") + R"(,"none":)" +
                             entry("U8", "[4,0]", "[32,32]") + "}   ";
  write_file(path, file_of(header, 32));
  const SafetensorsHeader parsed = parse_safetensors(path);
  CHECK(parsed.data_begin == 8 + header.size());
  CHECK(parsed.metadata == crisol::io::Metadata{{"format", "pt"}, {"x", ""}});
  REQUIRE(parsed.entries.size() == 3);
  CHECK(parsed.entries[0].name == "b");
  CHECK(parsed.entries[0].dtype == DType::f32);
  CHECK(parsed.entries[0].shape == Shape{2, 3});
  CHECK(parsed.entries[0].begin == 8);
  CHECK(parsed.entries[0].end == 32);
  CHECK(parsed.entries[1].name == "\u00e9\"");
  CHECK(parsed.entries[1].shape == Shape{});
  CHECK(parsed.entries[2].shape == Shape{4, 0});
}

TEST_CASE("a safetensors file without tensors is empty, not wrong") {
  const TemporaryFolder folder;
  write_file(folder.path() + "/f", file_of("{}", 0));
  CHECK(parse_safetensors(folder.path() + "/f").entries.empty());
  CHECK(load_safetensors(folder.path() + "/f").empty());
}

TEST_CASE("a safetensors file with a wrong frame is refused") {
  CHECK(refusal_of("1234567") == Contains("truncated: 7 bytes, at least 8 expected"));
  CHECK(refusal_of(length_prefix(100'000'001) + "{}") ==
        Contains("a header of 100000001 bytes, at most 100000000 allowed"));
  CHECK(refusal_of(length_prefix(std::numeric_limits<std::uint64_t>::max()) + "{}") ==
        Contains("a header of 18446744073709551615 bytes"));
  CHECK(refusal_of(length_prefix(100) + "{}") == Contains("truncated: a header of 100 bytes, 2 left in the file"));
  CHECK(refusal_of("", 0) == Contains("the header does not begin with '{'"));
  CHECK(refusal_of(" {}", 0) == Contains("the header does not begin with '{'"));
  CHECK(refusal_of("[]", 0) == Contains("the header does not begin with '{'"));
}

TEST_CASE("a safetensors header that is not the expected JSON is refused") {
  CHECK(refusal_of("{\"w\":", 0) == Contains("invalid JSON at byte 6 of the header"));
  CHECK(refusal_of("{} {}", 0) == Contains("invalid JSON"));
  CHECK(refusal_of(std::string("{}\0", 3), 0) == Contains("invalid JSON at byte 2 of the header: a zero byte"));
  CHECK(refusal_of("{\"\xff\":{}}", 0) == Contains("invalid JSON"));
  CHECK(refusal_of("{\"w\":" + std::string(1'000'000, '['), 0) == Contains("\"w\" holds an array, an object expected"));
  CHECK(refusal_of(R"({"w":3})", 0) == Contains("\"w\" holds a number, an object expected"));
  CHECK(refusal_of(R"({"w":null})", 0) == Contains("\"w\" holds null, an object expected"));
  CHECK(refusal_of(R"({"__metadata__":{"a":1}})", 0) == Contains("metadata \"a\" holds a number, a string expected"));
  CHECK(refusal_of(R"({"__metadata__":{"a":{}}})", 0) == Contains("metadata \"a\" holds an object"));
  CHECK(refusal_of(R"({"__metadata__":"a"})", 0) == Contains("\"__metadata__\" holds a string, an object expected"));
  CHECK(refusal_of(R"({"w":{"dtype":32}})", 4) == Contains("dtype of tensor \"w\" holds a number, a string expected"));
  CHECK(refusal_of(R"({"w":{"shape":"2"}})", 4) == Contains("shape of tensor \"w\" holds a string, an array of num"));
  CHECK(refusal_of(R"({"w":{"shape":[true]}})", 4) == Contains("holds a boolean, a number expected"));
  CHECK(refusal_of(R"({"w":{"shape":[[1]]}})", 4) == Contains("holds an array, a number expected"));
  CHECK(refusal_of(R"({"w":{"colour":1}})", 4) == Contains("tensor \"w\" has the unknown field \"colour\""));
  CHECK(refusal_of(R"({"w":{}})", 0) == Contains("tensor \"w\" has no dtype"));
  CHECK(refusal_of(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4) == Contains("tensor \"w\" has no shape"));
  CHECK(refusal_of(R"({"w":{"dtype":"F32","shape":[1]}})", 4) == Contains("tensor \"w\" has no data_offsets"));
}

TEST_CASE("keys that appear twice in a safetensors header are refused") {
  const std::string w = entry("U8", "[1]", "[0,1]");
  CHECK(refusal_of(R"({"w":)" + w + R"(,"w":)" + w + "}", 1) == Contains("key \"w\" appears twice"));
  CHECK(refusal_of(R"({"__metadata__":{},"__metadata__":{}})", 0) == Contains("key \"__metadata__\" appears twice"));
  CHECK(refusal_of(R"({"__metadata__":{"a":"1","a":"2"}})", 0) == Contains("key \"a\" appears twice"));
  CHECK(refusal_of(R"({"w":{"dtype":"U8","dtype":"U8"}})", 1) == Contains("key \"dtype\" appears twice"));
}

TEST_CASE("dtypes and shapes that no tensor has are refused") {
  CHECK(refusal_of(one_tensor("C64", "[1]", "[0,8]"), 8) ==
        Contains("dtype of tensor \"w\" is \"C64\", supported are F32, F16, I32, I64, U8, BOOL, F64, BF16, I8, I16, "
                 "U16, U32 and U64"));
  CHECK(refusal_of(one_tensor("f32", "[1]", "[0,4]"), 4) == Contains("is \"f32\", supported are"));
  CHECK(refusal_of(one_tensor("F32", "[-1]", "[0,4]"), 4) == Contains("holds the negative number -1"));
  CHECK(refusal_of(one_tensor("F32", "[1.0]", "[0,4]"), 4) == Contains("holds 1.0, which is no integer"));
  CHECK(refusal_of(one_tensor("F32", "[1e3]", "[0,4]"), 4) == Contains("holds 1e3, which is no integer"));
  CHECK(refusal_of(one_tensor("U8", "[9223372036854775808]", "[0,4]"), 4) == Contains("at most 2^63-1 allowed"));
  CHECK(refusal_of(one_tensor("U8", "[99999999999999999999]", "[0,4]"), 4) == Contains("no integer of 64 bits"));
  // The product overflows to 4 bytes.
  CHECK(refusal_of(one_tensor("F32", "[4294967296,4294967296,1]", "[0,4]"), 4) == Contains("has too many elements"));
  CHECK(refusal_of(one_tensor("F32", "[4611686018427387905]", "[0,4]"), 4) == Contains("has too many elements"));
  // No tensor may have such sizes, not even an empty one.
  CHECK(refusal_of(one_tensor("U8", "[0,1099511627776,1099511627776]", "[0,0]"), 0) ==
        Contains("has too many elements"));
  CHECK(refusal_of(one_tensor("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1) ==
        Contains("has more than 25 sizes"));
}

TEST_CASE("ranges that do not tile the data are refused") {
  CHECK(refusal_of(one_tensor("F32", "[1]", "[4,0]"), 4) == Contains("at bytes 4 to 0 ends before it begins"));
  CHECK(refusal_of(one_tensor("F32", "[2]", "[0,8]"), 7) ==
        Contains("at bytes 0 to 8 is out of range: the file has 7 bytes of data"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[18446744073709551612,18446744073709551615]"), 4) ==
        Contains("is out of range"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[0]"), 4) == Contains("data_offsets of tensor \"w\" has 1 numbers"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[0,4,8]"), 4) == Contains("has more than 2 numbers"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[-4,4]"), 4) == Contains("holds the negative number -4"));
  CHECK(refusal_of(one_tensor("F32", "[2]", "[0,4]"), 4) ==
        Contains("at bytes 0 to 4 takes 4 bytes, F32 of shape (2) takes 8"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[0,4]"), 9) == Contains("trailing data: the tensors end at byte 4 of 9"));
  CHECK(refusal_of(one_tensor("F32", "[1]", "[4,8]"), 8) == Contains("leaves a hole of 4 bytes before it"));
  CHECK(refusal_of("{}", 3) == Contains("trailing data: the tensors end at byte 0 of 3"));
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":)" + entry("U8", "[4]", first) + R"(,"b":)" + entry("U8", "[4]", second) + "}";
  };
  CHECK(refusal_of(two("[0,4]", "[2,6]"), 6) == Contains("tensor \"b\" at bytes 2 to 6 overlaps"));
  CHECK(refusal_of(two("[0,4]", "[0,4]"), 4) == Contains("overlaps"));
  CHECK(refusal_of(two("[5,9]", "[0,4]"), 9) == Contains("tensor \"a\" at bytes 5 to 9 leaves a hole of 1 bytes"));
}

TEST_CASE("booleans in a safetensors file are 0 or 1") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  write_file(path, file_of(one_tensor("BOOL", "[3]", "[0,3]"), 2) + "\7");
  CHECK(refusal(ErrorCode::io, [&] { load_safetensors(path); }) ==
        Contains("tensor \"w\" is BOOL and holds 7 at element 2, only 0 and 1 allowed"));
}

TEST_CASE("what is no file is no safetensors file") {
  const TemporaryFolder folder;
  CHECK(refusal(ErrorCode::io, [&] { load_safetensors(folder.path()); }) == Contains("not a regular file"));
  CHECK(refusal(ErrorCode::io, [&] { load_safetensors(folder.path() + "/no"); }) == Contains("/no: no such file"));
}

TEST_CASE("a safetensors file that cannot be opened is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  save_safetensors(path, {{"w", crisol::ones({2})}});
  doctest::String text;
  {
    const Unopenable locked(path);
    text = refusal(ErrorCode::io, [&] { load_safetensors(path); });
  }
  CHECK(text == Contains("/f: cannot be opened"));
}

TEST_CASE("tensors of every dtype come back from a safetensors file in order") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f.safetensors";
  const std::vector<float> floats{1.5f, -0.0f, std::numeric_limits<float>::infinity(), 1e-40f, 5, 6};
  const std::vector<std::int64_t> longs{std::numeric_limits<std::int64_t>::min(), 7};
  const std::uint8_t flags[3] = {1, 0, 1};
  NamedTensors tensors;
  tensors.emplace_back("flags", crisol::from_bytes(flags, {3}, DType::boolean));
  tensors.emplace_back("weight", crisol::from_vector(floats, {2, 3}));
  tensors.emplace_back("halves", crisol::from_vector(std::vector<crisol::Half>{crisol::Half(0.5f)}, Shape{1, 1}));
  tensors.emplace_back("steps", crisol::from_vector(longs));
  tensors.emplace_back("ints", crisol::from_vector(std::vector<std::int32_t>{-3}, Shape{}));
  tensors.emplace_back("none", crisol::zeros({0, 4}));
  // A view is written in the order of its elements, not of its storage.
  tensors.emplace_back("view", tensors[1].second.transpose(0, 1));
  save_safetensors(path, tensors, {{"format", "pt"}, {"note", "\u00fc \"quoted\""}});

  const SafetensorsHeader header = parse_safetensors(path);
  CHECK(header.metadata.at("note") == "\u00fc \"quoted\"");
  CHECK(header.data_begin % 8 == 0);
  for (const auto& e : header.entries) CHECK(e.begin % size_of(e.dtype) == 0);

  const NamedTensors loaded = load_safetensors(path);
  REQUIRE(loaded.size() == tensors.size());
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    CAPTURE(tensors[i].first);
    CHECK(loaded[i].first == tensors[i].first);
    CHECK(loaded[i].second.shape() == tensors[i].second.shape());
    REQUIRE(loaded[i].second.dtype() == tensors[i].second.dtype());
    const auto bytes_of = [](const Tensor& t) {
      std::vector<std::uint8_t> bytes(static_cast<std::size_t>(t.numel()) * size_of(t.dtype()));
      if (!bytes.empty()) t.read_bytes(bytes.data());
      return bytes;
    };
    CHECK(bytes_of(loaded[i].second) == bytes_of(tensors[i].second));
  }
  CHECK(loaded.back().second.to_vector<float>()[1] == floats[3]);
}

TEST_CASE("what is written to a safetensors file is what the format says, byte by byte") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  save_safetensors(path, {{"w", crisol::from_vector(std::vector<std::int32_t>{1, 258})}});
  const std::string header = R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  CHECK(read_file(path) == length_prefix(padded.size()) + padded + std::string("\1\0\0\0\2\1\0\0", 8));
}

TEST_CASE("saving replaces a file as a whole and leaves nothing else behind") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  write_file(path, "old");
  save_safetensors(path, {{"w", crisol::ones({2})}});
  CHECK(load_safetensors(path)[0].second.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a save that fails leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/f";
  write_file(path, "old");
  const Tensor w = crisol::ones({2});
  const auto refused = [&](const NamedTensors& tensors, const crisol::io::Metadata& metadata = {}) {
    return refusal(ErrorCode::invalid_argument, [&] { save_safetensors(path, tensors, metadata); });
  };
  CHECK(refused({{"w", w}, {"w", w}}) == Contains("two tensors are named \"w\""));
  CHECK(refused({{"__metadata__", w}}) == Contains("no tensor may be named __metadata__"));
  CHECK(refused({{"\xff", w}}) == Contains("not UTF-8"));
  CHECK(refused({{"w", w}}, {{"a", "\xff"}}) == Contains("not UTF-8"));
  CHECK(refused({{"w", Tensor()}}) == Contains("tensor \"w\" is undefined"));
  CHECK(refused({{std::string(100'000'000, 'w'), w}}) == Contains("the format allows 100000000"));
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder.path()) == 1);

  CHECK(refusal(ErrorCode::io, [&] {
          save_safetensors(folder.path() + "/none/f", {{"w", w}});
        }) == Contains("/none/f cannot be created: "));
  // A folder has this name, so only the renaming fails.
  fs::create_directory(folder.path() + "/taken");
  CHECK(refusal(ErrorCode::io, [&] {
          save_safetensors(folder.path() + "/taken", {{"w", w}});
        }) == Contains("/taken cannot be written: "));
  CHECK(files_in(folder.path()) == 2);
}
