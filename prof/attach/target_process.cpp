#include "prof/attach/target_process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <thread>

#include "hpcrun/guest/program_file.h"
#include "prof/attach/elf_symbols.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

using namespace std::literals;

std::string status_field(int pid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, field.size(), field) != 0 || line.size() < field.size() + 2 ||
        line[field.size()] != ':')
      continue;
    return line.substr(line.find_first_not_of(" \t", field.size() + 1));
  }
  return "";
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::vector<std::string> read_command(int pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> command;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    command.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return command;
}

// Checks owner, state and kind of the process, as far as /proc shows them.
void refuse_by_status(int pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) fail(kOwnFailure, "no process {} exists", pid);
  const std::string state = status_field(pid, "State");
  if (state.starts_with("Z") || state.starts_with("X")) fail(kOwnFailure, "process {} has ended", pid);
  if (pid == getpid()) fail(kOwnFailure, "prof cannot attach to itself");
  if (state.starts_with("T"))
    fail(kOwnFailure, "process {} is stopped; continue it first with `kill -CONT {}`", pid, pid);
  if (const std::string tracer = status_field(pid, "TracerPid"); tracer != "0" && !tracer.empty())
    fail(kOwnFailure, "process {} is traced by process {} (a debugger or strace); detach that first", pid,
         tracer);
  const uid_t user = geteuid();
  if (const auto owner = static_cast<uid_t>(std::strtoul(status_field(pid, "Uid").c_str(), nullptr, 10));
      user != 0 && owner != user)
    fail(kOwnFailure, "process {} belongs to another user; run prof as that user or as root", pid);
  std::error_code error;
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  if (program.empty() && error == std::errc::no_such_file_or_directory)
    fail(kOwnFailure, "process {} is a kernel thread, which cannot be measured", pid);
  if (error)
    fail(kOwnFailure, "the kernel forbids access to process {} ({}): {}", pid, error.message(),
         user == 0 ? "even root may not trace it from here; run prof outside the container or sandbox, or "
                     "with CAP_SYS_PTRACE"
                   : "it has raised privileges or belongs to another user; run prof as root");
}

void refuse_other_root(int pid) {
  const std::string process = fmt::format("/proc/{}", pid);
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/ns/mnt", error);
  if (fs::read_symlink(process + "/ns/mnt", error) != own ||
      !is_same_file(process + "/root", "/proc/self/root"))
    fail(kOwnFailure,
         "process {} sees other files (a container or chroot), so it cannot load the runtime; run prof "
         "inside it",
         pid);
}

struct Module {
  uint64_t bias = 0;  // of its first mapping, which maps the file's start
  CodeRange range;
};

std::map<std::string, Module> modules_of(int pid) {
  std::map<std::string, Module> modules;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    unsigned long low = 0;
    unsigned long high = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &low, &high, &path) != 2 || path == 0)
      continue;
    const std::string name = line.substr(static_cast<size_t>(path));
    if (!name.starts_with("/")) continue;
    const auto [module, is_new] = modules.try_emplace(name, Module{low, {low, high}});
    if (!is_new) module->second.range.high = high;
  }
  return modules;
}

// Notes an allocator in the executable itself, in code that a busy thread may never leave.
void note_own_allocator(TargetProcess& target, const ElfFile& program, const Module& module) {
  target.own_allocator.push_back(module.range);
  const uint64_t bias = program.is_position_independent() ? module.bias : 0;
  program.for_each_function([&](std::string_view name, uint64_t address, uint64_t bytes) {
    if (AllocatorCalls::is_allocator(name))
      target.allocator_calls.add_function({bias + address, bias + address + std::max<uint64_t>(bytes, 1)});
  });
}

bool is_named(const std::string& path, std::string_view prefix) {
  return fs::path(path).filename().string().starts_with(prefix);
}

bool has_libc(const std::map<std::string, Module>& modules) {
  return std::ranges::any_of(modules, [](const auto& module) { return is_named(module.first, "libc.so.6"); });
}

