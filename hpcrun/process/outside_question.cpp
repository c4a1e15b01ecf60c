#include "hpcrun/process/outside_question.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr int kAnswerTimeoutMs = 500;

}  // namespace

OutsideAddress outside_address(const char* name) noexcept {
  OutsideAddress address{};
  address.socket.sun_family = AF_UNIX;
  size_t bytes = 0;
  for (; name && name[bytes]; ++bytes) {
    if (bytes + 1 == sizeof address.socket.sun_path) return address;
    address.socket.sun_path[1 + bytes] = name[bytes];  // after the null byte that makes it abstract
  }
  if (bytes != 0) address.bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  return address;
}

void ask_outside(const OutsideAddress& address, char what) noexcept {
  if (address.bytes == 0) return;
  const long connection = raw_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return;
  pollfd answered{static_cast<int>(connection), POLLIN, 0};
  const timespec patience{0, kAnswerTimeoutMs * 1'000'000};
  constexpr uint64_t kNoSignals = ~uint64_t{0};  // a signal of the program's must not end the wait early
  if (raw_syscall(SYS_connect, connection, reinterpret_cast<long>(&address.socket), address.bytes) == 0 &&
      raw_syscall(SYS_sendto, connection, reinterpret_cast<long>(&what), 1, MSG_NOSIGNAL) == 1)
    raw_syscall(SYS_ppoll, reinterpret_cast<long>(&answered), 1, reinterpret_cast<long>(&patience),
                reinterpret_cast<long>(&kNoSignals), sizeof kNoSignals);
  raw_syscall(SYS_close, connection);
}

}  // namespace hpcrun
