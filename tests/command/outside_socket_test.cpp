// Every process on the machine can connect to the socket on which programs request to be sampled from
// outside.

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>

#include "prof/external_sampler/socket.h"

using namespace prof;

namespace {

constexpr uid_t kNobody = 65534;

void connect_and_ask(const std::string& name, bool sends) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) _exit(1);
  if (sends && send(connection, "s", 1, MSG_NOSIGNAL) != 1) _exit(1);
}

// A process of another user that has connected, until the object is destroyed.
class Peer {
 public:
  Peer(const std::string& name, bool is_orphan, int connections, bool sends = true) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    REQUIRE(pipe(hold_) == 0);
    const pid_t child = fork();
    if (child == 0) {
      close(hold_[1]);
      const pid_t parent = getpid();
      if (is_orphan && fork() != 0) _exit(0);
      while (is_orphan && getppid() == parent) usleep(1000);
      if (setuid(kNobody) != 0) _exit(1);
      for (int i = 0; i < connections; ++i) connect_and_ask(name, sends);
      char byte = 0;
      // Returns when the test closes the other end.
      _exit(::write(ready[1], &byte, 1) == 1 && ::read(hold_[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(hold_[0]);
    close(ready[1]);
    if (is_orphan) waitpid(child, nullptr, 0);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    pid_ = is_orphan ? 0 : child;
  }
  ~Peer() {
    close(hold_[1]);
    if (pid_) waitpid(pid_, nullptr, 0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  pid_t pid() const { return pid_; }

 private:
  int hold_[2] = {};
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("root's run answers programs of other users that it started, and nobody else") {
  if (geteuid() != 0) {
    WARN("skipped: needs root to become another user");
    return;
  }
  const OutsideSocket socket;
  REQUIRE(!socket.name().empty());
  OutsideSocket::Request request;
  {
    const Peer own(socket.name(), false, 1);
    REQUIRE(socket.accept(request));
    CHECK(request.pid == own.pid());
    CHECK(request.what == 's');
    OutsideSocket::answer(request);
  }
  const Peer stranger(socket.name(), true, 40);
  CHECK(!socket.accept(request));
}

TEST_CASE("those who connect and are refused do not keep accept() from returning") {
  if (geteuid() != 0) {
    WARN("skipped: needs root to become another user");
    return;
  }
  const OutsideSocket socket;
  OutsideSocket::Request request;
  const Peer stranger(socket.name(), true, 100, false);
  CHECK(!socket.accept(request));
  CHECK(!socket.accept(request));
}
