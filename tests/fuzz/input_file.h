#pragma once
// An in-memory file that holds one input after the other, for readers that need a path.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace prof::test {

class InputFile {
 public:
  // Creates it below /dev/shm, in a folder of its own.
  explicit InputFile(const char* name) {
    char folder[] = "/dev/shm/prof-fuzz-XXXXXX";
    if (mkdtemp(folder) == nullptr) std::abort();
    folder_ = folder;
    path_ = folder_ + "/" + name;
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  InputFile(const InputFile&) = delete;
  ~InputFile() {
    close(descriptor_);
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  void fill(const uint8_t* data, size_t size) const {
    if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size))
      std::abort();
  }
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, path_;
  int descriptor_ = -1;
};

}  // namespace prof::test
