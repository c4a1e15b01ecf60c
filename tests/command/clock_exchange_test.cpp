// Clocks are compared by exchanging messages, and one rank of a node stores the result.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "analysis/pipeline/common_time.h"
#include "analysis/pipeline/node_clocks.h"
#include "prof/ranks/clock_exchange.h"
#include "prof/ranks/node_clock.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "prof-clock.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

fs::path own_record(const Folder& folder) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return folder.path / ("clock-" + std::string(host.data()) + ".json");
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A network between a server and a client. It loses the questions with these numbers, and changes the
// server's clock.
class LossyNetwork {
 public:
  LossyNetwork(const ClockServer& server, std::array<bool, 20> lost)
      : lost_(lost), inside_(socket(AF_INET, SOCK_DGRAM, 0)), outside_(socket(AF_INET, SOCK_DGRAM, 0)) {
    const sockaddr_in to = loopback(server.address().port), any = loopback(0);
    REQUIRE(bind(outside_, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0);
    REQUIRE(connect(inside_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    const timeval patience{.tv_sec = 0, .tv_usec = 50'000};
    for (const int end : {inside_, outside_})
      setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    getsockname(outside_, reinterpret_cast<sockaddr*>(&own), &size);
    address_ = server.address();
    address_.addresses = {"127.0.0.1"};
    address_.port = ntohs(own.sin_port);
    thread_ = std::thread([this] { pass(); });
  }
  ~LossyNetwork() {
    ends_ = true;
    thread_.join();
    close(inside_);
    close(outside_);
  }
  LossyNetwork(const LossyNetwork&) = delete;
  LossyNetwork& operator=(const LossyNetwork&) = delete;
  const ClockAddress& address() const { return address_; }
  size_t asked() const { return asked_; }
  void put_clock_forward(int64_t ns) { forward_ns_ = ns; }
  void lose_all() { loses_all_ = true; }

 private:
  void pass() {
    while (!ends_) {
      std::array<char, 256> packet{};
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          recvfrom(outside_, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got <= 0) continue;
      const size_t number = asked_++;
      if (loses_all_ || (number < lost_.size() && lost_[number])) continue;
      if (send(inside_, packet.data(), static_cast<size_t>(got), 0) != got) continue;
      const ssize_t answer = recv(inside_, packet.data(), packet.size(), 0);
      for (const size_t time :
           {16, 24}) {  // a token, the question's number, and when it came and was answered
        int64_t ns = 0;
        memcpy(&ns, packet.data() + time, sizeof ns);
        ns += forward_ns_;
        memcpy(packet.data() + time, &ns, sizeof ns);
      }
      if (answer > 0)
        sendto(outside_, packet.data(), static_cast<size_t>(answer), 0,
               reinterpret_cast<const sockaddr*>(&from), size);
    }
  }

  std::array<bool, 20> lost_;
  int inside_, outside_;
  ClockAddress address_;
  std::atomic<size_t> asked_ = 0;
  std::atomic<int64_t> forward_ns_ = 0;
  std::atomic<bool> loses_all_ = false, ends_ = false;
  std::thread thread_;
};

nlohmann::json read(const fs::path& file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in);
}

}  // namespace

TEST_CASE("a clock does not differ from itself by more than the error that is reported") {
  const ClockServer server;
  REQUIRE(server.address().port != 0);
  REQUIRE_FALSE(server.address().addresses.empty());
  const auto difference = clock_difference(server.address());
  REQUIRE(difference);
  CHECK(std::abs(difference->offset_ns) <= difference->error_ns + 1);  // halves are truncated
  CHECK(difference->error_ns < 1'000'000'000);
}

TEST_CASE("nobody answers who does not know the token, nor where there is nobody") {
  ClockAddress address;
  {
    const ClockServer server;
    address = server.address();
    address.token ^= 1;
    CHECK_FALSE(clock_difference(address));
    address.token ^= 1;
  }
  CHECK_FALSE(clock_difference(address));
  address.addresses = {"no address"};
  CHECK_FALSE(clock_difference(address));
  CHECK_FALSE(clock_difference(ClockAddress{}));
}

TEST_CASE("a network that loses packets does not keep clocks from being compared") {
  const ClockServer server;
  for (const std::array<bool, 20>& lost :
       {std::array<bool, 20>{true, true}, std::array<bool, 20>{false, true, false, false, true}}) {
    const LossyNetwork network(server, lost);
    const auto difference = clock_difference(network.address());
    REQUIRE(difference);
    CHECK(std::abs(difference->offset_ns) <= difference->error_ns + 1);
    CHECK(network.asked() >= 16);
  }
  std::array<bool, 20> all{};
  all.fill(true);
  const LossyNetwork nothing_passes(server, all);
  CHECK_FALSE(clock_difference(nothing_passes.address()));
  CHECK(nothing_passes.asked() == 3);
}

TEST_CASE("one rank of each other node compares clocks, at the begin and at the end") {
  const ClockServer server;
  const Folder folder;
  ClockAddress first = server.address();
  const NodeClock same_node(folder.path, first);
  CHECK_FALSE(fs::exists(own_record(folder)));

  first.host = "first";
  const NodeClock node(folder.path, first);
  const nlohmann::json begin = read(own_record(folder));
  CHECK(begin["reference"] == "first");
  CHECK(begin["begin"]["offset_ns"].is_number_integer());
  CHECK_FALSE(begin.contains("end"));
  const NodeClock other_rank(folder.path, first);
  other_rank.compare_again();
  CHECK(read(own_record(folder)) == begin);
  node.compare_again();
  CHECK(read(own_record(folder))["end"]["error_ns"].is_number_integer());
}

TEST_CASE("what a clock drifts by between both ends of a run is known to the analysis") {
  constexpr int64_t kDrift = 20'000'000;
  const ClockServer server;
  const Folder folder;
  LossyNetwork network(server, {});
  ClockAddress first = network.address();
  first.host = "first";
  const NodeClock node(folder.path, first);
  const nlohmann::json begin = read(own_record(folder))["begin"];
  usleep(300'000);  // a clock that loses more than a tenth is considered broken
  network.put_clock_forward(kDrift);
  node.compare_again();
  const nlohmann::json end = read(own_record(folder))["end"];
  const int64_t error = begin["error_ns"].get<int64_t>() + end["error_ns"].get<int64_t>();
  const int64_t lost = end["offset_ns"].get<int64_t>() - begin["offset_ns"].get<int64_t>();
  CHECK(std::abs(lost - kDrift) <= error + 2);

  MeasuredProcess process;
  process.host = host_name();
  process.start_monotonic_ns = begin["monotonic_ns"].get<uint64_t>();
  process.start_realtime_ns = begin["realtime_ns"].get<uint64_t>();
  NodeClocks({folder.path}).correct(process);
  const CommonTime common_time(process);
  const uint64_t length = end["monotonic_ns"].get<uint64_t>() - process.start_monotonic_ns;
  const uint64_t lasted =
      common_time(process.start_monotonic_ns + length) - common_time(process.start_monotonic_ns);
  CHECK(std::abs(static_cast<int64_t>(lasted - length) - kDrift) <= error + 2);
}

TEST_CASE("where the first rank's node does not answer at the end, what was found at the begin stays") {
  const ClockServer server;
  const Folder folder;
  LossyNetwork network(server, {});
  ClockAddress first = network.address();
  first.host = "first";
  first.addresses.emplace_back("127.0.0.2");
  const NodeClock node(folder.path, first);
  const nlohmann::json begin = read(own_record(folder));
  const size_t asked = network.asked();
  network.lose_all();
  node.compare_again();
  CHECK(network.asked() <= asked + 3);
  CHECK(read(own_record(folder)) == begin);
}

TEST_CASE("a node whose clock nobody answers leaves nothing") {
  const Folder folder;
  ClockAddress first;
  {
    const ClockServer server;
    first = server.address();
  }
  first.host = "first";
  const NodeClock node(folder.path, first);
  CHECK(fs::is_empty(folder.path));
  node.compare_again();
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("whoever sends datagrams without end does not make a comparison of clocks wait") {
  const int flooder = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  REQUIRE(bind(flooder, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
  REQUIRE(getsockname(flooder, reinterpret_cast<sockaddr*>(&own), &size) == 0);
  const timeval patience = {.tv_sec = 0, .tv_usec = 10'000};
  setsockopt(flooder, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::atomic<bool> ended = false;
  std::thread sender([&] {
    sockaddr_in asker{};
    std::array<char, 32> wrong{};  // as large as an answer
    while (!ended) {
      std::array<char, 64> question{};
      sockaddr_in from{};
      socklen_t bytes = sizeof from;
      const int flags = asker.sin_port == 0 ? 0 : MSG_DONTWAIT;
      if (recvfrom(flooder, question.data(), question.size(), flags, reinterpret_cast<sockaddr*>(&from),
                   &bytes) > 0)
        asker = from;
      if (asker.sin_port != 0)
        sendto(flooder, wrong.data(), wrong.size(), 0, reinterpret_cast<const sockaddr*>(&asker),
               sizeof asker);
    }
  });
  CHECK(!clock_difference({"here", {"127.0.0.1"}, ntohs(own.sin_port), 4711}));
  ended = true;
  sender.join();
  close(flooder);
}
