#pragma once
// Adds files to a container (container_format.h). Callers must hold a lock that all writers of the container
// share. A member's header is written last, so a killed writer leaves nothing that looks like a member.
// Throws std::system_error.

#include <filesystem>
#include <string>

#include "hpcrun/measurement/container.h"

namespace prof {

class ContainerWriter {
 public:
  // Creates the file, which must not exist.
  static void create(const std::filesystem::path& path, const ContainerOwner& owner);

  // Opens the container. Members are complete up to `known_end` at least. Cuts off data after the last
  // complete member.
  ContainerWriter(std::filesystem::path path, uint64_t known_end);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  // Adds the file's contents under its name. If that fails, cuts off the part that was written.
  void add(const std::filesystem::path& file);
  // Flushes the file. What was added is durable on return, as far as the file system guarantees it.
  void sync() const;
  uint64_t end() const { return end_; }

 private:
  // Copies the contents and returns their checksum.
  uint32_t copy(int from, uint64_t bytes, uint64_t to);
  void cut();

  std::filesystem::path path_;
  uint64_t end_ = 0;
  int descriptor_ = -1;
};

}  // namespace prof
