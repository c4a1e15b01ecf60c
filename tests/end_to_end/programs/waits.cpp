// waits CASE: makes calls that wait, or that read and write much, and prints what came of each: how often
// which result, and how often it came too early. A profiler must not change a word of it.

#include <aio.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "spin.h"

namespace {

constexpr int kTurns = 10;
constexpr long kTimeoutNs = 5'000'000;
constexpr size_t kLarge = 1 << 20;

timespec in_ns(long ns) {
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

timespec from_now(clockid_t clock, long ns) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += ns;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

const timespec kTimeout = in_ns(kTimeoutNs);

// Calls in turns; a result of -1 is shown with its errno.
void show(const char* name, const std::function<long()>& call, long least_ns = 0, int turns = kTurns) {
  std::map<std::string, int> results;
  int early = 0;
  for (int i = 0; i < turns; ++i) {
    const double start = clock_seconds(CLOCK_MONOTONIC);
    const long result = call();
    const int error = errno;
    if ((clock_seconds(CLOCK_MONOTONIC) - start) * 1e9 < static_cast<double>(least_ns) - 1000) ++early;
    ++results[result == -1 ? strerrorname_np(error) : std::to_string(result)];
  }
  std::printf("%s:", name);
  for (const auto& [result, times] : results) std::printf(" %d x %s", times, result.c_str());
  std::printf(", early %d\n", early);
}

void timeout(const char* name, const std::function<long()>& call) {
  show(name, call, kTimeoutNs);
}

struct Pipe {
  int ends[2];
  Pipe() { (void)!pipe(ends); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

struct Sockets {
  int ends[2];
  Sockets() {
    (void)socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    const timeval limit{0, kTimeoutNs / 1000};
    for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Sockets() {
    close(ends[0]);
    close(ends[1]);
  }
};

// Takes so much from a descriptor, in small pieces with pauses: who writes has to wait often.
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

// The program's own signal, from another thread, as soon as this one sleeps in the kernel.
std::atomic<int> handled{0};

void on_own(int) {
  ++handled;
}

void handle(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = on_own;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

char state_of(int tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE* file = std::fopen(path, "r");
  char state = '?';
  if (!file) return state;
  (void)!std::fscanf(file, "%*d (%*[^)]) %c", &state);
  std::fclose(file);
  return state;
}

long signalled(int signal, const std::function<long()>& call) {
  const pthread_t self = pthread_self();
  const auto tid = static_cast<int>(syscall(SYS_gettid));
  std::atomic<bool> waits{false};
  std::thread other([&] {
    while (!waits || state_of(tid) != 'S') sched_yield();
    pthread_kill(self, signal);
  });
  waits = true;
  const long result = call();
  const int error = errno;
  other.join();
  errno = error;
  return result;
}

constexpr timespec kLong{20, 0};

void interruptions(int signal) {
  handled = 0;
  handle(signal, 0);
  const auto interrupted = [&](const char* name, const std::function<long()>& call) {
    show(name, [&] { return signalled(signal, call); });
  };
  interrupted("nanosleep", [] {
    timespec left{};
    const long result = nanosleep(&kLong, &left);
    return left.tv_sec >= 18 ? result : 99;
  });
  interrupted("clock_nanosleep", [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, nullptr); });
  interrupted("poll", [] { return poll(nullptr, 0, 20'000); });
  interrupted("select", [] {
    timeval time{20, 0};
    const long result = select(0, nullptr, nullptr, nullptr, &time);
    return time.tv_sec >= 18 ? result : 99;
  });
  sigset_t none;
  sigemptyset(&none);
  interrupted("ppoll with a mask", [&] { return ppoll(nullptr, 0, &kLong, &none); });
  interrupted("sigsuspend", [&] { return sigsuspend(&none); });
  interrupted("pause", [] { return pause(); });
  sigset_t others;
  sigemptyset(&others);
  sigaddset(&others, SIGUSR2);
  interrupted("sigtimedwait", [&] { return sigtimedwait(&others, nullptr, &kLong); });
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  interrupted("sem_timedwait", [&] {
    const timespec end = from_now(CLOCK_REALTIME, 20'000'000'000);
    return sem_timedwait(&semaphore, &end);
  });
  Sockets pair;
  const timeval longer{20, 0};
  setsockopt(pair.ends[0], SOL_SOCKET, SO_RCVTIMEO, &longer, sizeof longer);
  char byte;
  interrupted("recv", [&] { return recv(pair.ends[0], &byte, 1, 0); });
  Pipe pipe;
  interrupted("read", [&] { return read(pipe.ends[0], &byte, 1); });
  const std::vector<char> large(kLarge, 'x');
  show("write", [&] {
    const Pipe full;
    return signalled(signal, [&] { return write(full.ends[1], large.data(), kLarge); });
  });
  int word = 0;
  interrupted("futex", [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kLong, nullptr, 0); });
  std::printf("handled %d\n", handled.load());
}

void restarts() {
  handle(SIGUSR1, SA_RESTART);
  Pipe pipe;
  char byte;
  show(
      "read",
      [&] {
        const int before = handled;
        return signalled(SIGUSR1, [&] {
          std::thread writer([&] {
            while (handled == before) usleep(100);
            (void)!write(pipe.ends[1], "x", 1);
          });
          const long result = read(pipe.ends[0], &byte, 1);
          writer.join();
          return result;
        });
      },
      0, 1);
  std::printf("handled %d\n", handled.load());
}

// The handlers of a program that comes to use the signals that nobody uses.
void takes_signals() {
  for (const int signal : {SIGRTMAX - 1, SIGRTMAX - 2, SIGRTMAX - 3}) {
    std::printf("signal %d\n", signal);
    interruptions(signal);
  }
}

void takes_all_signals() {
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) handle(signal, 0);
  handled = 0;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (signalled(signal, [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, nullptr); }) != EINTR)
      std::printf("not interrupted by %d\n", signal);
  std::printf("handled %d\n", handled.load());
}

void waits_for_signals() {
  for (const int signal : {SIGRTMAX - 1, SIGRTMAX - 2}) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    show("sigwait", [&] {
      int found = 0;
      return signalled(signal, [&] { return sigwait(&set, &found); }) + found;
    });
  }
}

double wall() {
  return clock_seconds(CLOCK_MONOTONIC);
}

[[gnu::noinline]] long block_in_poll() {
  const long result = poll(nullptr, 0, -1);
  asm volatile("");
  return result;
}

[[gnu::noinline]] void spin_after_jump() {
  const double start = wall();
  spin(0.3);
  std::fprintf(stderr, "spin_after_jump_wall %.3f\n", wall() - start);
}

jmp_buf plain_jump;
sigjmp_buf mask_jump;
bool with_mask = false;

void jump_out(int) {
  if (with_mask)
    siglongjmp(mask_jump, 1);
  else
    _longjmp(plain_jump, 1);
}

void jumps() {
  struct sigaction action {};
  action.sa_handler = jump_out;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 2; ++i) {
    with_mask = i;
    const auto self = pthread_self();
    const auto tid = static_cast<int>(syscall(SYS_gettid));
    std::thread other([=] {
      while (state_of(tid) != 'S') sched_yield();
      pthread_kill(self, SIGUSR1);
    });
    const int jumped = with_mask ? sigsetjmp(mask_jump, 1) : _setjmp(plain_jump);
    if (!jumped) block_in_poll();
    std::printf("jumped %d\n", jumped);
    other.join();
    spin_after_jump();
  }
}

std::atomic<double> blocked_since{0};
std::atomic<int> cleaned{0};

void* block(void*) {
  pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
  blocked_since = wall();
  block_in_poll();
  pthread_cleanup_pop(0);
  return nullptr;
}

// Ends while a thread has been waiting for a while.
void ends(const std::string& how, char** argv) {
  pthread_t thread;
  pthread_create(&thread, nullptr, block, nullptr);
  while (blocked_since == 0) usleep(100);
  usleep(500'000);
  if (how == "cancel") {
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    std::printf("cancelled %d, cleaned %d\n", result == PTHREAD_CANCELED, cleaned.load());
  }
  std::fprintf(stderr, "blocked %.3f\n", wall() - blocked_since);
  if (how == "_exit") _exit(3);
  if (how == "kill") raise(SIGKILL);
  if (how == "term") raise(SIGTERM);
  if (how == "exec") execl(argv[0], argv[0], "nothing", nullptr);
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
  } else if (what == "interruptions") {
    interruptions(SIGUSR1);
    restarts();
  } else if (what == "takes_signals") {
    takes_signals();
  } else if (what == "takes_all_signals") {
    takes_all_signals();
  } else if (what == "waits_for_signals") {
    waits_for_signals();
  } else if (what == "jumps") {
    jumps();
  } else if (what == "ends") {
    ends(argv[2], argv);
  }
}
