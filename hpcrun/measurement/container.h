#pragma once
// Reads containers, in which the ranks of a node leave what they measured as one file (container_format.h).
// Robust against any bytes: what is damaged is named, and members behind it are found.

#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

namespace prof {

// By whom a container is written.
struct ContainerOwner {
  std::string host;
  std::string local;  // the directory on the host in which its ranks measure
  std::string place;  // what tells it from other directories of the same name
};

class ContainerReader {
 public:
  explicit ContainerReader(std::filesystem::path path, uint64_t from = 0);

  const std::filesystem::path& path() const { return path_; }
  // True for a file that prof wrote as a container, of whatever version.
  bool is_container() const { return is_container_; }
  // Empty where its header is damaged.
  const ContainerOwner& owner() const { return owner_; }

  // Finds the members that have come since the last call, up to the first place at which there is none. True
  // where it found some.
  bool read_on();
  // Looks for members behind that, and names what is damaged in damage().
  void read_rest();

  const std::vector<StoredFile>& members() const { return members_; }
  // Where the next member would begin.
  uint64_t end() const { return end_; }
  // One line at most for the user, which names the container.
  const std::string& damage() const { return damage_; }

 private:
  void read_header(int descriptor);
  // A page further where there is no member; true where there is one.
  bool take_member(int descriptor, uint64_t size, uint64_t& at);

  std::filesystem::path path_;
  ContainerOwner owner_;
  std::vector<StoredFile> members_;
  std::string damage_;
  uint64_t end_ = 0;
  bool is_container_ = false, is_readable_ = false;
};

// Where the member behind one that ends here begins.
uint64_t next_member(uint64_t end);

}  // namespace prof
