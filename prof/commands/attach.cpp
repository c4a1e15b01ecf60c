#include "prof/commands/attach.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "analysis/files/folder.h"
#include "analysis/files/folder_walk.h"
#include "analysis/files/user_rights.h"
#include "prof/attach/injection.h"
#include "prof/attach/target_process.h"
#include "prof/base/message.h"
#include "prof/base/runtime_library.h"
#include "prof/launch/debugger_watch.h"
#include "prof/launch/events.h"
#include "prof/launch/launch.h"
#include "prof/launch/measured_process.h"
#include "prof/launch/trigger.h"
#include "prof/launch/waste_events.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/results/databases.h"
#include "prof/results/share.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

// Locks the directory while prof is attached. A prof that was killed no longer holds its lock.
class AttachmentLock {
 public:
  explicit AttachmentLock(const fs::path& directory)
      : descriptor_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    held_ = descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  }
  ~AttachmentLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  AttachmentLock(const AttachmentLock&) = delete;
  AttachmentLock& operator=(const AttachmentLock&) = delete;
  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_;
};

// Signals that end the measurement, read when prof is ready for them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  bool came_within(std::chrono::milliseconds time) const {
    const timespec timeout{0, static_cast<long>(time.count() * 1'000'000)};
    return sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

std::optional<RunningProcess> measured(int pid) {
  const fs::path file = file_of_process(pid);
  if (file.empty()) return std::nullopt;
  RunningProcess process(file);
  if (!process.is_valid() || !process.is_running()) return std::nullopt;
  return process;
}

// Returns false, with one line for the user, if the process is still measured. Its perf events are disabled
// first: a sample could interrupt the call in which the stopped thread waits.
bool detach(int pid, const fs::path& runtime) {
  if (std::optional<RunningProcess> process = measured(pid)) process->switch_events(false);
  try {
    Injection injection(examine_process(pid));
    if (const long error = injection.call(runtime, "hpcrun_detach", ""))
      say("process {}: {}: some measurements may be missing", pid, std::strerror(static_cast<int>(error)));
    return true;
  } catch (const CommandError& error) {
    if (kill(pid, 0) != 0 || !measured(pid)) return true;
    say("cannot detach from process {}, which is still being measured: {}", pid, error.what());
    return false;
  }
}

// Detaches a prof that is gone and left the process attached. Fails if another prof measures the process.
void settle_with_others(int pid, const fs::path& runtime) {
  const fs::path file = file_of_process(pid);
  if (file.empty() || !measured(pid)) return;
  if (!fs::exists(file.parent_path() / kAttachedMarker) || !AttachmentLock(file.parent_path()).held())
    fail(kOwnFailure, "process {} is being measured already, into {}", pid, file.parent_path().string());
  say("process {} was left attached by an earlier prof, which ended; its measurements are in {}", pid,
      file.parent_path().string());
  if (!detach(pid, runtime))
    fail(kOwnFailure,
         "cannot detach the earlier prof from process {}, so it is not measured again; try again", pid);
}

std::string settings_text(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text.append(name).append("=").append(value).push_back('\0');
  return text;
}

// Gives the directory to the process's user. The process writes its file there, and its user can put links
// there. Therefore root continues with that user's rights for files. A directory that root made, or that is
// root's and empty, changes owner.
std::optional<UserRights> hand_over(const fs::path& directory, const TargetProcess& target) {
  if (user_for_files() == target.uid) return std::nullopt;
  Folder::above(directory);
  std::error_code missing;
  const Folder folder =
      fs::exists(directory, missing) ? Folder(directory, FolderOwner::Any) : Folder::make(directory);
  if (folder.owner() != target.uid) {
    if (folder.owner() != user_for_files() || !folder.names().empty())
      fail(kOwnFailure,
           "{} is neither empty nor the directory of {}, which process {} already writes to; choose another "
           "directory with -o",
           directory.string(), name_of_user(target.uid), target.pid);
    if (fchownat(folder.descriptor(), "", target.uid, target.gid, AT_EMPTY_PATH) != 0)
      fail(kOwnFailure,
           "cannot give the user of process {} write access to {}: {}; choose another directory with -o",
           target.pid, directory.string(), std::strerror(errno));
  }
  return UserRights::of_process(target.pid, target.uid, target.gid);
}

void start_measuring(Injection& injection, const TargetProcess& target, const fs::path& runtime,
                     const std::string& settings, const fs::path& directory) {
  const long error = injection.call(runtime, "hpcrun_attach", settings);
  if (error == EBUSY)
    fail(kOwnFailure, "process {} has not finished an earlier attachment; try again", target.pid);
  if (error)
    fail(kOwnFailure, "process {} cannot write to {}: {}", target.pid, directory.string(),
         std::strerror(static_cast<int>(error)));
}

// Removes a directory without measurements, which would prevent another try.
void remove_unused(const fs::path& directory, std::optional<UserRights>& rights) {
  std::error_code stays;
  if (has_measurements(directory)) return;
  remove_own(directory / kAttachedMarker);
  if (rights) rights.reset();    // the directory may lie in one of root's
  fs::remove(directory, stays);  // if it is empty
}

