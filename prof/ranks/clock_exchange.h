#pragma once
// Measures how far the clocks of two nodes are apart, as NTP does (RFC 5905, section 8). One node asks the
// other for its time several times, and uses the answer with the shortest round trip. prof's processes
// communicate by UDP. Without a network between them the difference is not known.

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace prof {

// Returns the name of this node.
std::string host_name();

struct ClockAddress {
  std::string host;
  std::vector<std::string> addresses;  // of its networks, IPv4 or IPv6
  uint16_t port = 0;                   // 0: it does not answer
  uint64_t token = 0;                  // which other programs do not know
};

// Answers from a thread of its own as long as it lives. The thread blocks all signals, and uses no time
// without requests. Its time advances with CLOCK_MONOTONIC, as the times of this node's processes do.
class ClockServer {
 public:
  // Does not answer if no socket can be opened.
  ClockServer();
  ~ClockServer();
  ClockServer(const ClockServer&) = delete;
  ClockServer& operator=(const ClockServer&) = delete;

  const ClockAddress& address() const { return address_; }

 private:
  void answer() const;

  ClockAddress address_;
  int socket_ = -1;
  int end_ = -1;  // becomes readable when the thread is to end
  std::thread thread_;
};

struct ClockDifference {
  int64_t offset_ns = 0;  // to be added to this node's CLOCK_REALTIME to get the other node's
  int64_t error_ns = 0;   // at most, in either direction
  int64_t realtime_ns = 0, monotonic_ns = 0;  // when it was measured, by this node's clocks
  std::string address;                        // the one that answered
};

// Measures the difference. Takes some milliseconds; if there is no answer, 0.3 s for each address, at most
// four addresses. Lost packets are sent again.
std::optional<ClockDifference> clock_difference(const ClockAddress& other);

}  // namespace prof
