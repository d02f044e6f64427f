#include "io/npy_array.h"
#include "crisol/dtype_table.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace crisol::io {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored in the byte order of the machine");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t max_elements = std::uint64_t{1} << 59;  // So the number of bytes is at most 2^62.

/// Elements of another type that become elements of a dtype. Booleans stay bytes.
template <class From, DType dtype>
void convert(const char* from, std::byte* to, std::size_t count, bool swapped) {
  with_host_type(dtype, [&](auto element) {
    using Host = decltype(element);
    using To = std::conditional_t<std::is_same_v<Host, bool>, std::uint8_t, Host>;
    if constexpr (dtype == dtype_of<Host>())
      for (std::size_t i = 0; i < count; ++i) {
        char bytes[sizeof(From)];
        std::memcpy(bytes, from + i * sizeof(From), sizeof(From));
        if (swapped) std::reverse(bytes, bytes + sizeof(From));
        From value;
        std::memcpy(&value, bytes, sizeof(From));
        const To converted = static_cast<To>(value);
        std::memcpy(to + i * sizeof(To), &converted, sizeof(To));
      }
  });
}

struct ElementType {
  std::string_view name;  // Kind and bytes, as in NumPy's descr without the byte order.
  DType dtype;
  void (*convert)(const char* from, std::byte* to, std::size_t count, bool swapped);
};

template <class From>
constexpr ElementType numbers(std::string_view name) {
  constexpr DType dtype = nearest_dtype<From>();
  return {name, dtype, convert<From, dtype>};
}

constexpr ElementType element_types[]{
    numbers<float>("f4"),
    numbers<double>("f8"),
    {"f2", DType::f16, convert<Half, DType::f16>},
    numbers<std::int8_t>("i1"),
    numbers<std::int16_t>("i2"),
    numbers<std::int32_t>("i4"),
    numbers<std::int64_t>("i8"),
    numbers<std::uint8_t>("u1"),
    numbers<std::uint16_t>("u2"),
    numbers<std::uint32_t>("u4"),
    numbers<std::uint64_t>("u8"),
    {"b1", DType::boolean, convert<std::uint8_t, DType::boolean>},
};

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_begin = 0;
};

/// Reads the header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Accepts
/// only these three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(const InputFile& file, const std::string& where, std::string_view text)
      : file_(file), where_(where), text_(text) {}

  void parse(Header& header) {
    int seen = 0;
    expect('{');
    while (!skip('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && (seen & 1) == 0) {
        if (at('[')) refuse("structured elements are not read");
        header.descr = quoted();
        seen |= 1;
      } else if (key == "fortran_order" && (seen & 2) == 0) {
        header.fortran_order = boolean();
        seen |= 2;
      } else if (key == "shape" && (seen & 4) == 0) {
        shape(header.shape);
        seen |= 4;
      } else {
        refuse("key '", key.substr(0, 40), "' is unknown or appears twice");
      }
      if (!skip(',') && !at('}')) wanted("',' or '}'");
    }
    if (seen != 7) refuse("descr, fortran_order or shape is missing");
    blanks();
    if (next_ != text_.size()) wanted("the end");
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(where_, "header: ", parts...);
  }
  [[noreturn]] void wanted(const char* what) const { refuse(what, " expected at byte ", next_); }

  void blanks() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\n')) ++next_;
  }
  bool at(char c) {
    blanks();
    return next_ < text_.size() && text_[next_] == c;
  }
  bool skip(char c) {
    if (!at(c)) return false;
    ++next_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) wanted(std::string{'\'', c, '\''}.c_str());
  }

  std::string quoted() {
    const char quote = at('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find(quote, next_);
    if (end == text_.npos) wanted("the end of a text");
    std::string value(text_.substr(next_, end - next_));
    next_ = end + 1;
    return value;
  }

  bool boolean() {
    blanks();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.substr(next_).starts_with(name)) continue;
      next_ += name.size();
      return value;
    }
    wanted("True or False");
  }

  void shape(Shape& sizes) {
    expect('(');
    while (!skip(')')) {
      blanks();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + next_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) wanted("a size");
      if (sizes.rank() == Shape::max_rank) refuse("more than ", Shape::max_rank, " axes");
      sizes.push_back(size);
      next_ = static_cast<std::size_t>(end - text_.data());
      if (!skip(',') && !at(')')) wanted("',' or ')'");
    }
  }

  const InputFile& file_;
  const std::string& where_;
  std::string_view text_;
  std::size_t next_ = 0;
};

