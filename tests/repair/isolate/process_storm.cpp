// Forks, executes and limits itself in all the ways that programs have, and prints the results. Parent and
// child each write what the other must not see.

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kRight = 7;

int global = 1;
int* heap;
char* piece;

bool is_as_before() {
  return global == 1 && *heap == 1 && piece[0] == 1 && piece[4096] == 0;
}

// Returns the child's status.
int write_and_look() {
  if (!is_as_before()) return 1;
  global = *heap = 2;
  piece[0] = 2;
  madvise(piece, 4096, MADV_DONTNEED);
  std::vector<char> more(3 << 20, 'x');
  std::thread other([&] { more[1 << 20] = 'y'; });  // threads of the child
  other.join();
  sched_yield();
  return global == 2 && *heap == 2 && piece[0] == 0 && more[1 << 20] == 'y' ? kRight : 2;
}

void report(const char* how, pid_t child) {
  const int before = global;
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  printf("%s: %d %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -1, before == 1 && is_as_before());
  fflush(stdout);
}

template <typename Fork>
void forked(const char* how, Fork fork_so) {
  const pid_t child = fork_so();
  if (child == 0) _exit(write_and_look());
  report(how, child);
}

std::atomic<int> handled{0};

void forks() {
  pthread_atfork([] { handled += global; }, [] { handled += *heap; }, [] { handled += 10 * piece[0]; });
  forked("fork", fork);
  forked("_Fork", [] { return _Fork(); });
  forked("system call fork", [] { return static_cast<pid_t>(syscall(SYS_fork)); });
  forked("system call clone", [] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); });
  forked("system call clone3", [] {
    clone_args how{};
    how.exit_signal = SIGCHLD;
    return static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof how));
  });
  char* const stack = static_cast<char*>(malloc(1 << 18));
  const auto in_clone = [](void* given) -> int { _exit(given == &global ? write_and_look() : 3); };
  report("clone", clone(in_clone, stack + (1 << 18), SIGCHLD, &global));
  int terminal = -1;
  forked("forkpty", [&] { return forkpty(&terminal, nullptr, nullptr, nullptr); });
  close(terminal);
  printf("handlers %d\n", handled.load());
}

// Writes what it found to a file, because no process waits for it.
void daemons() {
  int ends[2];
  if (pipe(ends)) abort();
  const pid_t child = fork();
  if (child == 0) {
    if (daemon(1, 1)) _exit(1);
    const char found = static_cast<char>('0' + write_and_look());
    _exit(write(ends[1], &found, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  char found = 0;
  const bool has_said = read(ends[0], &found, 1) == 1;
  close(ends[0]);
  printf("daemon %d %c\n", has_said, found);
  report("its parent", child);
}

void executions() {
  const char* const echo[] = {"/bin/echo", "spawned", nullptr};
  pid_t child = 0;
  posix_spawn(&child, echo[0], nullptr, nullptr, const_cast<char**>(echo), environ);
  report("posix_spawn", child);
  printf("system %d\n", system("echo by the shell | cat; exit 3") >> 8);
  FILE* const pipe = popen("cat /proc/self/comm; exit 4", "r");
  char line[100] = "";
  const bool has_line = fgets(line, sizeof line, pipe);
  printf("popen %d %s", has_line, line);
  printf("%d\n", pclose(pipe) >> 8);
  child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
    _exit(1);
  }
  report("vfork", child);
}

int of_c_thread(void* number) {
  return *static_cast<int*>(number) + 1;
}

void* until_cancelled(void* at) {
  *static_cast<std::atomic<bool>*>(at) = true;
  for (;;) pause();
}

void threads() {
  // On a stack that the program allocated.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  void* const stack = aligned_alloc(4096, 1 << 18);
  pthread_attr_setstack(&attributes, stack, 1 << 18);
  pthread_t thread;
  void* result = nullptr;
  pthread_create(
      &thread, &attributes,
      [](void* at) -> void* { return reinterpret_cast<char*>(&at) > at ? at : nullptr; }, stack);
  pthread_join(thread, &result);
  pthread_attr_destroy(&attributes);
  printf("own stack %d\n", result == stack);

  // C11 threads.
  thrd_t of_c;
  int number = -42, returned = 0;
  printf("C thread %d", thrd_create(&of_c, of_c_thread, &number) == thrd_success);
  printf(" %d", thrd_join(of_c, &returned) == thrd_success);
  printf(" %d\n", returned);

  std::atomic<bool> is_there{false};
  pthread_create(&thread, nullptr, until_cancelled, &is_there);
  while (!is_there) sched_yield();
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);

  // Joined in the other ways.
  pthread_create(
      &thread, nullptr, [](void* at) { return at; }, &number);
  while (pthread_tryjoin_np(thread, &result) == EBUSY) sched_yield();
  printf("tried %d\n", result == &number);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  pthread_create(
      &thread, nullptr, [](void* at) { return at; }, &result);
  pthread_timedjoin_np(thread, &result, &until);
  printf("timed %d\n", result == &result);
}

size_t address_space_bytes() {
  FILE* const file = fopen("/proc/self/statm", "r");
  size_t pages = 0;
  const bool is_read = fscanf(file, "%zu", &pages) == 1;
  fclose(file);
  return is_read ? pages * 4096 : 0;
}

// A thread that joins another one sleeps while that one forks, which changes the kind of memory.
void joins_while_forking() {
  std::thread forking([] {
    usleep(50'000);
    const pid_t child = fork();
    if (child == 0) _exit(write_and_look());
    report("fork while joined", child);
    usleep(50'000);
  });
  forking.join();
}

// Threads that have ended leave nothing but what is kept for the next ones.
void short_threads() {
  const auto turn = [] {
    for (int i = 0; i < 500; ++i) {
      std::thread joined([] { ++handled; }), detached([] { ++handled; });
      detached.detach();
      joined.join();
    }
  };
  turn();
  const size_t before = address_space_bytes();
  turn();
  printf("stacks stay %d\n", address_space_bytes() < before + (256u << 20));
}

// Runs last: the reservation counts towards the address space.
void limits() {
  const rlimit limit{2u << 30, 2u << 30};
  printf("limit %d\n", setrlimit(RLIMIT_AS, &limit));
  std::vector<char> much(100 << 20, 'x');
  printf("within %c\n", much[99 << 20]);
  void* const too_much =
      mmap(nullptr, size_t{3} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("beyond %d\n", too_much == MAP_FAILED);
  forked("fork within limits", fork);
  executions();
}

}  // namespace

int main() {
  heap = new int(1);
  piece =
      static_cast<char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  piece[0] = 1;
  forks();
  daemons();
  executions();
  threads();
  // With another thread that runs all the time.
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!is_over) sched_yield();
  });
  forks();
  daemons();
  executions();
  is_over = true;
  busy.join();
  threads();
  short_threads();
  joins_while_forking();
  forks();
  threads();
  limits();
}
