#include "prof/ranks/clock_exchange.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>

namespace prof {

namespace {

constexpr int kQuestions = 16;
constexpr timeval kAnswerTimeout = {.tv_sec = 0, .tv_usec = 100'000};  // for an answer
constexpr int64_t kMaxWaitNs = 100'000'000;  // for an answer among datagrams from other programs
constexpr size_t kMaxAddresses = 4;
// Networks lose packets: a question without an answer is repeated.
constexpr int kRounds = 3;
constexpr int kMaxUnanswered = 3;

// Used in both directions. All nodes of a job run the same prof, in the same byte order.
struct Message {
  uint64_t token;
  uint64_t question;
  int64_t received_ns, sent_ns;  // of an answer, CLOCK_REALTIME
};

int64_t monotonic_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

// The difference to be added to CLOCK_MONOTONIC to get CLOCK_REALTIME, until the latter is set.
struct ToRealtime {
  int64_t ns;
  int64_t error_ns;  // its maximum error
};

// Reads one clock between two readings of the other. If the thread is interrupted meanwhile, the two readings
// lie apart.
ToRealtime to_realtime() {
  using namespace std::chrono;
  constexpr int kLooks = 8;
  ToRealtime best{0, INT64_MAX};
  for (int look = 0; look < kLooks; ++look) {
    const int64_t before = monotonic_ns();
    const int64_t realtime = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    const int64_t apart = monotonic_ns() - before;
    const int64_t error = (apart + 1) / 2;
    if (error < best.error_ns) best = {realtime - before - apart / 2, error};
  }
  return best;
}

// Returns this node's addresses. Those of networks come first; the loopback's is for processes of the same
// node.
std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses, loopback;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || !(one->ifa_flags & IFF_UP)) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* raw = nullptr;
    if (one->ifa_addr->sa_family == AF_INET)
      raw = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    else if (one->ifa_addr->sa_family == AF_INET6)
      raw = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    const bool is_link_local =
        one->ifa_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(static_cast<const in6_addr*>(raw));
    if (!raw || is_link_local || !inet_ntop(one->ifa_addr->sa_family, raw, text.data(), text.size()))
      continue;
    (one->ifa_flags & IFF_LOOPBACK ? loopback : addresses).emplace_back(text.data());
  }
  freeifaddrs(all);
  addresses.insert(addresses.end(), loopback.begin(), loopback.end());
  addresses.resize(std::min(addresses.size(), kMaxAddresses));
  return addresses;
}

// Returns a socket for both protocols, with IPv4 addresses mapped to IPv6, or -1.
int open_socket() {
  const int socket = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int both = 0;
  setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kAnswerTimeout, sizeof kAnswerTimeout);
  return socket;
}

std::optional<sockaddr_in6> parse_address(const std::string& text, uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  const std::string mapped = text.find(':') == std::string::npos ? "::ffff:" + text : text;
  if (inet_pton(AF_INET6, mapped.c_str(), &address.sin6_addr) != 1) return std::nullopt;
  return address;
}

std::optional<ClockDifference> ask(int socket, uint64_t token, uint64_t question) {
  Message message{token, question, 0, 0};
  const auto [to_realtime, own_error] = prof::to_realtime();
  const int64_t asked = monotonic_ns() + to_realtime;
  if (send(socket, &message, sizeof message, 0) != sizeof message) return std::nullopt;
  do {  // a late answer to an earlier question is skipped
    if (monotonic_ns() + to_realtime - asked > kMaxWaitNs ||
        recv(socket, &message, sizeof message, 0) != sizeof message)
      return std::nullopt;
  } while (message.token != token || message.question != question);
  const int64_t answered = monotonic_ns() + to_realtime;
  const int64_t way = (answered - asked) - (message.sent_ns - message.received_ns);
  // The other node's reading of its clocks has about the same error as ours.
  return ClockDifference{((message.received_ns - asked) + (message.sent_ns - answered)) / 2,
                         way / 2 + 2 * own_error, answered, answered - to_realtime, ""};
}

class Socket {
 public:
  Socket() : socket_(open_socket()) {}
  ~Socket() {
    if (socket_ >= 0) close(socket_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return socket_; }

 private:
  int socket_;
};

}  // namespace

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

ClockServer::ClockServer() : socket_(open_socket()), end_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  socklen_t size = sizeof any;
  if (socket_ < 0 || end_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size) != 0)
    return;
  std::random_device random;
  address_ = {host_name(), own_addresses(), ntohs(any.sin6_port), uint64_t{random()} << 32 | random()};
  // The thread blocks the program's signals, which are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);  // raised by accesses to truncated files (cut_files.h)
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { answer(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ClockServer::~ClockServer() {
  if (thread_.joinable()) {
    eventfd_write(end_, 1);
    thread_.join();
  }
  if (socket_ >= 0) close(socket_);
  if (end_ >= 0) close(end_);
}

void ClockServer::answer() const {
  const int64_t to_realtime = prof::to_realtime().ns;
  std::array<pollfd, 2> either = {pollfd{end_, POLLIN, 0}, pollfd{socket_, POLLIN, 0}};
  while (true) {
    if (poll(either.data(), either.size(), -1) < 0) continue;
    if (either[0].revents) return;
    Message message;
    sockaddr_in6 from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        recvfrom(socket_, &message, sizeof message, 0, reinterpret_cast<sockaddr*>(&from), &size);
    message.received_ns = monotonic_ns() + to_realtime;
    if (got != sizeof message || message.token != address_.token) continue;
    message.sent_ns = monotonic_ns() + to_realtime;
    sendto(socket_, &message, sizeof message, 0, reinterpret_cast<const sockaddr*>(&from), size);
  }
}

std::optional<ClockDifference> clock_difference(const ClockAddress& other) {
  if (other.port == 0) return std::nullopt;
  uint64_t question = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < std::min(other.addresses.size(), kMaxAddresses); ++i) {
      const std::optional<sockaddr_in6> address = parse_address(other.addresses[i], other.port);
      const Socket socket;
      if (!address || socket.get() < 0 ||
          connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
        continue;
      std::optional<ClockDifference> best = ask(socket.get(), other.token, question++);
      if (!best) continue;
      int unanswered = 0;
      for (int more = 1; more < kQuestions && unanswered < kMaxUnanswered; ++more) {
        const std::optional<ClockDifference> again = ask(socket.get(), other.token, question++);
        if (!again)
          ++unanswered;
        else if (again->error_ns < best->error_ns)
          best = again;
      }
      best->address = other.addresses[i];
      return best;
    }
  }
  return std::nullopt;
}

}  // namespace prof
