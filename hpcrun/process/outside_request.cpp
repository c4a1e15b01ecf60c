#include "hpcrun/process/outside_request.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "hpcrun/guest/program_file.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

constexpr int kPatienceMs = 500;
constexpr size_t kMostPathBytes = 4096;

sockaddr_un address{};
long address_bytes = 0;  // 0: nobody to ask

void ask(char what) noexcept {
  if (address_bytes == 0) return;
  const long connection = raw_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return;
  char answer = what;
  pollfd answered{static_cast<int>(connection), POLLIN, 0};
  const timespec patience{0, kPatienceMs * 1'000'000};
  constexpr uint64_t kNoSignals = ~uint64_t{0};  // a signal of the program's must not cut the wait short
  if (raw_syscall(SYS_connect, connection, reinterpret_cast<long>(&address), address_bytes) == 0 &&
      raw_syscall(SYS_sendto, connection, reinterpret_cast<long>(&answer), 1, MSG_NOSIGNAL) == 1)
    raw_syscall(SYS_ppoll, reinterpret_cast<long>(&answered), 1, reinterpret_cast<long>(&patience),
                reinterpret_cast<long>(&kNoSignals), sizeof kNoSignals);
  raw_syscall(SYS_close, connection);
}

// Calls use(path) with the file that execvp would execute.
template <typename Use>
void find_program(const char* file, bool on_path, Use use) noexcept {
  if (!on_path || strchr(file, '/')) return use(file);
  const char* at = getenv("PATH");
  if (!at) at = "/bin:/usr/bin";
  char path[kMostPathBytes];
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

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kRuntime[] = "/libhpcrun.so";

// One entry of LD_PRELOAD, whose entries end at colons and spaces.
struct Entry {
  const char* begin = nullptr;
  size_t bytes = 0;

  bool is_runtime() const noexcept {
    constexpr size_t kBytes = sizeof kRuntime - 1;
    return bytes >= kBytes && memcmp(begin + bytes - kBytes, kRuntime, kBytes) == 0;
  }
};

Entry next_entry(const char*& at) noexcept {
  at += strspn(at, ": ");
  const Entry entry{at, strcspn(at, ": ")};
  at += entry.bytes;
  return entry;
}

const char* preload_of(char* const environment[]) noexcept {
  for (; environment && *environment; ++environment)
    if (strncmp(*environment, kPreload, sizeof kPreload - 1) == 0) return *environment + sizeof kPreload - 1;
  return nullptr;
}

enum class Presence : uint8_t { NotNamed, NotReachable, Loadable };

Presence runtime_in(char* const environment[]) noexcept {
  const char* at = preload_of(environment);
  for (Entry entry = at ? next_entry(at) : Entry{}; entry.bytes != 0; entry = next_entry(at)) {
    if (!entry.is_runtime()) continue;
    char path[kMostPathBytes];
    if (entry.bytes >= sizeof path) return Presence::NotReachable;
    memcpy(path, entry.begin, entry.bytes);
    path[entry.bytes] = '\0';
    return access(path, R_OK) == 0 ? Presence::Loadable : Presence::NotReachable;
  }
  return Presence::NotNamed;
}

// The program that one file leads to, and what becomes of the runtime in it.
struct Plan {
  ProgramKind kind = ProgramKind::Unreadable;
  Presence runtime = Presence::NotNamed;

  bool loader_complains() const noexcept {
    return runtime == Presence::NotReachable ||
           (runtime == Presence::Loadable && kind == ProgramKind::Foreign);
  }
};

Plan plan_for(const char* file, bool on_path, char* const environment[]) noexcept {
  Plan plan;
  if (!file || address_bytes == 0) return plan;
  find_program(file, on_path, [&](const char* path) { plan.kind = program_kind(path); });
  plan.runtime = runtime_in(environment);
  return plan;
}

}  // namespace

void find_outside_sampler() noexcept {
  const char* name = getenv(kEnvOutside);
  const size_t bytes = name ? strlen(name) : 0;
  if (bytes == 0 || bytes >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name, bytes);  // behind the null byte that makes it abstract
  address_bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
}

bool before_exec(const char* file, bool on_path, char* const environment[]) noexcept {
  const Plan plan = plan_for(file, on_path, environment);
  if (plan.kind == ProgramKind::Go)
    ask(kGoFromExec);
  else if (plan.kind != ProgramKind::Unreadable &&
           (plan.kind == ProgramKind::Static || plan.kind == ProgramKind::Foreign ||
            plan.runtime != Presence::Loadable))
    ask(kStaticFromExec);
  return !plan.loader_complains();
}

size_t bytes_without_runtime(char* const environment[]) noexcept {
  size_t count = 1;
  for (char* const* at = environment; at && *at; ++at) ++count;
  const char* preload = preload_of(environment);
  return count * sizeof(char*) + sizeof kPreload + (preload ? strlen(preload) + 1 : 0);
}

char* const* without_runtime(char* const environment[], void* memory) noexcept {
  const char* const preload = preload_of(environment);
  auto** const copy = static_cast<char**>(memory);
  char** next = copy;
  char* text = nullptr;
  for (char* const* at = environment; at && *at; ++at)
    if (*at + sizeof kPreload - 1 != preload)
      *next++ = *at;
    else
      text = *next++ = *at;
  *next = nullptr;
  if (!text) return copy;
  char* const fresh = reinterpret_cast<char*>(next + 1);
  char* end = fresh;
  memcpy(end, kPreload, sizeof kPreload - 1);
  end += sizeof kPreload - 1;
  char* const first = end;
  const char* at = preload;
  for (Entry entry = next_entry(at); entry.bytes != 0; entry = next_entry(at)) {
    if (entry.is_runtime()) continue;
    if (end != first) *end++ = ':';
    memcpy(end, entry.begin, entry.bytes);
    end += entry.bytes;
  }
  *end = '\0';
  char** slot = copy;
  while (*slot != text) ++slot;
  *slot = fresh;
  if (end == first)
    for (; *slot; ++slot) slot[0] = slot[1];  // nothing else was to be preloaded
  return copy;
}

bool leave_to_outside() noexcept {
  if (program_kind("/proc/self/exe") != ProgramKind::Go) return false;
  ask(kGoFromNow);
  return true;
}

bool before_spawn(const char* file, bool on_path, char* const environment[]) noexcept {
  const Plan plan = plan_for(file, on_path, environment);
  if (plan.kind == ProgramKind::Static && is_sampling_here()) {
    char note[512];
    const char* name = strrchr(file, '/');
    snprintf(note, sizeof note,
             "%s was not measured: it is statically linked and was started by posix_spawn; run it by prof "
             "itself, or link it dynamically.",
             name ? name + 1 : file);
    process_state.file.write_note(note);
  }
  return !plan.loader_complains();
}

}  // namespace hpcrun
