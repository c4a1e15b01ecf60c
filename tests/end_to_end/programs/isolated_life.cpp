// Threads that count in adjacent words, in plain variables of one page, with and without locks, while the
// program does what programs do: isolated_life HOW [MILLISECONDS [COUNTS_BETWEEN_LOCKS]]. Prints the result.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;

// Not on the page of a lock.
struct alignas(4096) {
  volatile uint64_t counted[kThreads];
  volatile uint64_t written_last;
} side_by_side;
volatile uint64_t (&counted)[kThreads] = side_by_side.counted;
// From a library that is loaded later, whose data threads use under the mutex.
void (*add_to_loaded)() = nullptr;
uint64_t (*loaded_sum)() = nullptr;
uint64_t added_to_loaded;

uint64_t under_mutex, under_shared_mutex, under_spin;
volatile sig_atomic_t signals;
volatile int* volatile nowhere = nullptr;

alignas(4096) std::mutex mutex;
std::shared_mutex shared_mutex;
pthread_spinlock_t spin;
std::atomic<bool> is_over{false}, lacks_guard{false}, awaits_library{false};
std::atomic<uint64_t> total{0};
int milliseconds = 400;
int counts_between_locks = 2000;
std::string folder;  // the program's folder

using Clock = std::chrono::steady_clock;

Clock::time_point end() {
  static const Clock::time_point at = Clock::now() + std::chrono::milliseconds(milliseconds);
  return at;
}

// A handler stack as Rust's threads have: room for one handler and little more.
class SmallHandlerStack {
 public:
  SmallHandlerStack() noexcept { sigaltstack(&stack_, nullptr); }
  ~SmallHandlerStack() {
    stack_.ss_flags = SS_DISABLE;
    sigaltstack(&stack_, nullptr);
  }
  SmallHandlerStack(const SmallHandlerStack&) = delete;
  SmallHandlerStack& operator=(const SmallHandlerStack&) = delete;

 private:
  alignas(16) char bytes_[8192];
  stack_t stack_{bytes_, 0, sizeof bytes_};
};

// Uses each kind of lock once, with work in between.
uint64_t count(int number) {
  uint64_t passes = 0;
  const SmallHandlerStack handler_stack;
  // Rust's runtime requires a guard below each stack.
  pthread_attr_t attributes;
  size_t guard_bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getguardsize(&attributes, &guard_bytes);
    pthread_attr_destroy(&attributes);
  }
  if (!guard_bytes) lacks_guard = true;
  for (; !is_over.load(std::memory_order_relaxed); ++passes) {
    for (int i = 0; i < counts_between_locks; ++i) counted[number] = counted[number] + 1;
    {
      const std::lock_guard guard(mutex);
      ++under_mutex;
      if (add_to_loaded) {
        add_to_loaded();
        ++added_to_loaded;
      }
    }
    {
      const std::unique_lock guard(shared_mutex);
      ++under_shared_mutex;
    }
    pthread_spin_lock(&spin);
    ++under_spin;
    pthread_spin_unlock(&spin);
    total.fetch_add(1);
    if (number == 0 && Clock::now() >= end() && !awaits_library) is_over = true;
  }
  return passes;
}

// Runs them, and `meanwhile` in the main thread. Returns false if a count is wrong.
template <typename Meanwhile>
bool run(Meanwhile meanwhile) {
  end();
  uint64_t passes[kThreads] = {};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([number, &passes] { passes[number] = count(number); });
  meanwhile();
  for (std::thread& thread : threads) thread.join();
  uint64_t all = 0;
  bool is_right = true;
  for (int number = 0; number < kThreads; ++number) {
    all += passes[number];
    is_right &= counted[number] == counts_between_locks * passes[number];
  }
  return is_right && !lacks_guard && under_mutex == all && under_shared_mutex == all && under_spin == all &&
         total == all;
}

bool count_alone() {
  return run([] {});
}

