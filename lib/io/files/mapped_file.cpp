#include "io/files/mapped_file.h"

#include "io/files/input_file.h"

namespace crisol::io {

MappedFile::MappedFile(const char* op, const std::string& path) : path_(path) {
  InputFile(op, path);  // Throws for files that are missing, unreadable or not regular.
  map(op);
}

}  // namespace crisol::io
