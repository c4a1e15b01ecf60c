#pragma once
// With `prof run --aggregate=node`: a directory on a disk of the node, into which all ranks of a launch on
// that node measure. When its program has ended, each rank adds its files to a container in the common
// measurement directory (hpcrun/measurement/container.h). The last rank to leave removes the directory.

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
  // Creates the directory, or joins the ranks that are in it. `launch` and `token` are the same for all ranks
  // of a launch, and no other launch has the token. The first rank calls `prepare` to create the files that
  // measured processes expect. Throws CommandError (125).
  NodeDirectory(const std::filesystem::path& common, const std::string& launch, uint64_t token,
                const std::function<void(const std::filesystem::path&)>& prepare);
  // Leaves the directory.
  ~NodeDirectory();
  NodeDirectory(const NodeDirectory&) = delete;
  NodeDirectory& operator=(const NodeDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Adds the measurement files whose names begin with `file_prefix`, with the files that belong to them, and
  // then `others`. Returns false if that fails: the files stay, and one rank of the node reports it.
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
  int present_ = -1;  // a shared lock of all ranks in the directory
};

// Returns a token that no other launch has.
uint64_t token_of_launch();

// Returns the directories on this node of a run that measures with --aggregate=node.
std::vector<std::filesystem::path> node_directories(const std::filesystem::path& common);

}  // namespace prof
