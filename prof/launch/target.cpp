#include "prof/launch/target.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "hpcrun/measurement/stored_file.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// The kernel follows no more interpreter lines than this.
constexpr int kMaxInterpreters = 5;

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

fs::path search(const std::string& program) {
  if (program.empty()) fail(kNotFound, "the program's name is empty; name the program to run");
  if (program.find('/') != std::string::npos) {
    std::error_code error;
    const fs::file_status status = fs::status(program, error);
    if (status.type() == fs::file_type::not_found) fail(kNotFound, "{}: no such file", program);
    if (error) fail(kNotExecutable, "{}: {}", program, error.message());
    if (!is_executable_file(program)) fail(kNotExecutable, "{}: not an executable file", program);
    return program;
  }
  const char* variable = getenv("PATH");
  const std::string folders = variable ? variable : "/bin:/usr/bin";
  bool found_unusable = false;
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path candidate = fs::path(end > at ? folders.substr(at, end - at) : ".") / program;
    if (is_executable_file(candidate)) return candidate;
    std::error_code error;
    found_unusable |= fs::is_regular_file(candidate, error);
    at = end + 1;
  }
  if (found_unusable) fail(kNotExecutable, "{}: found on PATH but not executable", program);
  fail(kNotFound, "{}: command not found", program);
}

std::optional<std::string> interpreter_of(const fs::path& script) {
  std::array<char, 256> line{};
  beginning_of(script, line.size() - 1).copy(line.data(), line.size() - 1);
  if (line[0] != '#' || line[1] != '!') return std::nullopt;
  const std::string text(line.data() + 2);
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return std::nullopt;
  return text.substr(from, text.find_first_of(" \t\n", from) - from);
}

void refuse_raised_privileges(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return;
  const bool changes_user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
  const bool changes_group =
      (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid();
  const bool has_capabilities =
      geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (changes_user || changes_group || has_capabilities)
    fail(kOwnFailure,
         "{} runs with raised privileges (setuid, setgid or file capabilities), so the loader ignores the "
         "runtime; run prof as the user it changes to, or measure a copy without them",
         path.string());
}

void refuse_foreign(const fs::path& path) {
  fail(kOwnFailure, "{} is not a 64-bit x86 program; prof measures only those", path.string());
}

}  // namespace

const char* reason_outside(hpcrun::ProgramKind kind) {
  switch (kind) {
    case hpcrun::ProgramKind::Go:
      return "a Go program, which prof's signals would kill";
    case hpcrun::ProgramKind::OtherLibc:
      return "linked with a C library other than glibc (such as musl), whose loader cannot load the runtime";
    case hpcrun::ProgramKind::Sanitized:
      return "built with a sanitizer or has one preloaded, which must be the only library that intercepts "
             "the C library";
    default:
      return "statically linked, so it cannot load the runtime";
  }
}

Target find_target(const std::string& program) {
  Target target;
  target.path = search(program);
  fs::path at = target.path;
  for (int depth = 0; depth <= kMaxInterpreters; ++depth) {
    const hpcrun::ProgramKind kind = hpcrun::program_kind(at.c_str());
    if (kind == hpcrun::ProgramKind::Unreadable)
      break;  // executable but not readable: its kind stays unknown
    if (kind != hpcrun::ProgramKind::NotElf) {
      if (kind == hpcrun::ProgramKind::Foreign) refuse_foreign(at);
      refuse_raised_privileges(at);
      target.image = at;
      target.kind = kind;
      const char* const preload = getenv("LD_PRELOAD");
      if (kind == hpcrun::ProgramKind::Dynamic && preload && hpcrun::preloads_sanitizer(preload))
        target.kind = hpcrun::ProgramKind::Sanitized;
      break;
    }
    const std::optional<std::string> interpreter = interpreter_of(at);
    if (!interpreter) break;
    if (!is_executable_file(*interpreter))
      fail(kNotExecutable,
           "{}: its interpreter {} is not executable; install it, or correct the first line of the script",
           at.string(), *interpreter);
    at = *interpreter;
  }
  return target;
}

}  // namespace prof
