#include "prof/commands/pause.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/files/user_rights.h"
#include "prof/base/message.h"
#include "prof/launch/measured_process.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/ranks/node_directory.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

std::optional<int> pid_in(const std::string& text) {
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

RunningProcess find_process(int pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) fail(kOwnFailure, "no process {} exists", pid);
  const fs::path file = file_of_process(pid);
  if (file.empty())
    fail(kOwnFailure,
         "process {} is not being measured, or belongs to another user; start it with `prof run` or use "
         "`prof attach {}`",
         pid, pid);
  RunningProcess process(file);
  if (!process.is_valid())
    fail(kOwnFailure, "cannot open {}: {}; run this command as the user who measures", file.string(),
         std::strerror(errno));
  return process;
}

void change_process(int pid, bool pausing) {
  RunningProcess process = find_process(pid);
  if (process.is_paused() == pausing)
    say("process {} is already {}", pid, pausing ? "paused" : "being measured");
  if (!(pausing ? process.pause() : process.resume()))
    say("process {}: samples are {}, but ptrace is forbidden, so its perf events cannot be switched: {}", pid,
        pausing ? "discarded from now on" : "kept again",
        pausing
            ? "they still cost time unless the `prof` that measures it is still running to switch them off"
            : "none arrive until the `prof` that measures it switches them on");
}

void change_run(const fs::path& directory, bool pausing) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    fail(kOwnFailure, "{} is neither a process ID nor a measurement directory", directory.string());
  const std::optional<UserRights> rights = rights_for(directory);
  std::vector<fs::path> all = node_directories(directory);
  all.push_back(directory);
  std::erase_if(all, [](const fs::path& one) { return files_of_running(one).empty(); });
  if (all.empty()) fail(kOwnFailure, "{}: no process of this run is being measured", directory.string());
  for (const fs::path& one : all) pausing ? pause_run(one) : resume_run(one);
}

void add_command(CLI::App& app, int& status, const char* name, const char* what, bool pausing) {
  auto target = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("target", *target, "Process, or measurement directory of a run (all its processes)")
      ->type_name("PID|DIR")
      ->required();
  command->callback([target, pausing, &status] {
    if (const std::optional<int> pid = pid_in(*target))
      change_process(*pid, pausing);
    else
      change_run(*target, pausing);
    status = 0;
  });
}

}  // namespace

void add_pause_commands(CLI::App& app, int& status) {
  add_command(app, status, "pause", "Pause measurement of a process or run", true);
  add_command(app, status, "resume", "Resume measurement", false);
}

}  // namespace prof
