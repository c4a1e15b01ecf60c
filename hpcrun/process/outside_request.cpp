#include "hpcrun/process/outside_request.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "hpcrun/guest/environment.h"
#include "hpcrun/guest/program_file.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/outside_question.h"
#include "hpcrun/process/preload_list.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

constexpr size_t kMaxPathBytes = 4096;

OutsideAddress address{};
bool leaves_programs_alone = false;
int restricted_child = 0;          // a child of vfork, which shares this memory; 0: none
char helper_path[kMaxPathBytes];  // of hpcrun-exec; empty if it does not exist

// Calls use(path) with the file that execvp would execute.
template <typename Use>
void find_program(const char* file, bool on_path, Use use) noexcept {
  if (!on_path || strchr(file, '/')) return use(file);
  const char* at = environment_value("PATH");
  if (!at) at = "/bin:/usr/bin";
  char path[kMaxPathBytes];
  for (const size_t name_bytes = strlen(file) + 1;;) {
    const size_t folder_bytes = strcspn(at, ":");
    if (folder_bytes + 1 + name_bytes <= sizeof path) {
      memcpy(path, at, folder_bytes);
      path[folder_bytes] = '/';
      memcpy(path + folder_bytes + (folder_bytes ? 1 : 0), file, name_bytes);
      if (access(path, X_OK) == 0) return use(path);
    }
    if (at[folder_bytes] == '\0') return;
    at += folder_bytes + 1;
  }
}

bool is_layer_in(char* const environment[]) noexcept {
  for (; environment && *environment; ++environment) {
    const size_t begin = length_of_beginning(*environment, kLayersVariable);
    if (begin == 0) continue;
    const char* at = *environment + begin;
    for (PreloadEntry entry = next_entry(at); entry.bytes != 0; entry = next_entry(at))
      if (entry.is_runtime()) return true;
  }
  return false;
}

enum class Presence : uint8_t { NotNamed, NotReachable, Loadable };

Presence runtime_in(char* const environment[]) noexcept {
  const char* at = preload_of(environment);
  for (PreloadEntry entry = at ? next_entry(at) : PreloadEntry{}; entry.bytes != 0; entry = next_entry(at)) {
    if (!entry.is_runtime()) continue;
    char path[kMaxPathBytes];
    if (entry.bytes >= sizeof path) return Presence::NotReachable;
    memcpy(path, entry.begin, entry.bytes);
    path[entry.bytes] = '\0';
    return access(path, R_OK) == 0 ? Presence::Loadable : Presence::NotReachable;
  }
  return Presence::NotNamed;
}

// The program that a file resolves to, and what happens to the runtime in it.
struct Plan {
  ProgramKind kind = ProgramKind::Unreadable;
  Presence runtime = Presence::NotNamed;
  bool is_layer = false;  // of OpenCL

  // True if the loader would complain, the program's own runtime would fail, or OpenCL's loader would load
  // the runtime into a program that is sampled from outside.
  bool is_disturbed() const noexcept {
    return runtime == Presence::NotReachable || (runtime == Presence::Loadable && fails_with_runtime(kind)) ||
           (runtime == Presence::NotNamed && kind == ProgramKind::Dynamic && is_layer);
  }
  // Returns the request for `prof`; 0: none.
  char question() const noexcept {
    switch (kind) {
      case ProgramKind::Unreadable:
        return 0;
      case ProgramKind::Go:
        return kGoFromExec;
      case ProgramKind::Static:
      case ProgramKind::OtherLibc:
      case ProgramKind::Sanitized:
      case ProgramKind::Foreign:
        return kStaticFromExec;
      default:
        return runtime == Presence::Loadable ? '\0' : kStaticFromExec;
    }
  }
};

// Returns the kind of the program; of a script, that of its interpreter.
ProgramKind kind_of(const char* path) noexcept {
  constexpr int kMaxInterpreters = 5;  // the kernel's limit
  constexpr size_t kMaxLine = 256;     // the kernel's limit
  ProgramKind kind = program_kind(path);
  char line[kMaxLine];
  for (int i = 0; kind == ProgramKind::NotElf && i < kMaxInterpreters; ++i) {
    char script[kMaxLine];
    if (i > 0) memcpy(script, line, sizeof line);
    if (!script_interpreter(i > 0 ? script : path, line, sizeof line)) break;
    kind = program_kind(line);
  }
  return kind;
}

// `path`: from find_program().
Plan plan_for(const char* path, char* const environment[]) noexcept {
  Plan plan{kind_of(path), runtime_in(environment), is_layer_in(environment)};
  const char* const preload = preload_of(environment);
  if (plan.kind == ProgramKind::Dynamic && preload && preloads_sanitizer(preload))
    plan.kind = ProgramKind::Sanitized;
  return plan;
}

