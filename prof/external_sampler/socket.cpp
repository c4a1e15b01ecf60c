#include "prof/external_sampler/socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "hpcrun/sample/config.h"

namespace prof {

namespace {

constexpr int kAnswerTimeoutMs = 20;  // the byte is sent immediately after connecting
constexpr int kMaxRefused = 16;  // connections that are closed in one call of accept()

// Returns the parent of a process; 0 if the process is gone.
pid_t parent_of(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string line;
  pid_t parent = 0;
  if (!std::getline(stat, line)) return 0;
  const size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == line.npos || std::sscanf(line.c_str() + name_end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

bool is_descendant(pid_t pid) {
  constexpr int kMaxGenerations = 1000;
  for (int i = 0; i < kMaxGenerations && pid > 1; ++i, pid = parent_of(pid))
    if (pid == getpid()) return true;
  return false;
}

// True if the peer belongs to this run. Every process on the machine can connect to an abstract socket.
// Another user's programs are sampled if the run started them, as root's `sudo -u` does.
bool is_of_this_run(const ucred& peer) {
  return peer.uid == geteuid() || peer.uid == getuid() || (geteuid() == 0 && is_descendant(peer.pid));
}

}  // namespace

OutsideSocket::OutsideSocket() {
  uint64_t random = 0;
  [[maybe_unused]] const ssize_t got = getrandom(&random, sizeof random, 0);
  const std::string name = fmt::format("prof-{}-{:x}", getpid(), random);
  descriptor_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      listen(descriptor_, SOMAXCONN) == 0)
    name_ = name;
}

OutsideSocket::~OutsideSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OutsideSocket::accept(Request& request) const {
  for (int refused = 0; refused < kMaxRefused; ++refused) {
    request.connection = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (request.connection < 0) return false;
    ucred peer{};
    socklen_t bytes = sizeof peer;
    pollfd sent{request.connection, POLLIN, 0};
    if (getsockopt(request.connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && is_of_this_run(peer) &&
        poll(&sent, 1, kAnswerTimeoutMs) == 1 &&
        recv(request.connection, &request.what, 1, MSG_DONTWAIT) == 1) {
      request.pid = peer.pid;
      return true;
    }
    close(request.connection);
  }
  return false;
}

void OutsideSocket::answer(const Request& request) {
  send(request.connection, &hpcrun::kOutsideAnswer, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(request.connection);
}

}  // namespace prof
