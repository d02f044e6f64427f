// Other names of arguments, and the texts of the TypeErrors of bound functions. nanobind's errors name the overloads
// and the classes of the arguments. crisol/_explain.py says which argument is wrong and what it takes.
//
// Each function object of nanobind has a pointer to the code that calls it. explain_calls() replaces this pointer by
// its own function, which calls the original code. If that refuses the names of the arguments, it is called again with
// the names that crisol/_keywords.py finds. Each set of names is looked up once.
#include <cstring>
#include <unordered_map>
#include <vector>

#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

namespace {

using Call = PyObject* (*)(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* keywords);

/// The names of a call's arguments, and those of the function. An argument with None goes to the function by position.
struct Names {
  nb::tuple given, taken;
};

struct Known {
  Call call;
  std::string name;
  std::vector<Names> other_names;
};

/// Lives as long as the process, because the functions do.
std::unordered_map<PyObject*, Known>& known_functions() {
  static auto& known = *new std::unordered_map<PyObject*, Known>();
  return known;
}

/// Whether the current error comes from the conversion of arguments.
bool is_unexplained(const nb::object& error) {
  const std::string text = nb::cast<std::string>(nb::str(error));
  return text == wrong_part || text.find("(): incompatible function arguments. The following") != std::string::npos;
}

/// Replaces the error by one whose text names the argument. An error without a traceback comes from the bound function
/// itself, not from a Python function that it called. Its text gets at least the name of the function.
void explain(PyObject* function, const std::string& name, PyObject* const* arguments, std::size_t count,
             PyObject* keywords) {
  const nb::python_error raised;
  const nb::object error = nb::borrow(raised.value());
  if (error.type().is(nb::handle(PyExc_TypeError)) && is_unexplained(error)) {
    nb::list positional;
    nb::dict named;
    for (std::size_t i = 0; i < count; ++i) positional.append(nb::handle(arguments[i]));
    for (std::size_t i = 0; keywords != nullptr && i < nb::len(nb::handle(keywords)); ++i)
      named[nb::handle(keywords)[i]] = nb::handle(arguments[count + i]);
    const nb::object text =
        nb::module_::import_("crisol._explain")
            .attr("explain")(name, nb::handle(function).attr("__nb_signature__"), positional, named);
    error.attr("args") = nb::make_tuple(text);
  } else if (!raised.traceback().is_valid()) {
    const std::string text = nb::cast<std::string>(nb::str(error));
    const std::string word = text.substr(0, text.find(' '));
    const bool has_name = word.find_first_of("[.:(") != std::string::npos;
    if (!has_name) error.attr("args") = nb::make_tuple(name + "(): " + text);
  }
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

constexpr std::size_t count_of_flags = ~std::size_t{0} >> 8;  // The highest bits are flags of Python and nanobind.

/// Calls a function with its own names. The arguments without a name come after those that have a position.
PyObject* call_renamed(const Known& known, const nb::tuple& taken, PyObject* function, PyObject* const* arguments,
                       std::size_t flags) {
  const std::size_t count = flags & count_of_flags;
  std::vector<PyObject*> values(arguments, arguments + count), named;
  nb::list names;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const bool has_name = !taken[i].is_none();
    (has_name ? named : values).push_back(arguments[count + i]);
    if (has_name) names.append(taken[i]);
  }
  const std::size_t positional = values.size();
  values.insert(values.end(), named.begin(), named.end());
  const nb::tuple keywords(names);
  return known.call(function, values.data(), positional, named.empty() ? nullptr : keywords.ptr());
}

const nb::tuple* known_names(const Known& known, PyObject* keywords) {
  for (const Names& names : known.other_names)
    if (names.given.ptr() == keywords || names.given.equal(nb::handle(keywords))) return &names.taken;
  return nullptr;
}

/// The function's own names for the names of a call that failed. Null if it has none for them.
const nb::tuple* look_up_names(Known& known, PyObject* function, std::size_t count, PyObject* keywords) {
  const nb::object names =
      nb::module_::import_("crisol._keywords")
          .attr("taken")(nb::handle(function).attr("__nb_signature__"), count, nb::handle(keywords));
  if (names.is_none()) return nullptr;
  known.other_names.push_back({nb::borrow<nb::tuple>(keywords), nb::borrow<nb::tuple>(names)});
  return &known.other_names.back().taken;
}

/// Calls a function that has no argument `out`, and writes its result into the argument `out` of the call.
PyObject* call_into(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  nb::list positional;
  nb::dict named;
  for (std::size_t i = 0; i < count; ++i) positional.append(nb::handle(arguments[i]));
  for (std::size_t i = 0; i < nb::len(nb::handle(keywords)); ++i)
    named[nb::handle(keywords)[i]] = nb::handle(arguments[count + i]);
  return nb::module_::import_("crisol._keywords")
      .attr("into_out")(nb::handle(function), positional, named)
      .release()
      .ptr();
}

/// Whether a call of a function, not of a method, has an argument `out` that the function lacks.
bool lacks_out(PyObject* function, PyObject* keywords) {
  const nb::object all = nb::handle(function).attr("__nb_signature__");
  const std::string signatures = nb::cast<std::string>(nb::str(all));
  return PySequence_Contains(keywords, nb::str("out").ptr()) == 1 && signatures.find("out: ") == std::string::npos &&
         signatures.find("(self") == std::string::npos;
}

PyObject* explained_call(PyObject* function, PyObject* const* arguments, std::size_t flags, PyObject* keywords) {
  Known& known = known_functions().find(function)->second;
  const nb::tuple* names = keywords == nullptr || known.other_names.empty() ? nullptr : known_names(known, keywords);
  PyObject* result = names != nullptr ? call_renamed(known, *names, function, arguments, flags)
                                      : known.call(function, arguments, flags, keywords);
  if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
  const std::size_t count = flags & count_of_flags;
  try {
    nb::python_error raised;
    const bool other_names = keywords != nullptr && names == nullptr && is_unexplained(nb::borrow(raised.value()));
    if (other_names) names = look_up_names(known, function, count, keywords);
    if (other_names && names != nullptr) {
      result = call_renamed(known, *names, function, arguments, flags);
      if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
    } else if (other_names && lacks_out(function, keywords)) {
      return call_into(function, arguments, count, keywords);
    } else {
      raised.restore();
    }
    explain(function, known.name, arguments, count, keywords);
  } catch (nb::python_error& failure) {
    failure.restore();
  }
  return nullptr;
}

/// Finds the call pointer in a function object. nanobind gives the pointer's value as __vectorcalloffset__, and one
/// word of the object has this value.
Call* place_of_call(nb::handle function) {
  const nb::object value = nb::getattr(function, "__vectorcalloffset__", nb::none());
  if (value.is_none()) return nullptr;
  const auto address = static_cast<std::uintptr_t>(nb::cast<std::intptr_t>(value));
  char* const object = reinterpret_cast<char*>(function.ptr());
  for (std::size_t at = sizeof(PyObject); at < 8 * sizeof(void*); at += sizeof(void*)) {
    std::uintptr_t found = 0;
    std::memcpy(&found, object + at, sizeof found);
    if (found == address) return reinterpret_cast<Call*>(object + at);
  }
  return nullptr;
}

void explain_function(nb::handle function, const std::string& name) {
  if (known_functions().count(function.ptr()) > 0) return;
  Call* const place = place_of_call(function);
  if (place == nullptr) return;
  known_functions().emplace(function.ptr(), Known{*place, name, {}});
  *place = &explained_call;
}

/// The name of a member for users. For a constructor it is the name of the class. The underscore of a function that
/// Python code wraps is left out.
std::string public_name(const std::string& owner, std::string name) {
  if (name == "__init__" || name == "__call__") return owner;
  if (name.compare(0, 2, "__") != 0 && name[0] == '_') name.erase(0, 1);
  return owner + "." + name;
}

/// The public module of crisol that has the members of a submodule of the extension.
std::string module_name(const std::string& submodule) {
  return submodule == "_functional" ? "crisol.nn.functional" : "crisol." + submodule.substr(1);
}

void explain_members(nb::handle owner, const std::string& owner_name) {
  for (const nb::handle item : nb::list(nb::handle(owner.attr("__dict__")).attr("items")())) {
    const std::string name = public_name(owner_name, nb::cast<std::string>(item[0]));
    const nb::object member = item[1];
    const std::string kind = nb::cast<std::string>(member.type().attr("__name__"));
    if (kind == "nb_func" || kind == "nb_method") {
      explain_function(member, name);
    } else if (kind == "property") {
      if (const nb::object setter = member.attr("fset"); !setter.is_none()) explain_function(setter, name);
    } else if (kind == "module") {
      explain_members(member, module_name(nb::cast<std::string>(item[0])));
    } else if (PyType_Check(member.ptr())) {
      if (nb::type_check(member)) explain_members(member, nb::cast<std::string>(item[0]));
    }
  }
}

}  // namespace

void explain_calls(nb::module_& m) { explain_members(m, "crisol"); }

}  // namespace crisol::python