Header parse_npy_header(const InputFile& file, const std::string& where, std::string_view bytes) {
  if (!bytes.starts_with(magic)) file.refuse(where, "no NumPy array: the first bytes are not \\x93NUMPY");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 12) file.refuse(where, "truncated: ", bytes.size(), " bytes");
  const std::uint32_t version = byte(6);
  if (version < 1 || version > 3) file.refuse(where, "version ", version, " of the format; 1, 2 and 3 are read");
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - begin)
    file.refuse(where, "truncated: a header of ", length, " bytes, ", bytes.size() - begin, " left in the file");
  Header header;
  header.data_begin = begin + length;
  HeaderParser(file, where, bytes.substr(begin, length)).parse(header);
  return header;
}

// Turns elements in Fortran's order (innermost axis first) into C's order.
std::vector<std::byte> outermost_first(const std::vector<std::byte>& elements, const Shape& shape, std::size_t size) {
  std::vector<std::byte> result(elements.size());
  const int rank = shape.rank();
  std::vector<std::size_t> index(static_cast<std::size_t>(rank)), stride(static_cast<std::size_t>(rank), 1);
  for (int axis = 1; axis < rank; ++axis)
    stride[static_cast<std::size_t>(axis)] =
        stride[static_cast<std::size_t>(axis - 1)] * static_cast<std::size_t>(shape[axis - 1]);
  std::size_t from = 0;
  for (std::size_t to = 0; to < elements.size(); to += size) {
    std::memcpy(result.data() + to, elements.data() + from * size, size);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[static_cast<int>(axis)])) break;
      from -= stride[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

NpyArray parse_npy(const InputFile& file, const std::string& name, std::string_view bytes) {
  const std::string where = name.empty() ? std::string() : "array \"" + name + "\": ";
  const Header header = parse_npy_header(file, where, bytes);
  const bool swapped = header.descr.starts_with('>');
  const std::string_view type_name = std::string_view(header.descr).substr(header.descr.empty() ? 0 : 1);
  const auto type = std::find_if(std::begin(element_types), std::end(element_types),
                                 [&](const ElementType& t) { return t.name == type_name; });
  if (type == std::end(element_types) || std::string_view("<>|=").find(header.descr[0]) == std::string_view::npos)
    file.refuse(where, "elements of type '", header.descr.substr(0, 40),
                "': floats, integers up to 64 bits (uint64 apart) and booleans are read");
  std::uint64_t count = 1;
  for (const std::int64_t size : header.shape) {
    if (size != 0 && count > max_elements / static_cast<std::uint64_t>(size))
      file.refuse(where, "shape ", header.shape, " has too many elements");
    count *= static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
  }
  if (header.shape.numel() == 0) count = 0;
  const std::uint64_t wanted = count * static_cast<std::uint64_t>(type_name[1] - '0');
  const std::string_view data = bytes.substr(header.data_begin);
  if (data.size() != wanted)
    file.refuse(where, data.size() < wanted ? "truncated: " : "trailing bytes: ", data.size(), " bytes of data, '",
                header.descr, "' of shape ", header.shape, " takes ", wanted);
  NpyArray array{type->dtype, header.shape, {}};
  const std::size_t size = size_of(array.dtype);
  array.elements.resize(static_cast<std::size_t>(count) * size);
  type->convert(data.data(), array.elements.data(), static_cast<std::size_t>(count), swapped);
  if (array.dtype == DType::boolean)
    for (std::size_t i = 0; i < array.elements.size(); ++i)
      if (array.elements[i] > std::byte{1})
        file.refuse(where, "element ", i, " is ", static_cast<int>(array.elements[i]), ", and booleans are 0 or 1");
  if (header.fortran_order) array.elements = outermost_first(array.elements, array.shape, size);
  return array;
}

}  // namespace crisol::io
