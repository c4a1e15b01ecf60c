#include "prof/results/share.h"

#include <grp.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "analysis/files/folder.h"
#include "analysis/pipeline/node_clocks.h"
#include "analysis/pipeline/run_record.h"
#include "analysis/pipeline/stored_files.h"
#include "analysis/repair/repair_file.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/ranks/measurement_directory.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

const std::map<std::string, SharedWith> kAudiences = {{"group", SharedWith::Group},
                                                      {"world", SharedWith::World}};

std::string group_of(const fs::path& place) {
  struct stat status {};
  if (stat(place.c_str(), &status) != 0) return "its group";
  const group* const entry = getgrgid(status.st_gid);
  return entry ? fmt::format("the group {}", entry->gr_name) : fmt::format("the group {}", status.st_gid);
}

}  // namespace

void add_share_option(CLI::App& command) {
  command
      .add_option_function<SharedWith>(
          "--share", [](const SharedWith& with) { set_shared_with(with); },
          "Let group or world read the results, source copies included")
      ->transform(choice(kAudiences))
      ->type_name("WHO");
}

void share_measurements(const fs::path& directory) {
  if (shared_with() == SharedWith::Nobody) return;
  try {
    const Folder folder(directory);
    folder.share_with_others();
    std::vector<StoredFile> files = rank_records(directory);
    std::ranges::move(clock_files(directory), std::back_inserter(files));
    std::ranges::copy_if(stored_files(directory).files, std::back_inserter(files), is_measurement);
    for (const StoredFile& file : files)
      if (!file.is_member()) folder.share_file(file.path.filename().string());
    for (const fs::path& container : containers_in(directory))
      folder.share_file(container.filename().string());
    for (const char* const name : {"run.json", kRepairFile}) folder.share_file(name);
  } catch (const WriteError& error) {
    say_line(error.what());
  }
}

void say_who_may_read(const fs::path& place) {
  if (shared_with() == SharedWith::Nobody) return;
  remark("{} may read {}: the command line, host and user names, and the copies of source files",
         shared_with() == SharedWith::World ? "everybody" : group_of(place), place.string());
}

}  // namespace prof