// A process that is ending has no memory left, or still has the runtime. One that executed another program
// has neither our file nor the runtime.
bool has_executed_another(int pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  bool any = false;
  for (std::string line; std::getline(maps, line); any = true)
    if (line.find("/libprof-runtime.so") != std::string::npos) return false;
  return any;
}

// Returns the reason why it ended, as text.
std::string wait_for_end(int pid, const Window& window, const EndSignals& signals,
                         const RunningProcess& process) {
  const auto start = Clock::now();
  const double length = window.duration_s ? window.delay_s.value_or(0) + *window.duration_s : 0;
  for (;;) {
    if (signals.came_within(std::chrono::milliseconds(50))) return "";
    if (window.duration_s && std::chrono::duration<double>(Clock::now() - start).count() >= length) return "";
    // An exec that fails looks like an end for a moment.
    if (process.is_running() || (!signals.came_within(std::chrono::milliseconds(50)) && process.is_running()))
      continue;
    return has_executed_another(pid) ? "it executed another program" : "it ended";
  }
}

}  // namespace

int attach(int pid, const MeasuringOptions& options) {
  std::vector<std::string> names = options.events;
  if (take_locks(names))
    fail(kOwnFailure,
         "-e locks cannot attach to a running process; start the program with `prof run -e locks`");
  if (take_contention(names) != ContentionRequest::None)
    fail(kOwnFailure,
         "-e contention cannot attach to a running process; start the program with `prof run -e contention`");
  const uint64_t waste_kinds = take_memory_waste(names);
  const std::vector<hpcrun::EventSpec> events = parse_user_events(names);
  const std::optional<hpcrun::Trigger> users = users_trigger();
  const fs::path runtime = find_runtime_library();
  const EndSignals signals;
  settle_with_others(pid, runtime);
  const TargetProcess target = examine_process(pid);
  std::optional<UserRights> rights =
      hand_over(measurement_directory_path(options.output, target.command[0]), target);
  const fs::path directory = create_measurement_directory(options.output, target.command[0], options.force);
  const AttachmentLock lock(directory);
  mark_attached(directory);
  const TriggerProbe probe = probe_trigger();
  const hpcrun::Trigger trigger = chosen_trigger(users, probe);
  if (options.window.starts_paused()) start_paused(directory);

  const std::string settings = settings_text({{hpcrun::kEnvDirectory, directory.string()},
                                              {hpcrun::kEnvEvents, format_events(events)},
                                              {hpcrun::kEnvTrace, options.trace ? "1" : "0"},
                                              {hpcrun::kEnvWaste, std::to_string(waste_kinds)},
                                              {hpcrun::kEnvMounts, own_mount_namespace()},
                                              {hpcrun::kEnvTrigger, trigger_name(trigger)}});
  const std::string start = present_time();
  const auto begin = Clock::now();
  std::optional<Injection> injection(std::in_place,
                                     target);  // its memory stays until no more samples arrive
  try {
    start_measuring(*injection, target, runtime, settings, directory);
  } catch (const CommandError&) {
    injection.reset();
    remove_unused(directory, rights);
    throw;
  }
  std::string why;
  bool detached = true;
  {
    const std::optional<RunningProcess> process = measured(target.pid);
    if (process) {
      say("process {} is being measured{}", target.pid,
          options.window.duration_s ? "" : " until it ends or prof is interrupted (Ctrl-C)");
      const DebuggerWatch watch(directory);
      Window window = options.window;
      window.duration_s.reset();
      const MeasuringWindow measuring(directory, window);
      why = wait_for_end(pid, options.window, signals, *process);
    }
    if (!why.empty()) say("process {} is no longer measured: {}", target.pid, why);
    // Children that the process forked are measured, too.
    for (const fs::path& file : files_of_running(directory))
      detached = detach(RunningProcess(file).pid(), runtime) && detached;
    if (!why.empty() || !detached || has_executed_another(pid)) injection->leave_memory();
    injection.reset();
  }
  Outcome outcome;
  outcome.exit_status = -1;  // unknown
  outcome.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  write_run_record(directory, target.command, start, outcome, probe.cost_s);
  if (!has_measurements(directory)) {
    say("nothing was measured: process {} ended before measuring began", target.pid);
    return 0;
  }
  share_measurements(directory);
  say_who_may_read(directory);
  if (options.analyze)
    analyze_and_summarize(directory);
  else
    say("measurements are in {}", directory.string());
  return detached ? 0 : kOwnFailure;
}

void add_attach_command(CLI::App& app, int& status) {
  struct Options {
    int pid = 0;
    MeasuringOptions measuring;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("attach", "Measure a running process");
  add_measuring_options(*command, options->measuring);
  command->add_option("pid", options->pid, "Process to measure")
      ->required()
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  command->callback([options, &status] { status = attach(options->pid, options->measuring); });
}

}  // namespace prof
