// waits timeouts|transfers: calls that wait until their timeout, and calls that read and write much.

#include <aio.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "waiting.h"

namespace {

// Reads that many bytes from a descriptor, in small pieces with pauses: the writer has to wait often.
void drain(int from, size_t bytes) {
  std::vector<char> some(32 * 1024);
  while (bytes > 0) {
    const ssize_t got = recv(from, some.data(), std::min(bytes, some.size()), 0);
    const ssize_t taken =
        got >= 0 || errno != ENOTSOCK ? got : read(from, some.data(), std::min(bytes, some.size()));
    if (taken < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (taken <= 0) return;
    bytes -= static_cast<size_t>(taken);
    usleep(200);
  }
}

void feed(int to, size_t bytes) {
  const std::vector<char> some(16 * 1024, 'x');
  while (bytes > 0) {
    const ssize_t put = write(to, some.data(), std::min(bytes, some.size()));
    if (put <= 0) return;
    bytes -= static_cast<size_t>(put);
    usleep(200);
  }
}

long while_draining(int from, size_t bytes, const std::function<long()>& call) {
  std::thread other(drain, from, bytes);
  const long result = call();
  const int error = errno;
  other.join();
  errno = error;
  return result;
}

int listening_socket() {
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{AF_UNIX, {}};  // the kernel chooses one
  bind(listening, reinterpret_cast<sockaddr*>(&name), sizeof(sa_family_t));
  listen(listening, 1);
  const timeval limit{0, kTimeoutNs / 1000};
  setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return listening;
}

void sleeps() {
  timeout("nanosleep", [] { return nanosleep(&kTimeout, nullptr); });
  timeout("clock_nanosleep", [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kTimeout, nullptr); });
  timeout("clock_nanosleep until", [] {
    const timespec end = from_now(CLOCK_MONOTONIC, kTimeoutNs);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr);
  });
  timeout("usleep", [] { return usleep(kTimeoutNs / 1000); });
  timeout("thrd_sleep", [] { return thrd_sleep(&kTimeout, nullptr); });
  show(
      "sleep", [] { return static_cast<long>(sleep(1)); }, 999'000'000, 1);
}

void readiness() {
  sigset_t none;
  sigemptyset(&none);
  const Pipe idle;
  pollfd reads{idle.ends[0], POLLIN, 0};
  const int epoll = epoll_create1(0);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, idle.ends[0], &event);
  const int milliseconds = kTimeoutNs / 1'000'000;
  timeout("poll", [&] { return poll(&reads, 1, milliseconds); });
  timeout("ppoll", [&] { return ppoll(&reads, 1, &kTimeout, nullptr); });
  timeout("ppoll with a mask", [&] { return ppoll(&reads, 1, &kTimeout, &none); });
  timeout("select", [] {
    timeval time{0, kTimeoutNs / 1000};
    const long result = select(0, nullptr, nullptr, nullptr, &time);
    return result + time.tv_sec + time.tv_usec;
  });
  timeout("pselect", [] { return pselect(0, nullptr, nullptr, nullptr, &kTimeout, nullptr); });
  timeout("pselect with a mask", [&] { return pselect(0, nullptr, nullptr, nullptr, &kTimeout, &none); });
  timeout("epoll_wait", [&] { return epoll_wait(epoll, &event, 1, milliseconds); });
  timeout("epoll_pwait", [&] { return epoll_pwait(epoll, &event, 1, milliseconds, nullptr); });
  timeout("epoll_pwait with a mask", [&] { return epoll_pwait(epoll, &event, 1, milliseconds, &none); });
  timeout("epoll_pwait2", [&] { return epoll_pwait2(epoll, &event, 1, &kTimeout, &none); });
  close(epoll);
}

