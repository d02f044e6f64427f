#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/system.h"
#include "base/text.h"
#include "crisol/io/image.h"
#include "io/images/image_size.h"

namespace crisol::io {

namespace {

namespace fs = std::filesystem;

template <class... Parts>
[[noreturn]] void refuse(const std::string& folder, const Parts&... parts) {
  fail(ErrorCode::io, "ImageFolder", folder, ": ", parts...);
}

bool is_picture(const fs::path& file) {
  std::string extension = system::text_of(file.extension());
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

// The subfolders, sorted, so that their order does not depend on the file system.
std::vector<std::string> subfolders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(system::path_of(folder), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_directory()) names.push_back(system::text_of(entry->path().filename()));
  if (error) refuse(folder, "cannot be read: ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> pictures(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(system::path_of(folder), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file() && is_picture(entry->path())) paths.push_back(system::text_of(entry->path()));
  if (error) refuse(folder, "cannot be read: ", error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& folder, const ImageFolderOptions& options) : options_(options) {
  for (const std::int64_t side : {options.height, options.width})
    require(side >= 1 && side <= largest_side, "ImageFolder", "a size of ", options.height, " x ", options.width);
  require(options.channels == 1 || options.channels == 3, "ImageFolder", "channels ", options.channels,
          " is neither 1 nor 3");
  if (!fs::is_directory(system::path_of(folder))) refuse(folder, "no such folder");
  classes_ = subfolders(folder);
  if (classes_.empty()) refuse(folder, "no subfolders: each class has a subfolder with its pictures");
  std::vector<File> files;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const std::string subfolder = system::text_of(system::path_of(folder) / system::path_of(classes_[i]));
    const std::vector<std::string> paths = pictures(subfolder);
    if (paths.empty()) refuse(subfolder, "no pictures (.png, .jpg, .jpeg) for this class");
    for (const std::string& path : paths) files.push_back({path, static_cast<std::int64_t>(i)});
  }
  files_ = std::make_shared<const std::vector<File>>(std::move(files));
}

std::vector<Field> ImageFolder::fields() const {
  return {{{options_.channels, options_.height, options_.width}, DType::f32}, {{}, DType::i64}};
}

void ImageFolder::read(std::int64_t index, const Sample& sample) const {
  const File& file = (*files_)[static_cast<std::size_t>(index)];
  const Image image =
      resize(read_image(file.path, options_.channels), options_.height, options_.width, options_.stretch);
  float* planes = sample.data<float>(0);
  const std::int64_t pixels = options_.height * options_.width;
  for (std::int64_t c = 0; c < options_.channels; ++c)
    for (std::int64_t i = 0; i < pixels; ++i)
      planes[c * pixels + i] =
          static_cast<float>(image.pixels[static_cast<std::size_t>(i * options_.channels + c)]) / 255.0f;
  *sample.data<std::int64_t>(1) = file.label;
}

const std::string& ImageFolder::path(std::int64_t index) const {
  require(index >= 0 && index < size(), "ImageFolder", "index ", index, " is not in [0, ", size(), ")");
  return (*files_)[static_cast<std::size_t>(index)].path;
}

}  // namespace crisol::io
