#pragma once
// The output file that a user named, such as `-o FILE`. An existing file is replaced in one step after
// everything is written. A link of that name is replaced too, never followed. Devices and pipes are written
// directly.

#include <filesystem>
#include <optional>

#include "analysis/files/folder.h"

namespace prof {

// True for names of an open descriptor or a device (/dev/stdout, /dev/fd/63, /dev/null).
bool is_device_name(const std::filesystem::path& path);

class NamedOutput {
 public:
  // Throws WriteError.
  explicit NamedOutput(const std::filesystem::path& path);
  NamedOutput(const NamedOutput&) = delete;
  NamedOutput& operator=(const NamedOutput&) = delete;
  ~NamedOutput();

  int descriptor() const { return file_ ? file_->descriptor() : as_it_is_; }  // owned by the NamedOutput

  // Gives the file its name; without this nothing has changed. Throws WriteError.
  void keep();

 private:
  std::optional<NewFile> file_;  // unset for a device or a pipe, whose descriptor is as_it_is_
  int as_it_is_ = -1;
};

}  // namespace prof
