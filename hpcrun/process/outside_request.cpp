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
void find_on_path(const char* file, Use use) noexcept {
  if (strchr(file, '/')) return use(file);
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

}  // namespace

void find_outside_sampler() noexcept {
  const char* name = getenv(kEnvOutside);
  const size_t bytes = name ? strlen(name) : 0;
  if (bytes == 0 || bytes >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name, bytes);  // behind the null byte that makes it abstract
  address_bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
}

void before_exec(const char* path) noexcept {
  if (address_bytes == 0 || !path) return;
  const ProgramKind kind = program_kind(path);
  if (kind == ProgramKind::Static) ask(kStaticFromExec);
  if (kind == ProgramKind::Go) ask(kGoFromExec);
}

void before_exec_on_path(const char* file) noexcept {
  if (address_bytes != 0 && file) find_on_path(file, before_exec);
}

bool leave_to_outside() noexcept {
  if (program_kind("/proc/self/exe") != ProgramKind::Go) return false;
  ask(kGoFromNow);
  return true;
}

void note_spawned(const char* path) noexcept {
  if (!path || !is_sampling_here() || program_kind(path) != ProgramKind::Static) return;
  char note[512];
  const char* name = strrchr(path, '/');
  snprintf(note, sizeof note,
           "%s was not measured: it is statically linked and was started by posix_spawn; run it by prof "
           "itself, or link it dynamically.",
           name ? name + 1 : path);
  process_state.file.write_note(note);
}

void note_spawned_on_path(const char* file) noexcept {
  if (file && is_sampling_here()) find_on_path(file, note_spawned);
}

}  // namespace hpcrun
