// Picture files (PNG and JPEG), and folders of pictures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/dataset.h"

namespace crisol::io {

/// A picture on the host.
struct Image {
  std::int64_t height = 0;           ///< In pixels.
  std::int64_t width = 0;            ///< In pixels.
  std::int64_t channels = 0;         ///< 1 grey, 2 grey with opacity, 3 RGB, 4 RGB with opacity.
  std::vector<std::uint8_t> pixels;  ///< height · width · channels bytes, row by row.
};

/// Reads a PNG or JPEG file and converts it to a number of channels (1 to 4). Throws Error (ErrorCode::io), with file
/// and reason, for a file that is missing, unreadable, of another kind, damaged, or larger than 2^26 pixels.
CRISOL_API Image read_image(const std::string& path, std::int64_t channels = 3);

/// Resizes a picture. Without `stretch` the proportions are kept: only the middle part that has the new proportions is
/// used. Throws invalid_argument unless height and width are in [1, 16384] and the picture is not empty.
CRISOL_API Image resize(const Image& image, std::int64_t height, std::int64_t width, bool stretch = false);

/// The size and format of the samples of an ImageFolder.
struct ImageFolderOptions {
  std::int64_t height = 224;  ///< 1 to 16384.
  std::int64_t width = 224;   ///< 1 to 16384.
  std::int64_t channels = 3;  ///< 1 for grey, 3 for RGB.
  bool stretch = false;       ///< Stretches each picture to the size. Otherwise only its middle is used.
};

/// Pictures in one folder for each class, as in torchvision's ImageFolder: FOLDER/cat/1.png, FOLDER/dog/a/b.jpg. Class
/// i is the i-th subfolder in the order of the names. Pictures are files with the extension .png, .jpg or .jpeg. Other
/// files are skipped. A sample is the picture as (channels, height, width) f32, with the values pixel / 255, and its
/// class as i64. A file is read whenever its sample is read, so several threads of a DataLoader help.
class CRISOL_API ImageFolder : public Dataset {
 public:
  /// Throws Error (ErrorCode::io) for a folder that is missing or has no subfolders, and for a subfolder without
  /// pictures; invalid_argument for bad options.
  explicit ImageFolder(const std::string& folder, const ImageFolderOptions& options = {});
  std::int64_t size() const override { return static_cast<std::int64_t>(files_->size()); }
  std::vector<Field> fields() const override;
  /// Throws the same errors as read_image.
  void read(std::int64_t index, const Sample& sample) const override;
  /// The names of the classes.
  const std::vector<std::string>& classes() const noexcept { return classes_; }
  /// The file of a sample. Throws invalid_argument unless 0 <= index < size().
  const std::string& path(std::int64_t index) const;

 private:
  struct File {
    std::string path;
    std::int64_t label;
  };

  ImageFolderOptions options_;
  std::vector<std::string> classes_;
  std::shared_ptr<const std::vector<File>> files_;
};

}  // namespace crisol::io
