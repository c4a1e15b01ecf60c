#include "prof/run/directory.h"

#include "analysis/files/folder.h"
#include "prof/launch/measured_process.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/ranks/node_directory.h"
#include "prof/repair/repair_request.h"

namespace prof {

namespace fs = std::filesystem;

void prepare_for_processes(const DirectoryRequest& request, const fs::path& directory) {
  if (request.is_paused) start_paused(directory);
  make_room_for_shared_tables(directory);
  if (!request.repair_plan.empty()) write_repair_plan(request.repair_plan, directory);
}

RunDirectory open_directory(const DirectoryRequest& request, const std::optional<RankPart>& rank) {
  RunDirectory opened;
  if (rank && rank->shares_directory() && !rank->makes_directory()) {
    opened.path = rank->await_directory(request.program, request.force);
    Folder{opened.path};  // throws if it is another user's
    if (request.aggregates) opened.token = rank->token(opened.path);
    return opened;
  }
  opened.token = token_of_launch();
  opened.path = create_measurement_directory(request.asked, request.program, request.force);
  if (!request.aggregates) prepare_for_processes(request, opened.path);
  if (!request.given.is_empty()) write_repair_file(request.given, opened.path / kRepairFile);
  if (rank && rank->shares_directory()) {
    if (rank->shares_with_all()) opened.clock = std::make_unique<ClockServer>();
    rank->publish(opened.path, opened.clock ? opened.clock->address() : ClockAddress{}, opened.token);
  }
  return opened;
}

std::vector<fs::path> records_of_rank(const fs::path& directory, const std::optional<RankPart>& rank,
                                      const std::optional<NodeClock>& clock) {
  std::vector<fs::path> files;
  if (clock && !clock->file().empty()) files.push_back(clock->file());
  if (rank)
    files.push_back(directory / rank->record_name());  // last: its presence shows that all files are there
  return files;
}

}  // namespace prof
