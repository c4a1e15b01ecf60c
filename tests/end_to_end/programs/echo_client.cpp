// echo_client PORT CONNECTIONS: sends requests to echo_server on all connections and checks each answer,
// until its standard input is closed. Prints the number of answers, how many were lost or wrong, and the
// longest wait in ms.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> stopping{false};
std::atomic<long> answers{0};
std::atomic<long> lost{0};
std::atomic<long> longest_us{0};

unsigned long expected(unsigned long number) {
  for (int i = 0; i < 20'000; ++i) number = number * 6364136223846793005u + 1442695040888963407u;
  return number;
}

void ask(int port, unsigned long first) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ++lost;
    return;
  }
  const timeval limit{10, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  for (unsigned long number = first; !stopping; ++number) {
    const auto start = std::chrono::steady_clock::now();
    const unsigned long request[2] = {number, 0};
    unsigned long answer[2] = {};
    if (send(connection, request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
        recv(connection, answer, sizeof answer, MSG_WAITALL) != sizeof answer || answer[0] != number ||
        answer[1] != expected(number)) {
      ++lost;
      return;
    }
    ++answers;
    const long took =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
            .count();
    for (long seen = longest_us; seen < took && !longest_us.compare_exchange_weak(seen, took);) continue;
  }
  close(connection);
}

}  // namespace

int main(int, char** arguments) {
  std::vector<std::thread> users;
  for (int i = 0; i < std::atoi(arguments[2]); ++i)
    users.emplace_back(ask, std::atoi(arguments[1]), static_cast<unsigned long>(i) << 32);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  stopping = true;
  for (std::thread& user : users) user.join();
  std::printf("answers %ld\nlost %ld\nlongest_ms %.1f\n", answers.load(), lost.load(),
              static_cast<double>(longest_us.load()) / 1000);
  return lost ? 1 : 0;
}
