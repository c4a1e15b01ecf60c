#pragma once
// Adds files to a container (container_format.h). Who adds holds a lock that all who add to it know; that is
// the caller's. A member's header is written last: what was killed as it added left nothing that could be
// taken for a member. Throws std::system_error.

#include <filesystem>
#include <string>

#include "hpcrun/measurement/container.h"

namespace prof {

class ContainerWriter {
 public:
  // Makes the file, which must not be there.
  static void create(const std::filesystem::path& path, const ContainerOwner& owner);

  // Members are whole up to `known_end` at least; what is no whole member behind them is cut off.
  ContainerWriter(std::filesystem::path path, uint64_t known_end);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  // The file's contents under its name. What was written of one that cannot be added is cut off.
  void add(const std::filesystem::path& file);
  // When it returns what was added is kept, as far as the file system says.
  void sync() const;
  uint64_t end() const { return end_; }

 private:
  // Returns the checksum.
  uint32_t copy(int from, uint64_t bytes, uint64_t to);
  void cut();

  std::filesystem::path path_;
  uint64_t end_ = 0;
  int descriptor_ = -1;
};

}  // namespace prof
