#include "prof/outside/socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hpcrun/sample/config.h"

namespace prof {

namespace {

constexpr int kPatienceMs = 20;  // the byte is sent right after the connection is made

bool is_of_this_user(const ucred& peer) {
  return peer.uid == geteuid() || peer.uid == getuid() || geteuid() == 0;
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
  for (;;) {
    request.connection = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (request.connection < 0) return false;
    ucred peer{};
    socklen_t bytes = sizeof peer;
    pollfd sent{request.connection, POLLIN, 0};
    if (getsockopt(request.connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
        is_of_this_user(peer) && poll(&sent, 1, kPatienceMs) == 1 &&
        recv(request.connection, &request.what, 1, MSG_DONTWAIT) == 1) {
      request.pid = peer.pid;
      return true;
    }
    close(request.connection);
  }
}

void OutsideSocket::answer(const Request& request) {
  send(request.connection, &hpcrun::kOutsideAnswer, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(request.connection);
}

}  // namespace prof