// The kernel may write to memory of the program's at any time.
bool count_beside_asynchronous_input() {
  unsigned long context = 0;
  if (syscall(SYS_io_setup, 1, &context) != 0) exit(77);
  const bool is_right = count_alone();
  return syscall(SYS_io_destroy, context) == 0 && is_right;
}

// Data that children and parent write from then on is private to each.
bool fork_twice() {
  int right = 0;
  const bool counts = run([&] {
    for (int turn = 0; turn < 2; ++turn) {
      usleep(100'000);
      volatile uint64_t mine = 1;
      const pid_t child = fork();
      if (child == 0) {
        const uint64_t before = counted[0];
        mine = 2;
        usleep(50'000);
        _exit(counted[0] == before ? 7 : 8);
      }
      int status = 0;
      if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7 && mine == 1)
        ++right;
    }
  });
  return counts && right == 2;
}

// Children that only exit, after threads have counted for most of the time.
bool fork_late() {
  int right = 0;
  constexpr int kChildren = 8;
  const bool counts = run([&] {
    usleep(static_cast<useconds_t>(milliseconds) * 900);
    for (int child_number = 0; child_number < kChildren; ++child_number) {
      const pid_t child = fork();
      if (child == 0) _exit(7);
      int status = 0;
      right += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
  });
  return counts && right == kChildren;
}

// Forks before anything is isolated.
bool fork_once() {
  bool is_right = false;
  const bool counts = run([&] {
    usleep(5'000);
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    is_right = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
  });
  return counts && is_right;
}

// The child then has threads.
bool fork_first() {
  const pid_t child = fork();
  if (child == 0) exit(count_alone() ? 7 : 8);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

bool spawn() {
  bool is_right = true;
  const bool counts = run([&] {
    usleep(100'000);
    is_right &= system("exit 5") == 5 << 8;
    FILE* const pipe = popen("echo spawned", "r");
    char line[16] = {};
    is_right &= pipe && fgets(line, sizeof line, pipe) && !strcmp(line, "spawned\n");
    is_right &= pipe && pclose(pipe) == 0;
  });
  return counts && is_right;
}

bool take_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { signals = signals + 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  int sent = 0;
  const pid_t process = getpid();
  bool knows_itself = true;
  const bool counts = run([&] {
    while (!is_over) {
      for (int i = 0; i < 20; ++i) knows_itself &= getpid() == process && gettid() == process;
      const int before = signals;
      kill(getpid(), SIGUSR1);
      ++sent;
      while (signals == before) usleep(500);
    }
  });
  return counts && knows_itself && signals == sent;
}

bool map_and_load() {
  bool is_right = true;
  const bool counts = run([&] {
    while (!is_over) {
      constexpr size_t kBytes = 1 << 20;
      auto* const at = static_cast<char*>(
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      for (size_t i = 0; i < kBytes; i += 4096) at[i] = static_cast<char>(i >> 12);
      madvise(at, kBytes, MADV_DONTNEED);
      for (size_t i = 0; i < kBytes; i += 4096) is_right &= at[i] == 0;
      munmap(at, kBytes);
      void* const library = dlopen("libm.so.6", RTLD_NOW);
      is_right &= library && dlsym(library, "cos");
      dlclose(library);
      std::thread([&] { is_right &= dlsym(RTLD_DEFAULT, "malloc") != nullptr; }).join();
      usleep(5'000);
    }
  });
  return counts && is_right;
}

// The break moves up and down while threads write to the added memory, and one of them moves it as well.
std::atomic<uint64_t*> added;  // under the mutex
uint64_t written_to_added, moved_by_thread;

void add_to_added() {
  if (uint64_t* const words = added) {
    ++words[0];
    ++words[8192];
    ++written_to_added;
  }
  constexpr intptr_t kBytes = 8192;
  if (under_mutex % 50 || gettid() == getpid()) return;
  auto* const top = static_cast<char*>(sbrk(kBytes));
  if (top == reinterpret_cast<char*>(-1)) return;
  bool is_zero = true;
  for (intptr_t at = 0; at < kBytes; ++at) is_zero &= top[at] == 0;
  memset(top, 0x55, kBytes);
  if (is_zero && sbrk(-kBytes) == top + kBytes) ++moved_by_thread;
}

bool move_break() {
  bool is_right = true;
  uint64_t sum = 0;
  constexpr intptr_t kBytes = 64 * 4096;
  add_to_loaded = add_to_added;
  const auto begin = reinterpret_cast<uint64_t>(sbrk(0));
  const bool counts = run([&] {
    while (!is_over) {
      {
        const std::lock_guard guard(mutex);
        auto* const words = static_cast<uint64_t*>(sbrk(kBytes));
        is_right &= reinterpret_cast<uint64_t>(words) == begin;
        for (intptr_t i = 0; i < kBytes / 8; ++i) is_right &= words[i] == 0;
        added = words;
      }
      usleep(10'000);
      const std::lock_guard guard(mutex);
      is_right &= added[0] == added[8192];
      sum += added[0];
      added = nullptr;
      is_right &= brk(reinterpret_cast<void*>(begin)) == 0;
    }
  });
  return counts && is_right && sum == written_to_added && sum > 0 && moved_by_thread > 0 &&
         reinterpret_cast<uint64_t>(sbrk(0)) == begin;
}

// Converted threads are children of the program that only the kernel shows.
bool has_children() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (std::ifstream(task.path() / "children").peek() != EOF) return true;
  return false;
}

bool load() {
  bool is_right = true;
  awaits_library = true;
  const bool counts = run([&] {
    const auto latest = end() - std::chrono::milliseconds(milliseconds / 2);
    while (Clock::now() < latest && !has_children()) usleep(1'000);
    void* const library = dlopen((folder + "/isolated_library.so").c_str(), RTLD_NOW);
    const std::lock_guard guard(mutex);
    loaded_sum = reinterpret_cast<uint64_t (*)()>(library ? dlsym(library, "loaded_sum") : nullptr);
    add_to_loaded = reinterpret_cast<void (*)()>(library ? dlsym(library, "add_to_loaded") : nullptr);
    is_right = add_to_loaded && loaded_sum;
    awaits_library = false;
  });
  return counts && is_right && added_to_loaded > 0 && loaded_sum() == added_to_loaded;
}

// Ends the program in the given way, from a thread that counts.
[[noreturn]] void end_by(const std::string& how) {
  std::thread([] { count(1); }).detach();
  std::thread([&how] {
    const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (Clock::now() < until)
      for (int i = 0; i < 100'000; ++i) counted[0] = counted[0] + 1;
    if (how == "exit") exit(3);
    if (how == "_exit") _exit(4);
    if (how == "abort") abort();
    if (how == "fault") {
      side_by_side.written_last = 0x5eed5eed5eed;
      *nowhere = 1;
    }
    if (how == "exec") execl("/bin/echo", "echo", "executed", nullptr);
  }).detach();
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string self = argv[0];
  folder = self.substr(0, self.rfind('/'));
  const std::string how = argc > 1 ? argv[1] : "";
  if (argc > 2) milliseconds = atoi(argv[2]);
  if (argc > 3) counts_between_locks = atoi(argv[3]);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  const struct {
    const char* name;
    bool (*function)();
  } ways[] = {{"count", count_alone},    {"asynchronous", count_beside_asynchronous_input},
              {"fork", fork_twice},      {"forked", fork_once},
              {"child", fork_first},     {"spawn", spawn},
              {"signals", take_signals}, {"map", map_and_load},
              {"break", move_break},     {"load", load},
              {"late_forks", fork_late}};
  for (const auto& way : ways)
    if (how == way.name) {
      const bool is_right = way.function();
      printf("%s %s\n", way.name, is_right ? "right" : "wrong");
      return 0;
    }
  end_by(how);
}
