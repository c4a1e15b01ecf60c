#include "analysis/pipeline/stored_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/pipeline/rank_choice.h"
#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/container_format.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNodesNamed = 4;
constexpr int64_t kMaxRanks = 100'000'000;  // a damaged file may have any number

std::string own_host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

void add_members(const fs::path& path, StoredFiles& stored, std::vector<ContainerOwner>& owners) {
  ContainerReader container(path);
  if (!container.is_container()) return;
  container.read_on();
  container.read_rest();
  stored.containers.push_back(path);
  std::ranges::copy(container.members(), std::back_inserter(stored.files));
  if (!container.damage().empty()) stored.damage.push_back(container.damage());
  // The container was created when the first rank of the node began.
  if (container.members().empty() && container.damage().empty())
    stored.damage.push_back(
        fmt::format("{}: no rank of {} added its measurements; if they still exist, they are in {} there",
                    path.string(), container.owner().host, container.owner().local));
  else if (container.damage().empty())
    owners.push_back(container.owner());
}

// Returns the number of ranks that have not written their record, for a launch whose ranks all measure into
// the directory. A rank writes its record last. launch.json is removed once all have.
size_t count_unfinished(const fs::path& directory, const std::vector<StoredFile>& files, int& size) {
  const std::string text = read_regular_file(directory / kLaunchFile).value_or("");
  const auto launch = nlohmann::json::parse(text, nullptr, false);
  if (!launch.is_object() || !launch.contains("all_ranks") || launch["all_ranks"] != true) return 0;
  if (!launch.contains("size") || !launch["size"].is_number_integer()) return 0;
  const auto ranks = launch["size"].get<int64_t>();
  if (ranks < 1 || ranks > kMaxRanks) return 0;
  size = static_cast<int>(ranks);
  const auto words = launch.find("ranks");
  const bool has_choice = words != launch.end() && words->is_string() && *words != "all";
  const auto choice = has_choice ? RankChoice::parse(words->get<std::string>()) : RankChoice();
  if (!choice) return 0;
  std::set<int32_t> finished;
  for (const StoredFile& file : files)
    if (const auto rank = rank_of_record(file.path); rank && *rank < size && choice->contains(*rank))
      finished.insert(*rank);
  return choice->count(size) - finished.size();
}

// Names the nodes that still hold measurements because a launcher or the batch system killed all ranks at
// once.
void name_what_nodes_have(const fs::path& directory, const std::vector<ContainerOwner>& owners,
                          StoredFiles& stored) {
  if (owners.empty()) return;
  int size = 0;
  const size_t unfinished = count_unfinished(directory, stored.files, size);
  if (unfinished == 0) return;
  const std::string host = own_host_name();
  std::vector<ContainerOwner> left;
  std::error_code error;
  std::ranges::copy_if(owners, std::back_inserter(left), [&](const ContainerOwner& owner) {
    return owner.host != host || fs::exists(owner.local, error);
  });
  std::ranges::sort(left, {}, &ContainerOwner::host);
  const size_t named = std::min(left.size(), kMaxNodesNamed);
  for (size_t i = 0; i < named; ++i)
    stored.damage.push_back(
        fmt::format("{}: {} of {} ranks have not added their measurements: they were killed, or still run; "
                    "those of {} are in {} there, if they still exist{}",
                    directory.string(), unfinished, size, left[i].host, left[i].local,
                    i + 1 == named && named < left.size()
                        ? fmt::format("; the same holds for {} more nodes", left.size() - named)
                        : ""));
}

uint64_t size_of(const StoredFile& file) {
  std::error_code error;
  return file.is_member() ? file.bytes : fs::file_size(file.path, error);
}

// Removes files of equal name and size.
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
  std::vector<ContainerOwner> owners;
  for (fs::directory_iterator at(directory, stored.error), end; !stored.error && at != end;
       at.increment(stored.error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable)) continue;
    if (at->path().extension() == hpcrun::kContainerSuffix)
      add_members(at->path(), stored, owners);
    else
      stored.files.emplace_back(at->path());
  }
  std::ranges::sort(stored.containers);
  std::ranges::sort(stored.files, {}, [](const StoredFile& file) {
    return std::tuple(file.as_file(), file.is_member(), file.path, file.offset);
  });
  leave_out_copies(stored.files);
  name_what_nodes_have(directory, owners, stored);
  std::ranges::sort(stored.damage);
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