// Returns false in a process to which `prof` is attached: nothing is preloaded into its children, and there
// is no socket for requests.
bool is_concerned(char* const environment[]) noexcept {
  return address.bytes != 0 || preload_of(environment);
}

bool starts_bare_programs() noexcept {
  return leaves_programs_alone || (restricted_child && restricted_child == sys_getpid());
}

// True if the kernel will accept the file. hpcrun-exec could not report a failure to the caller.
bool will_execute(const char* path, ProgramKind kind) noexcept {
  return (kind == ProgramKind::Dynamic || needs_outside_sampling(kind)) && access(path, X_OK) == 0;
}

void note_unmeasured(const char* file) noexcept {
  if (!is_sampling_here()) return;
  char note[512];
  const char* name = strrchr(file, '/');
  snprintf(note, sizeof note,
           "%s was not measured: it was started by posix_spawn, and hpcrun-exec, which requests sampling "
           "from outside, cannot be executed here.",
           name ? name + 1 : file);
  process_state.file.write_note(note);
}

}  // namespace

void find_outside_sampler() noexcept {
  address = outside_address(environment_value(kEnvOutside));
  const char* helper = environment_value(kEnvOutsideExec);
  if (helper && strlen(helper) < sizeof helper_path) strcpy(helper_path, helper);
}

void leave_programs_alone() noexcept {
  const int process = sys_getpid();
  if (process == process_state.pid)
    leaves_programs_alone = true;
  else
    restricted_child = process;
}

bool before_exec(const char* file, bool on_path, char* const environment[]) noexcept {
  if (starts_bare_programs()) return false;
  Plan plan;
  if (file && is_concerned(environment))
    find_program(file, on_path, [&](const char* path) { plan = plan_for(path, environment); });
  const char question = plan.question();
  if (question && address.bytes != 0) ask_outside(address, question);
  return !plan.is_disturbed();
}

size_t bytes_without_runtime(char* const environment[]) noexcept {
  size_t bytes = sizeof(char*);
  for (char* const* at = environment; at && *at; ++at)
    bytes += sizeof(char*) + (begin_of_list(*at) ? strlen(*at) + 1 : 0);
  return bytes;
}

char* const* without_runtime(char* const environment[], void* memory) noexcept {
  size_t count = 0;
  while (environment && environment[count]) ++count;
  auto** const copy = static_cast<char**>(memory);
  char* text = reinterpret_cast<char*>(copy + count + 1);
  char** next = copy;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = begin_of_list(environment[i]);
    if (begin == 0) {
      *next++ = environment[i];
      continue;
    }
    strcpy(text, environment[i]);
    const size_t left = remove_runtime(text + begin);
    if (left == 0) continue;  // the list has no other entries
    *next++ = text;
    text += begin + left + 1;
  }
  *next = nullptr;
  return copy;
}

bool leave_to_outside() noexcept {
  const ProgramKind kind = program_kind("/proc/self/exe");
  if (kind != ProgramKind::Go && kind != ProgramKind::Sanitized) return false;
  ask_outside(address, kGoFromNow);
  return true;
}

Spawn::Spawn(const char* file, bool on_path, char* const arguments[], char* const environment[]) noexcept {
  fits_ = !starts_bare_programs();
  if (!file || !fits_ || !is_concerned(environment)) return;
  find_program(file, on_path, [&](const char* path) {
    const Plan plan = plan_for(path, environment);
    fits_ = !plan.is_disturbed();
    const char question = address.bytes != 0 ? plan.question() : '\0';
    if (question && will_execute(path, plan.kind) && !prepare(path, question, arguments))
      note_unmeasured(path);
  });
}

Spawn::~Spawn() {
  if (arguments_) sys_munmap(arguments_, bytes_);
}

const char* Spawn::helper() const noexcept {
  return arguments_ ? helper_path : nullptr;
}

bool Spawn::prepare(const char* path, char question, char* const arguments[]) noexcept {
  constexpr size_t kOwn = 4;  // hpcrun-exec SOCKET QUESTION PROGRAM
  if (!helper_path[0] || access(helper_path, X_OK) != 0) return false;
  size_t count = 0;
  while (arguments && arguments[count]) ++count;
  const size_t pointer_bytes = (kOwn + count + 1) * sizeof(char*);
  const size_t path_bytes = strlen(path) + 1;
  bytes_ = pointer_bytes + path_bytes + 2;
  void* memory = sys_mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  arguments_ = static_cast<char**>(memory);
  char* const text = static_cast<char*>(memory) + pointer_bytes;
  memcpy(text, path, path_bytes);
  text[path_bytes] = question;  // a null byte follows: the memory is fresh
  arguments_[0] = helper_path;
  arguments_[1] = address.socket.sun_path + 1;
  arguments_[2] = text + path_bytes;
  arguments_[3] = text;
  if (count != 0) memcpy(arguments_ + kOwn, arguments, count * sizeof(char*));
  return true;
}

}  // namespace hpcrun
