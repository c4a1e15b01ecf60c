#pragma once
// Reads containers, in which the ranks of a node store their measurement files as one file
// (container_format.h). Robust against any bytes: damage is reported, and members after it are found.

#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

namespace prof {

// The node and the directories that a container belongs to.
struct ContainerOwner {
  std::string host;
  std::string local;  // the directory on the host that its ranks measure in
  std::string place;  // distinguishes it from other directories of the same name
};

class ContainerReader {
 public:
  explicit ContainerReader(std::filesystem::path path, uint64_t from = 0);

  const std::filesystem::path& path() const { return path_; }
  // True for a file that prof wrote as a container, of any version.
  bool is_container() const { return is_container_; }
  // Returns the owner; empty if the header is damaged.
  const ContainerOwner& owner() const { return owner_; }

  // Finds members that were added since the last call, up to the first position without one. Returns true if
  // it found any.
  bool read_on();
  // Finds members after that position as well, and describes damaged parts in damage().
  void read_rest();

  const std::vector<StoredFile>& members() const { return members_; }
  // Returns the position of the next member.
  uint64_t end() const { return end_; }
  // Returns at most one line for the user, which names the container.
  const std::string& damage() const { return damage_; }

 private:
  void read_header(int descriptor);
  // Reads the member at `at`. Returns true and moves past it, or returns false and moves one page ahead.
  bool take_member(int descriptor, uint64_t size, uint64_t& at);

  std::filesystem::path path_;
  ContainerOwner owner_;
  std::vector<StoredFile> members_;
  std::string damage_;
  uint64_t end_ = 0;
  bool is_container_ = false, is_readable_ = false;
};

// Returns the position of the next member after one that ends at `end`.
uint64_t next_member(uint64_t end);

}  // namespace prof
