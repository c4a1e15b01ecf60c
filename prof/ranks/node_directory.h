#pragma once
// With `prof run --aggregate=node`: a directory on a disk of the node, in which all ranks of a launch measure
// that run there, and the container in the common measurement directory to which each adds its files when its
// program has ended (hpcrun/measurement/container.h). The last one to leave removes the directory.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/container_writer.h"

namespace prof {

class NodeDirectory {
 public:
  // Makes it, or joins those that are in it. `launch` and `token` are the same for all ranks of a launch, the
  // token for no other. `prepare` is called by the first one, for what measured processes look for. Throws
  // CommandError (125).
  NodeDirectory(const std::filesystem::path& common, const std::string& launch, uint64_t token,
                const std::function<void(const std::filesystem::path&)>& prepare);
  // Leaves it.
  ~NodeDirectory();
  NodeDirectory(const NodeDirectory&) = delete;
  NodeDirectory& operator=(const NodeDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Adds the measurement files whose names begin so, with what belongs to them, and then `others`. False
  // where that cannot be done: the files stay, and one rank of the node says so.
  bool collect(const std::string& file_prefix, const std::vector<std::filesystem::path>& others);

 private:
  enum class Whose : uint8_t { Own, All };
  bool join();
  void open_container(const std::function<void(const std::filesystem::path&)>& prepare);
  std::string make_container(uint64_t& end) const;
  void add(const std::vector<std::filesystem::path>& files, Whose whose);
  std::unique_ptr<ContainerWriter> write(const std::vector<std::filesystem::path>& files, Whose whose);
  std::vector<std::filesystem::path> files_of(const std::string& file_prefix);
  void say_once(const std::string& line) const;
  std::string remedy() const;
  void leave();
  void remove() const;

  std::filesystem::path common_, path_;
  ContainerOwner owner_;
  int present_ = -1;  // a lock that all who are in the directory share
};

// A token that no other launch has.
uint64_t token_of_launch();

// Of a run that measures with --aggregate=node: its directories on this node.
std::vector<std::filesystem::path> node_directories(const std::filesystem::path& common);

}  // namespace prof