// Returns the loaded modules. After `app & prof attach $!` the loader may still be at work.
std::map<std::string, Module> loaded_modules(int pid, bool has_loader) {
  constexpr int kMaxTurns = 100;
  constexpr std::chrono::milliseconds kTurn{10};
  std::map<std::string, Module> modules = modules_of(pid);
  for (int turn = 0; has_loader && !has_libc(modules) && turn < kMaxTurns; ++turn) {
    std::this_thread::sleep_for(kTurn);
    modules = modules_of(pid);
  }
  return modules;
}

// The library is position-independent, so its first segment's link-time address is 0.
void find_functions(TargetProcess& target, const std::string& path, uint64_t bias) {
  const ElfFile libc(fmt::format("/proc/{}/root{}", target.pid, path));
  const auto address_of = [&](const char* name) {
    const uint64_t address = libc.function(name);
    if (address == 0 && kill(target.pid, 0) != 0) fail(kOwnFailure, "process {} has ended", target.pid);
    if (address == 0)
      fail(kOwnFailure,
           "the C library of process {} ({}) has no {}: it is older than glibc 2.34, or was replaced after "
           "the program started; restart the program",
           target.pid, path, name);
    return bias + address;
  };
  target.pthread_create = address_of("pthread_create");
  target.dlopen = address_of("dlopen");
  target.dlsym = address_of("dlsym");
  target.dlerror = address_of("dlerror");
  target.system_call = bias + libc.find_code("\x0f\x05\xc3"sv);
  const uint64_t restorer =
      libc.find_code("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"sv);  // mov $15,%rax; syscall
  target.signal_return = restorer ? bias + restorer : 0;
}

}  // namespace

TargetProcess examine_process(int pid) {
  refuse_by_status(pid);
  refuse_other_root(pid);
  TargetProcess target;
  target.pid = pid;
  struct stat owner {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0) {
    target.uid = owner.st_uid;
    target.gid = owner.st_gid;
  }
  target.command = read_command(pid);
  if (target.command.empty()) target.command.push_back(status_field(pid, "Name"));

  const ElfFile program(fmt::format("/proc/{}/exe", pid));
  if (!program.is_64bit_x86())
    fail(kOwnFailure, "process {} is not a 64-bit x86 program; prof measures only those", pid);
  if (program.has_section(".go.buildinfo"))
    fail(kOwnFailure,
         "process {} is a Go program, which prof's signals would kill; start it with `prof run`, or use Go's "
         "own pprof",
         pid);
  const std::map<std::string, Module> modules = loaded_modules(pid, program.has_section(".interp"));
  const bool has_sanitizer =
      hpcrun::program_kind(fmt::format("/proc/{}/exe", pid).c_str()) == hpcrun::ProgramKind::Sanitized ||
      std::ranges::any_of(
          modules, [](const auto& module) { return hpcrun::preloads_sanitizer(module.first.c_str()); });
  if (has_sanitizer)
    fail(kOwnFailure,
         "process {} uses a sanitizer, which must be the only library that intercepts the C library; start "
         "it with `prof run`, which samples it from outside",
         pid);
  const Module* libc = nullptr;
  for (const auto& [path, module] : modules) {
    const bool is_libc = is_named(path, "libc.so.6");
    if (is_libc) find_functions(target, path, module.bias);
    if (is_libc) libc = &module;
    if (is_named(path, "ld-linux")) target.loader = module.range;
    target.allocator_calls.add_code(module.range);
    const ElfFile file(fmt::format("/proc/{}/root{}", pid, path));
    const bool allocates = file.function("malloc") != 0;
    if (allocates &&
        is_same_file(fmt::format("/proc/{}/exe", pid), fmt::format("/proc/{}/root{}", pid, path)))
      note_own_allocator(target, file, module);
    else if (allocates || is_libc || is_named(path, "libprof-runtime.so"))
      target.delicate_code.push_back(module.range);
  }
  if (!libc)
    fail(kOwnFailure,
         "process {} has no glibc to load the runtime: it is statically linked, or uses another C library; "
         "start it with `prof run`",
         pid);
  return target;
}

std::vector<int> threads_of(int pid) {
  std::vector<int> threads;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    std::getline(stat, line);
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos || line.size() < name_end + 3) continue;
    const char state = line[name_end + 2];
    if (state == 'S' || state == 'R') threads.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return threads;
}

}  // namespace prof
