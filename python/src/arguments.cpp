#include "arguments.h"

namespace crisol::python {

Shape shape_of(const nb::args& numbers) {
  Shape shape;
  const nb::handle source = numbers.size() == 1 ? nb::handle(numbers[0]) : nb::handle(numbers);
  if (!read_shape(source.ptr(), shape)) throw nb::type_error(wrong_part);
  return shape;
}

Shape shape_of_sizes(const nb::args& sizes) {
  if (sizes.size() < 2) throw nb::next_overload();
  return shape_of(sizes);
}

void raise(const char* class_name, const std::string& text) {
  const nb::object type = nb::module_::import_("crisol._crisol").attr(class_name);
  PyErr_SetString(type.ptr(), text.c_str());
  throw nb::python_error();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string in_python(std::string settings) {
  replace_all(settings, "=true", "=True");
  replace_all(settings, "=false", "=False");
  replace_all(settings, "=none", "=None");
  for (std::size_t begin = settings.find('('); begin != std::string::npos; begin = settings.find('(', begin + 1)) {
    const std::size_t end = settings.find_first_not_of("0123456789", begin + 1);
    if (end != std::string::npos && settings[end] == ')') settings.insert(end, ",");
  }
  return settings;
}

}  // namespace crisol::python
