#include "analysis/pipeline/stored_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/container_format.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

void add_members(const fs::path& path, StoredFiles& stored) {
  ContainerReader container(path);
  if (!container.is_container()) return;
  container.read_on();
  container.read_rest();
  stored.containers.push_back(path);
  std::ranges::copy(container.members(), std::back_inserter(stored.files));
  if (!container.damage().empty()) stored.damage.push_back(container.damage());
  // It was made as the first rank of the node began.
  if (container.members().empty() && container.damage().empty())
    stored.damage.push_back(
        fmt::format("{}: no rank of {} added what it measured, which then is in {} there, if it is left",
                    path.string(), container.owner().host, container.owner().local));
}

uint64_t size_of(const StoredFile& file) {
  std::error_code error;
  return file.is_member() ? file.bytes : fs::file_size(file.path, error);
}

// Of files of one name and size.
void leave_out_copies(std::vector<StoredFile>& files) {
  std::vector<StoredFile> once;
  for (StoredFile& file : files) {
    const bool is_copy = !once.empty() && once.back().as_file() == file.as_file() && file.is_member() &&
                         size_of(once.back()) == size_of(file);
    if (!is_copy) once.push_back(std::move(file));
  }
  files = std::move(once);
}

}  // namespace

StoredFiles stored_files(const fs::path& directory) {
  StoredFiles stored;
  for (fs::directory_iterator at(directory, stored.error), end; !stored.error && at != end;
       at.increment(stored.error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable)) continue;
    if (at->path().extension() == hpcrun::kContainerSuffix)
      add_members(at->path(), stored);
    else
      stored.files.emplace_back(at->path());
  }
  std::ranges::sort(stored.containers);
  std::ranges::sort(stored.damage);
  std::ranges::sort(stored.files, {}, [](const StoredFile& file) {
    return std::tuple(file.as_file(), file.is_member(), file.path, file.offset);
  });
  leave_out_copies(stored.files);
  return stored;
}

bool is_container(const fs::path& file) {
  std::error_code error;
  return file.extension() == hpcrun::kContainerSuffix && fs::is_regular_file(file, error) &&
         ContainerReader(file).is_container();
}

std::vector<fs::path> containers_in(const fs::path& directory) {
  std::vector<fs::path> containers;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (is_container(at->path())) containers.push_back(at->path());
  std::ranges::sort(containers);
  return containers;
}

}  // namespace prof
