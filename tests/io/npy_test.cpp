#include "crisol/io/npy.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "crisol/io/safetensors.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using doctest::Contains;
using testing::refusal;
using testing::TemporaryFolder;
using testing::write_file;

namespace {

std::string little(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A .npy file of version 1 with this header.
std::string npy_with(const std::string& header, const std::string& data) {
  return "\x93NUMPY" + std::string("\x01\x00", 2) + little(header.size(), 2) + header + data;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran = false) {
  return npy_with("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                      ", 'shape': " + shape + ", }          \n",
                  data);
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::string swapped(const std::vector<T>& values) {
  std::string bytes = bytes_of(values);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T))
    std::reverse(bytes.begin() + i, bytes.begin() + i + sizeof(T));
  return bytes;
}

struct Member {
  std::string name, bytes;
  bool deflated = false;
};

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(result.size() - stream.avail_out);
  deflateEnd(&stream);
  return result;
}

// An archive as Python's zipfile writes it.
std::string zip(const std::vector<Member>& members) {
  std::string archive, list;
  for (const Member& m : members) {
    const std::string stored = m.deflated ? deflated(m.bytes) : m.bytes;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::string common = little(20, 2) + little(0, 2) + little(m.deflated ? 8 : 0, 2) + little(0, 4) +
                               little(crc, 4) + little(stored.size(), 4) + little(m.bytes.size(), 4) +
                               little(m.name.size(), 2);
    const std::string extra = "\x01\x02\x03\x04";
    list += "PK\x01\x02" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) +
            little(0, 4) + little(archive.size(), 4) + m.name;
    archive += "PK\x03\x04" + common + little(extra.size(), 2) + m.name + extra + stored;
  }
  return archive + list + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) +
         little(list.size(), 4) + little(archive.size(), 4) + little(0, 2);
}

struct File {
  explicit File(const std::string& bytes) { write_file(path, bytes); }
  TemporaryFolder folder;
  std::string path = folder.path() + "/file";
};

doctest::String npy_refusal(const std::string& bytes) {
  const File file(bytes);
  return refusal(ErrorCode::io, [&] { io::load_npy(file.path); });
}

doctest::String npz_refusal(const std::string& bytes) {
  const File file(bytes);
  return refusal(ErrorCode::io, [&] { io::load_npz(file.path); });
}

template <class T>
void check_type(const std::string& descr, const std::string& data, const std::vector<T>& expected) {
  CAPTURE(descr);
  const File file(npy(descr, "(3,)", data));
  const Tensor x = io::load_npy(file.path);
  CHECK(x.shape() == Shape{3});
  REQUIRE(x.dtype() == dtype_of<T>());
  CHECK(x.to_vector<T>() == expected);
}

}  // namespace

