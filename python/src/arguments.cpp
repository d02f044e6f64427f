#include "arguments.h"

namespace crisol::python {

Shape shape_of(const nb::args& numbers) {
  Shape shape;
  const nb::handle source = numbers.size() == 1 ? nb::handle(numbers[0]) : nb::handle(numbers);
  if (!read_shape(source.ptr(), shape))
    throw nb::type_error("expected at most 8 whole numbers, or one sequence of at most 8");
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

}  // namespace crisol::python
