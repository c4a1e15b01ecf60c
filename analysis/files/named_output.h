#pragma once
// The file that a user named for output, such as `-o FILE`. One that exists is replaced in one step when all
// is written, and so is a link at that name: it is never followed. Devices and pipes are written to as they
// are.

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

  int descriptor() const { return file_ ? file_->descriptor() : as_it_is_; }  // the NamedOutput's

  // The file gets its name; without it nothing has changed. Throws WriteError.
  void keep();

 private:
  std::optional<NewFile> file_;  // none: a device or a pipe, whose descriptor is as_it_is_
  int as_it_is_ = -1;
};

}  // namespace prof
