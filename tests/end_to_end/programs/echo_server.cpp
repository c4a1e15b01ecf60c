// echo_server THREADS: serves clients on loopback. Each of its threads uses an epoll of its own, and answers
// each request of 16 bytes after a little work, while short-lived threads start and end. Prints its port.
// Ends at SIGTERM, and then prints how many requests it served, and how often a wait was interrupted or a
// call failed, which must not happen.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<long> served{0};
std::atomic<long> failures{0};
std::atomic<bool> stopping{false};

[[gnu::noinline]] unsigned long serve(unsigned long number) {
  for (int i = 0; i < 20'000; ++i) number = number * 6364136223846793005u + 1442695040888963407u;
  return number;
}

void answer(int connection) {
  unsigned long request[2];
  const ssize_t got = recv(connection, request, sizeof request, 0);
  if (got == 0) {
    close(connection);
    return;
  }
  if (got != sizeof request) ++failures;
  request[1] = serve(request[0]);
  if (send(connection, request, sizeof request, MSG_NOSIGNAL) != sizeof request) ++failures;
  ++served;
}

void work(int listener) {
  const int events = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLEXCLUSIVE;
  wanted.data.fd = listener;
  epoll_ctl(events, EPOLL_CTL_ADD, listener, &wanted);
  while (!stopping) {
    epoll_event ready{};
    const int count = epoll_wait(events, &ready, 1, 500);
    if (count < 0) ++failures;
    if (count <= 0) continue;
    if (ready.data.fd != listener) {
      answer(ready.data.fd);
      continue;
    }
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno != EAGAIN) ++failures;
      continue;
    }
    wanted.events = EPOLLIN;
    wanted.data.fd = connection;
    epoll_ctl(events, EPOLL_CTL_ADD, connection, &wanted);
  }
  close(events);
}

}  // namespace

int main(int, char** arguments) {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 64) != 0 || getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return 1;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);

  std::vector<std::thread> workers;
  for (int i = 0; i < std::atoi(arguments[1]); ++i) workers.emplace_back(work, listener);
  std::thread churn([] {
    while (!stopping) {
      std::thread([] { serve(1); }).join();
      usleep(1000);
    }
  });
  int signal = 0;
  sigwait(&end, &signal);
  stopping = true;
  for (std::thread& worker : workers) worker.join();
  churn.join();
  std::fprintf(stderr, "served %ld\nfailures %ld\n", served.load(), failures.load());
  return failures ? 1 : 0;
}
