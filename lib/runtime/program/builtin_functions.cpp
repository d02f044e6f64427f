#include "runtime/program/builtin_functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.h"

namespace crisol::runtime {

namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::array<int, 6> widths{1, 2, 3, 4, 8, 16};

struct ElementType {
  const char* name;
  const char* of_size[2];  ///< The signed and the unsigned integer type of the same size.
  char kind;               ///< f for floats, s for signed integers, u for unsigned ones.
};

constexpr ElementType types[] = {
    {"char", {"char", "uchar"}, 's'},     {"uchar", {"char", "uchar"}, 'u'},  {"short", {"short", "ushort"}, 's'},
    {"ushort", {"short", "ushort"}, 'u'}, {"int", {"int", "uint"}, 's'},      {"uint", {"int", "uint"}, 'u'},
    {"long", {"long", "ulong"}, 's'},     {"ulong", {"long", "ulong"}, 'u'},  {"float", {"int", "uint"}, 'f'},
    {"double", {"long", "ulong"}, 'f'},   {"half", {"short", "ushort"}, 'f'},
};

// The letters of a signature: T is the type, E its element type, I and U the integer types of the same size, R the
// result of a comparison (int for one element), N an int for each element, i an int. The first letter is the result's
// type.
struct Family {
  std::string_view names, kinds, signatures;
};

constexpr Family families[] = {
    {"acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp10 exp2 expm1 "
     "fabs floor lgamma log log10 log1p log2 logb rint round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma "
     "trunc degrees radians",
     "f", "TT"},
    {"atan2 atan2pi copysign fdim fmod hypot maxmag minmag nextafter pow powr remainder", "f", "TTT"},
    {"fmax fmin", "f", "TTT TTE"},
    {"fma mad", "f", "TTTT"},
    {"step", "f", "TTT TET"},
    {"mix", "f", "TTTT TTTE"},
    {"smoothstep", "f", "TTTT TEET"},
    {"ldexp", "f", "TTN TTi"},
    {"pown rootn", "f", "TTN"},
    {"ilogb", "f", "NT"},
    {"isfinite isinf isnan isnormal signbit", "f", "RT"},
    {"isequal isgreater isgreaterequal isless islessequal islessgreater isnotequal isordered isunordered", "f", "RTT"},
    {"min max", "fsu", "TTT TTE"},
    {"clamp", "fsu", "TTTT TTEE"},
    {"abs", "su", "UT"},
    {"abs_diff", "su", "UTT"},
    {"add_sat sub_sat hadd rhadd mul_hi rotate", "su", "TTT"},
    {"mad_hi mad_sat", "su", "TTTT"},
    {"clz popcount", "su", "TT"},
    {"any all", "s", "iT"},
    {"bitselect", "fsu", "TTTT"},
    {"select", "fsu", "TTTI TTTU"},
};

constexpr std::string_view work_item_functions =
    "get_global_id get_global_offset get_global_size get_group_id get_local_id get_local_size get_num_groups";

constexpr const char* overloadable = "__attribute__((overloadable))";
constexpr const char* constant = "__attribute__((overloadable,const))";
constexpr const char* pure = "__attribute__((overloadable,pure))";

bool lists(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

bool in_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Without those in comments, because comments often contain words such as "all" and "step".
Names names_in(std::string_view source) {
  Names names;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view two = source.substr(at, 2);
    if (two == "//" || two == "/*") {
      at = std::min(source.find(two == "//" ? "\n" : "*/", at + 2), source.size());
      continue;
    }
    std::size_t end = at;
    while (end < source.size() && in_name(source[end])) ++end;
    if (end > at) names.emplace(source.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

std::string wide(std::string_view element, int width) {
  return width == 1 ? std::string(element) : concat(element, width);
}

bool names_type(const Names& names, std::string_view element) {
  return std::any_of(widths.begin(), widths.end(), [&](int width) { return names.count(wide(element, width)) != 0; });
}

// Devices may lack some types. Functions with such a type are declared under this condition.
const char* condition_of(const ElementType& type) {
  return type.name == std::string_view("double") ? "cl_khr_fp64"
         : type.name == std::string_view("half") ? "cl_khr_fp16"
                                                 : nullptr;
}

template <class Write>
void for_each_type(std::string_view kinds, std::string& out, const Write& write) {
  for (const ElementType& type : types) {
    if (kinds.find(type.kind) == std::string_view::npos) continue;
    const char* const condition = condition_of(type);
    if (condition == nullptr) {
      write(type);
      continue;
    }
    const std::string pragma = concat("#pragma OPENCL EXTENSION ", condition);
    out += concat("#ifdef ", condition, '\n', pragma, " : enable\n");
    write(type);
    out += concat(pragma, " : disable\n#endif\n");
  }
}

std::string letter_of(char letter, const ElementType& type, int width) {
  switch (letter) {
    case 'E': return type.name;
    case 'I': return wide(type.of_size[0], width);
    case 'U': return wide(type.of_size[1], width);
    case 'R': return width == 1 ? "int" : wide(type.of_size[0], width);
    case 'N': return wide("int", width);
    case 'i': return "int";
    default: return wide(type.name, width);
  }
}

std::string declaration(std::string_view name, std::string_view letters, const ElementType& type, int width) {
  std::string text = concat(letter_of(letters[0], type, width), ' ', constant, ' ', name, '(');
  for (std::size_t i = 1; i < letters.size(); ++i)
    text += concat(i == 1 ? "" : ",", letter_of(letters[i], type, width));
  return text + ");\n";
}

void declare_family(std::string_view name, const Family& family, std::string& out) {
  const std::size_t space = family.signatures.find(' ');
  const std::string_view first = family.signatures.substr(0, space);
  const std::string_view second = space == std::string_view::npos ? first : family.signatures.substr(space + 1);
  for_each_type(family.kinds, out, [&](const ElementType& type) {
    for (const int width : widths) {
      const std::string one = declaration(name, first, type, width), other = declaration(name, second, type, width);
      out += one;
      if (other != one) out += other;
    }
  });
}

// The width at the end of a name, for example 16 in vload16. 0 if there is no width, because macros paste such names
// together.
int take_width(std::string_view& name) {
  std::size_t digits = name.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  if (digits == name.size() || name.size() - digits > 2) return 0;
  const int width = std::stoi(std::string(name.substr(digits)));
  name = name.substr(0, digits);
  return width;
}

constexpr std::string_view roundings = "_rte _rtz _rtp _rtn";

std::string_view take_suffix(std::string_view& name, std::string_view suffixes) {
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos || !lists(suffixes, name.substr(at))) return {};
  const std::string_view suffix = name.substr(at);
  name = name.substr(0, at);
  return suffix;
}

// Declares convert_TYPE, with _sat and rounding modes.
bool declare_conversion(std::string_view name, std::string& out) {
  constexpr std::string_view prefix = "convert_";
  if (!name.starts_with(prefix)) return false;
  const std::string_view rounding = take_suffix(name, roundings), saturated = take_suffix(name, "_sat");
  const int wanted = take_width(name);
  const std::string_view element = name.substr(std::min(name.size(), prefix.size()));
  if (std::none_of(std::begin(types), std::end(types), [&](const ElementType& t) { return t.name == element; }))
    return false;
  for_each_type("fsu", out, [&](const ElementType& type) {
    for (const int width : widths)
      if (wanted == 0 || wanted == width)
        out += concat(wide(element, width), ' ', constant, ' ', wide(name, width), saturated, rounding, '(',
                      wide(type.name, width), ");\n");
  });
  return true;
}

void declare_load(const std::string& name, const std::string& value, const std::string& memory, std::string& out) {
  for (const char* const space : {"__global", "__local", "__private", "__constant"})
    out += concat(value, ' ', pure, ' ', name, "(size_t,const ", space, ' ', memory, "*);\n");
}

void declare_store(const std::string& name, const std::string& value, const std::string& memory, std::string& out) {
  for (const char* const space : {"__global", "__local", "__private"})
    out += concat("void ", overloadable, ' ', name, '(', value, ",size_t,", space, ' ', memory, "*);\n");
}

// Declares vload and vstore, and their forms for half in memory. Pointers are not converted implicitly, so only types
// that the source names are declared.
bool declare_memory(std::string_view name, const Names& names, std::string& out) {
  const std::string_view rounding = take_suffix(name, roundings);
  const int wanted = take_width(name);
  const bool half = lists("vload_half vstore_half", name), load = name.starts_with("vload");
  if (!half && !lists("vload vstore", name)) return false;
  for_each_type(half ? "f" : "fsu", out, [&](const ElementType& type) {
    const std::string_view element = type.name;
    if (half ? element == "half" || (load && element == "double") : !names_type(names, element)) return;
    for (const int width : widths) {
      if ((wanted != 0 && wanted != width) || (!half && width == 1)) continue;
      const std::string full = concat(wide(name, width), rounding), memory = half ? "half" : type.name;
      (load ? declare_load : declare_store)(full, wide(element, width), memory, out);
    }
  });
  return true;
}

bool declare_atomic(std::string_view name, std::string& out) {
  constexpr std::string_view one_value =
      "atomic_add atomic_sub atomic_xchg atomic_min atomic_max atomic_and atomic_or atomic_xor";
  const bool exchange = name == "atomic_cmpxchg", counts = lists("atomic_inc atomic_dec", name);
  if (!lists(one_value, name) && !exchange && !counts) return false;
  for (const char* const space : {"__global", "__local"})
    for (const char* const type : {"int", "uint", "float"})
      if (type != std::string_view("float") || name == "atomic_xchg")
        out += concat(type, ' ', overloadable, ' ', name, "(volatile ", space, ' ', type, '*',
                      counts ? "" : concat(',', type), exchange ? concat(',', type) : "", ");\n");
  return true;
}

void declare(std::string_view name, const Names& names, std::string& out) {
  if (name == "prefetch") {
    for_each_type("fsu", out, [&](const ElementType& type) {
      for (const int width : widths)
        out += concat("void ", overloadable, " prefetch(const __global ", wide(type.name, width), "*,size_t);\n");
    });
  } else if (lists(work_item_functions, name)) {
    out += concat("size_t ", constant, ' ', name, "(uint);\n");
  } else if (name == "get_work_dim") {
    out += concat("uint ", constant, " get_work_dim(void);\n");
  } else if (name == "barrier") {
    out += "void __attribute__((overloadable,convergent)) barrier(cl_mem_fence_flags);\n";
  } else if (lists("mem_fence read_mem_fence write_mem_fence", name)) {
    out += concat("void ", overloadable, ' ', name, "(cl_mem_fence_flags);\n");
  } else if (!declare_conversion(name, out) && !declare_memory(name, names, out) && !declare_atomic(name, out)) {
    for (const Family& family : families)
      if (lists(family.names, name)) declare_family(name, family, out);
  }
}

}  // namespace

std::string builtin_declarations(std::string_view source) {
  const Names names = names_in(source);
  std::string out;
  for (const std::string_view name : names) declare(name, names, out);
  return out;
}

}  // namespace crisol::runtime