void semaphores_and_signals() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timeout("sem_timedwait", [&] {
    const timespec end = from_now(CLOCK_REALTIME, kTimeoutNs + 1'000'000);
    return sem_timedwait(&semaphore, &end);
  });
  timeout("sem_clockwait", [&] {
    const timespec end = from_now(CLOCK_MONOTONIC, kTimeoutNs);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end);
  });
  const int set = semget(IPC_PRIVATE, 1, 0600);
  sembuf take{0, -1, 0};
  timeout("semtimedop", [&] { return semtimedop(set, &take, 1, &kTimeout); });
  semctl(set, 0, IPC_RMID);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  timeout("sigtimedwait", [&] { return sigtimedwait(&signals, nullptr, &kTimeout); });
  sigfillset(&signals);
  timeout("sigtimedwait for all", [&] { return sigtimedwait(&signals, nullptr, &kTimeout); });
  int word = 0;
  timeout("futex", [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kTimeout, nullptr, 0); });
  unsigned long context = 0;
  syscall(SYS_io_setup, 1, &context);
  timeout("io_getevents", [&] { return syscall(SYS_io_getevents, context, 1, 1, nullptr, &kTimeout); });
  syscall(SYS_io_destroy, context);
  const Pipe idle;
  char byte;
  aiocb request{};
  request.aio_fildes = idle.ends[0];
  request.aio_buf = &byte;
  request.aio_nbytes = 1;
  aio_read(&request);
  const aiocb* const list[] = {&request};
  timeout("aio_suspend", [&] { return aio_suspend(list, 1, &kTimeout); });
  (void)!write(idle.ends[1], "x", 1);
  while (aio_error(&request) == EINPROGRESS) usleep(100);
  aio_return(&request);
}

void sockets() {
  const Sockets pair;
  char byte;
  timeout("recv", [&] { return recv(pair.ends[0], &byte, 1, 0); });
  timeout("recvfrom", [&] { return recvfrom(pair.ends[0], &byte, 1, 0, nullptr, nullptr); });
  timeout("read of a socket", [&] { return read(pair.ends[0], &byte, 1); });
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  timeout("recvmsg", [&] { return recvmsg(pair.ends[0], &message, 0); });
  const int listening = listening_socket();
  timeout("accept", [&] { return accept(listening, nullptr, nullptr); });
  timeout("accept4", [&] { return accept4(listening, nullptr, nullptr, SOCK_CLOEXEC); });
  close(listening);
  std::vector<char> large(kLarge, 'x');
  show("recv of all", [&] {
    Sockets own;
    const timeval none{};
    setsockopt(own.ends[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    std::thread writer(feed, own.ends[1], kLarge);
    const long result = recv(own.ends[0], large.data(), kLarge, MSG_WAITALL);
    writer.join();
    return result;
  });
  show("send", [&] {
    return while_draining(pair.ends[1], kLarge, [&] { return send(pair.ends[0], large.data(), kLarge, 0); });
  });
  show("write to a socket", [&] {
    return while_draining(pair.ends[1], kLarge, [&] { return write(pair.ends[0], large.data(), kLarge); });
  });
}

void transfers() {
  std::vector<char> large(kLarge, 'x');
  const Pipe pipe;
  show("write to a pipe", [&] {
    return while_draining(pipe.ends[0], kLarge, [&] { return write(pipe.ends[1], large.data(), kLarge); });
  });
  iovec halves[] = {{large.data(), kLarge / 2}, {large.data() + kLarge / 2, kLarge / 2}};
  show("writev to a pipe",
       [&] { return while_draining(pipe.ends[0], kLarge, [&] { return writev(pipe.ends[1], halves, 2); }); });
  const int file = memfd_create("waits", 0);
  show("write to a file", [&] { return pwrite(file, large.data(), kLarge, 0); });
  const Sockets pair;
  show("sendfile", [&] {
    off_t at = 0;
    return while_draining(pair.ends[1], kLarge, [&] { return sendfile(pair.ends[0], file, &at, kLarge); }) +
           at;
  });
  close(file);
  std::vector<char> random(16 << 20);
  show(
      "getrandom", [&] { return getrandom(random.data(), random.size(), 0); }, 0, 4);
  const int device = open("/dev/urandom", O_RDONLY);
  show(
      "read of a device", [&] { return read(device, random.data(), random.size()); }, 0, 4);
  close(device);
  const int queue = msgget(IPC_PRIVATE, 0600);
  struct {
    long type = 1;
    char text[8] = {};
  } message;
  show("msgrcv", [&] {
    std::thread sender([&] {
      usleep(kTimeoutNs / 1000);
      msgsnd(queue, &message, sizeof message.text, 0);
    });
    const long result = msgrcv(queue, &message, sizeof message.text, 0, 0);
    sender.join();
    return result;
  });
  msgctl(queue, IPC_RMID, nullptr);
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "timeouts") {
    sleeps();
    readiness();
    semaphores_and_signals();
  } else if (what == "transfers") {
    sockets();
    transfers();
  }
}
