#pragma once
// How far the clocks of two nodes are apart, as NTP finds it (RFC 5905, section 8): one asks the other for
// its time, and takes the answer that came soonest. prof's processes ask each other by UDP; without a network
// between them nothing is known.

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace prof {

// Of this node.
std::string host_name();

struct ClockAddress {
  std::string host;
  std::vector<std::string> addresses;  // of its networks, IPv4 or IPv6
  uint16_t port = 0;                   // 0: it does not answer
  uint64_t token = 0;                  // which others do not know
};

// Answers from a thread of its own, from which signals are kept, for as long as it lives; nobody asking, it
// takes no time. Its time goes on as CLOCK_MONOTONIC does, as that of this node's processes will.
class ClockServer {
 public:
  // Where no socket can be opened it does not answer.
  ClockServer();
  ~ClockServer();
  ClockServer(const ClockServer&) = delete;
  ClockServer& operator=(const ClockServer&) = delete;

  const ClockAddress& address() const { return address_; }

 private:
  void answer() const;

  ClockAddress address_;
  int socket_ = -1;
  int end_ = -1;  // readable when it is to end
  std::thread thread_;
};

struct ClockDifference {
  int64_t offset_ns = 0;                      // to be added to this node's CLOCK_REALTIME for the other's
  int64_t error_ns = 0;                       // at most, either way
  int64_t realtime_ns = 0, monotonic_ns = 0;  // when it was, by this node's clocks
  std::string address;                        // that answered
};

// Takes some milliseconds; without an answer 0.3 s for each address, of four at most. Packets that are lost
// are sent again.
std::optional<ClockDifference> clock_difference(const ClockAddress& other);

}  // namespace prof