TEST_CASE("npy: every element type, in both byte orders") {
  check_type<float>("<f4", bytes_of<float>({1.5f, -2, 3e30f}), {1.5f, -2, 3e30f});
  check_type<float>(">f4", swapped<float>({1.5f, -2, 3e30f}), {1.5f, -2, 3e30f});
  check_type<double>("<f8", bytes_of<double>({0.1, -2, 1e-3}), {0.1, -2, 1e-3});
  check_type<double>(">f8", swapped<double>({0.1, -2, 1e-3}), {0.1, -2, 1e-3});
  check_type<std::int8_t>("|i1", bytes_of<std::int8_t>({-128, 0, 127}), {-128, 0, 127});
  check_type<std::int16_t>("<i2", bytes_of<std::int16_t>({-32768, 0, 5}), {-32768, 0, 5});
  check_type<std::int32_t>(">i4", swapped<std::int32_t>({-70000, 0, 5}), {-70000, 0, 5});
  check_type<std::int64_t>("<i8", bytes_of<std::int64_t>({-(std::int64_t{1} << 60), 0, 5}),
                           {-(std::int64_t{1} << 60), 0, 5});
  check_type<std::uint8_t>("|u1", bytes_of<std::uint8_t>({0, 5, 255}), {0, 5, 255});
  check_type<std::uint16_t>("<u2", bytes_of<std::uint16_t>({0, 5, 65535}), {0, 5, 65535});
  check_type<std::uint32_t>(">u4", swapped<std::uint32_t>({0, 5, 4294967295u}), {0, 5, 4294967295u});
  check_type<std::uint64_t>("<u8", bytes_of<std::uint64_t>({0, 5, ~0ull}), {0, 5, ~0ull});
  const File half(npy("<f2", "(2,)", bytes_of<std::uint16_t>({0x3c00, 0xc000})));
  CHECK(io::load_npy(half.path).dtype() == DType::f16);
  CHECK(io::load_npy(half.path).to(DType::f32).to_vector<float>() == std::vector<float>{1, -2});
  const File flags(npy("|b1", "(2,)", std::string("\x01\x00", 2)));
  CHECK(io::load_npy(flags.path).dtype() == DType::boolean);
  CHECK(io::load_npy(flags.path).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("npy: shapes, Fortran's order and later versions") {
  const auto load = [](const std::string& bytes) {
    const File file(bytes);
    return io::load_npy(file.path);
  };
  std::vector<float> counted(24);
  for (std::size_t i = 0; i < 24; ++i) counted[i] = static_cast<float>(i);
  CHECK(load(npy("<f4", "()", bytes_of<float>({7}))).shape() == Shape{});
  CHECK(load(npy("<f4", "(0, 3)", "")).shape() == Shape{0, 3});
  CHECK(load(npy("<f4", "(2, 3, 4)", bytes_of(counted))).to_vector<float>() == counted);
  const Tensor fortran = load(npy("<f4", "(2, 3, 4)", bytes_of(counted), true));
  CHECK(fortran.shape() == Shape{2, 3, 4});
  CHECK(fortran.to_vector<float>() ==
        from_vector(counted, {4, 3, 2}).permute({2, 1, 0}).contiguous().to_vector<float>());
  CHECK(load(npy("<f4", "(0, 3)", "", true)).shape() == Shape{0, 3});
  const std::string header = "{'shape': (1,), 'fortran_order': False, 'descr': \"<f4\"}\n";
  CHECK(load("\x93NUMPY" + std::string("\x02\x00", 2) + little(header.size(), 4) + header + bytes_of<float>({5}))
            .item() == 5);
}

TEST_CASE("npy: a damaged file is refused by name with what is wrong") {
  const std::string data = bytes_of<float>({1, 2, 3});
  const File missing("");
  CHECK(refusal(ErrorCode::io, [&] { io::load_npy(missing.path + "x"); }) == Contains("filex: no such file"));
  CHECK(npy_refusal("") == Contains("[load_npy] "));
  CHECK(npy_refusal("hello, this is text") == Contains("no NumPy array"));
  CHECK(npy_refusal("\x93NUMPY") == Contains("truncated: 6 bytes"));
  CHECK(npy_refusal(npy("<f4", "(3,)", data).substr(0, 30)) == Contains("truncated: a header of "));
  CHECK(npy_refusal(npy("<f4", "(3,)", data.substr(1))) ==
        Contains("truncated: 11 bytes of data, '<f4' of shape (3) takes 12"));
  CHECK(npy_refusal(npy("<f4", "(3,)", data + "x")) == Contains("trailing bytes: 13"));
  CHECK(npy_refusal(npy("|O", "(1,)", little(1, 8))) == Contains("elements of type '|O'"));
  CHECK(npy_refusal(npy("<c8", "(1,)", little(1, 8))) == Contains("elements of type '<c8'"));
  CHECK(npy_refusal(npy("", "(1,)", "")) == Contains("elements of type ''"));
  CHECK(npy_refusal(npy("|b1", "(2,)", std::string("\x01\x02", 2))) == Contains("element 1 is 2, and booleans"));
  CHECK(npy_refusal(npy("<f4", "(4611686018427387904, 4)", data)) == Contains("too many elements"));
  CHECK(npy_refusal(npy("<f4", "(99999999999999999999,)", data)) == Contains("a size expected"));
  CHECK(npy_refusal(npy("<f4", "(-1,)", data)) == Contains("a size expected"));
  CHECK(npy_refusal(npy("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", data)) ==
        Contains("more than "));
  CHECK(npy_refusal(npy("<f4", "3", data)) == Contains("'(' expected"));
  CHECK(npy_refusal(npy_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", data)) ==
        Contains("structured elements"));
  CHECK(npy_refusal(npy_with("{'descr': '<f4', 'shape': (3,)}", data)) == Contains("is missing"));
  CHECK(npy_refusal(npy_with("{'descr': '<f4', 'descr': '<f4'}", data)) ==
        Contains("key 'descr' is unknown or appears twice"));
  CHECK(npy_refusal(npy_with("{'a': 1}", data)) == Contains("key 'a'"));
  CHECK(npy_refusal(npy_with("{'descr': '<f4", data)) == Contains("the end of a text expected"));
  CHECK(npy_refusal(npy_with("{'fortran_order': 1}", data)) == Contains("True or False expected"));
  CHECK(npy_refusal("\x93NUMPY" + std::string("\x09\x00", 2) + little(0, 4)) == Contains("version 9 of the format"));
}

TEST_CASE("npz: stored and deflated arrays by name") {
  const std::vector<float> many(300000, 2.5f);
  const File file(zip({{"x.npy", npy("<f4", "(2,)", bytes_of<float>({1, 2}))},
                       {"labels.npy", npy("<i8", "(1,)", little(3, 8)), true},
                       {"many.npy", npy("<f4", "(300000,)", bytes_of(many)), true}}));
  const NamedTensors arrays = io::load_npz(file.path);
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "x");
  CHECK(arrays[0].second.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(arrays[1].first == "labels");
  CHECK(arrays[1].second.item<std::int64_t>() == 3);
  CHECK(arrays[2].second.to_vector<float>() == many);
  CHECK(arrays["x"].to_vector<float>() == std::vector<float>{1, 2});
  CHECK(arrays["labels"].item<std::int64_t>() == 3);
  const File none(zip({}));
  CHECK(io::load_npz(none.path).empty());
}

TEST_CASE("npz: a damaged archive is refused by name with what is wrong") {
  const std::string array = npy("<f4", "(2,)", bytes_of<float>({1, 2}));
  const std::string good = zip({{"x.npy", array}}), packed = zip({{"x.npy", array, true}});
  const auto changed = [](std::string bytes, std::size_t at, const std::string& by) {
    return bytes.replace(at, by.size(), by);
  };
  const std::size_t list = good.find("PK\x01\x02"), end = good.find("PK\x05\x06"), data = good.find("\x93NUMPY");
  CHECK(npz_refusal("") == Contains("[load_npz] "));
  CHECK(npz_refusal("text") == Contains("no zip archive"));
  CHECK(npz_refusal(array) == Contains("this is a NumPy array (.npy), not a zip archive"));
  CHECK(npz_refusal(good.substr(0, good.size() - 3)) == Contains("the list of the archive's files is missing"));
  CHECK(npz_refusal(changed(good, data + 20, "?")) == Contains("its checksum differs"));
  CHECK(npz_refusal(changed(good, list + 8, "\x01")) == Contains("\"x.npy\" is encrypted"));
  CHECK(npz_refusal(changed(good, list + 10, "\x0c")) == Contains("compressed by method 12"));
  CHECK(npz_refusal(changed(good, list + 24, "\x7f")) == Contains("cannot come from"));
  CHECK(npz_refusal(changed(good, list + 20, "\xff\xff\xff\xff")) == Contains("archives above 4 GiB"));
  CHECK(npz_refusal(changed(good, list + 42, "\xff\xff")) == Contains("begins behind the end"));
  CHECK(npz_refusal(changed(good, list + 42, "\x04")) == Contains("no file \"x.npy\" where the list says"));
  CHECK(npz_refusal(changed(good, list + 28, "\xff")) == Contains("entry 0 of 1 in the list"));
  CHECK(npz_refusal(changed(good, end + 4, "\x01")) == Contains("in several parts"));
  CHECK(npz_refusal(changed(good, end + 16, "\xf0\xff")) == Contains("the list of files is behind its end"));
  const std::size_t packed_list = packed.find("PK\x01\x02");
  CHECK(npz_refusal(changed(packed, packed_list + 24, "\x7f")) == Contains("bytes expected after decompression"));
  CHECK(npz_refusal(zip({{"x.txt", "a"}})) == Contains("\"x.txt\" in the archive is no .npy file"));
  CHECK(npz_refusal(zip({{"m/data.pkl", "a"}})) == Contains("this is a file of PyTorch"));
  CHECK(npz_refusal(zip({{"x.npy", array}, {"x.npy", array}})) == Contains("two arrays are named \"x\""));
  CHECK(npz_refusal(zip({{"x.npy", "a"}})) == Contains("array \"x\": no NumPy array"));
}

TEST_CASE("files of other kinds are reported as what they are") {
  const std::string array = npy("<f4", "(2,)", bytes_of<float>({1, 2}));
  const auto as_safetensors = [](const std::string& bytes) {
    const File file(bytes);
    return refusal(ErrorCode::io, [&] { io::load_safetensors(file.path); });
  };
  CHECK(as_safetensors(array) == Contains("this is a NumPy array (.npy), not a safetensors file"));
  CHECK(as_safetensors(zip({{"m/data.pkl", "a"}})) ==
        Contains("this is a zip archive, such as NumPy's .npz or PyTorch's .pt, not a safetensors file"));
  CHECK(as_safetensors(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46", 8) + "data") == Contains("a Python pickle"));
  CHECK(npy_refusal(zip({{"x.npy", array}})) == Contains("this is a zip archive"));
}
