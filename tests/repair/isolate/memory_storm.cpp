// Uses memory in all the ways that depend on which code maps it, and prints the results: threads that start
// and end, libraries, exceptions, mappings, and a main stack that is used up to its limit.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kPage = 4096;

thread_local int of_thread = 5;
std::atomic<long> sum{0};
int global = 1;

// Checks the name of the address's mapping.
bool is_common(const void* address) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    uintptr_t low = 0, high = 0;
    if (sscanf(line.c_str(), "%lx-%lx", &low, &high) == 2 && wanted >= low && wanted < high)
      return line.find("/memfd:prof-common") != std::string::npos;
  }
  return false;
}

// Prints to standard error, on request, how much of the threads' memory is common.
std::atomic<int> stacks_seen{0}, stacks_common{0};
const bool tells = getenv("MEMORY_STORM_TELLS");

void look_at_stack() {
  const int here = 0;
  ++stacks_seen;
  if (is_common(&here) && is_common(&of_thread)) ++stacks_common;
}

void tell() {
  const int here = 0;
  const std::unique_ptr<int> of_heap(new int);
  fprintf(stderr, "common: %d of %d stacks%s%s%s%s\n", stacks_common.load(), stacks_seen.load(),
          is_common(&global) ? ", data" : "", is_common(of_heap.get()) ? ", heap" : "",
          is_common(&here) ? ", stack" : "", is_common(&of_thread) ? ", thread-local" : "");
}

void allocate_and_throw(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> texts;
  for (int turn = 0; turn < 50; ++turn) {
    texts.emplace_back(random() % 3000, 'x');
    if (random() % 3 == 0 && texts.size() > 1) texts.erase(texts.begin());
    try {
      if (turn % 10 == 0) throw std::runtime_error(texts.back());
    } catch (const std::exception& error) {
      sum += static_cast<long>(strlen(error.what()) % 7);
    }
  }
  sum += of_thread++;
  if (of_thread != 6) abort();
}

void thread_storm() {
  // 2,000 threads, up to 40 at a time; a quarter are detached.
  for (unsigned round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> detached{0};
    for (unsigned number = 0; number < 40; ++number) {
      threads.emplace_back([&, number] {
        allocate_and_throw(round * 40 + number);
        if (tells && round % 10 == 0) look_at_stack();
        if (number % 4 == 0) ++detached;
      });
      if (number % 4 == 0) threads.back().detach();
    }
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
    while (detached < 10) usleep(100);
  }
  printf("threads %ld\n", sum.load());
}

void library_storm(const char* library) {
  int loaded = 0;
  for (int turn = 0; turn < 20; ++turn) {
    void* const handle = dlopen(library, RTLD_NOW);
    if (handle && dlsym(handle, "deflate")) ++loaded;
    if (handle) dlclose(handle);
  }
  printf("libraries %d\n", loaded);
}

char* map(size_t bytes, int protection = PROT_READ | PROT_WRITE, int flags = 0, void* at = nullptr) {
  return static_cast<char*>(mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
}

void mappings() {
  constexpr size_t kLarge = size_t{3} << 30;
  char* const large = map(kLarge, PROT_READ | PROT_WRITE, MAP_NORESERVE);
  for (size_t at = 0; at < kLarge; at += kLarge / 64) large[at] = 1;
  long touched = 0;
  for (size_t at = 0; at < kLarge; at += kLarge / 64) touched += large[at] + large[at + kPage];
  madvise(large, kLarge / 2, MADV_DONTNEED);
  for (size_t at = 0; at < kLarge; at += kLarge / 64) touched += large[at];
  char* const grown = static_cast<char*>(mremap(large, kLarge, kLarge + kPage, MREMAP_MAYMOVE));
  touched += grown[kLarge / 2] + grown[kLarge];
  munmap(grown, kLarge + kPage);
  printf("mappings %ld\n", touched);

  char* const reserved = map(64 * kPage, PROT_NONE);
  mprotect(reserved + kPage, kPage, PROT_READ | PROT_WRITE);
  reserved[kPage] = 2;
  char* const fixed = map(2 * kPage, PROT_READ | PROT_WRITE, MAP_FIXED, reserved + 4 * kPage);
  const int file = open("/proc/self/exe", O_RDONLY);
  char* const head = static_cast<char*>(
      mmap(reserved + 8 * kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0));
  head[0] = 'x';
  printf("fixed %d %d %.3s\n", reserved[kPage], fixed[kPage], head + 1);
  munmap(reserved, 64 * kPage);

  char* const before = static_cast<char*>(sbrk(10 * kPage));
  printf("break %d %d\n", before[9 * kPage], sbrk(0) == before + 10 * kPage);
}

[[gnu::noinline]] long recurse(long depth) {
  volatile char frame[32 * 1024];
  frame[0] = static_cast<char>(depth);
  frame[sizeof frame - 1] = 1;
  return depth ? recurse(depth - 1) + frame[sizeof frame - 1] : 0;
}

sigjmp_buf back;
void on_overflow(int number) {
  signal(number, SIG_DFL);
  siglongjmp(back, 1);
}

void stacks() {
  rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  printf("deep %ld\n", recurse(static_cast<long>(limit.rlim_cur / (33 * 1024)) - 8));

  // Handled on an alternate stack.
  stack_t other{};
  other.ss_size = 64 * 1024;
  other.ss_sp = malloc(other.ss_size);
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = on_overflow;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  if (sigsetjmp(back, 1) == 0)
    printf("endless %ld\n", recurse(1 << 20));
  else
    printf("overflow\n");

  limit.rlim_cur = 32 << 20;
  if (setrlimit(RLIMIT_STACK, &limit) == 0) printf("deeper %ld\n", recurse(28 * 32));
}

void forks() {
  char* const piece = map(8 * kPage);
  piece[0] = 1;
  std::atomic<bool> is_over{false};
  std::atomic<long> counted{0};
  std::vector<long> numbers(1000);
  // Another thread writes all the time.
  std::thread writer([&] {
    while (!is_over) {
      for (long& number : numbers) ++number;
      ++counted;
    }
  });
  int right = 0;
  for (int turn = 0; turn < 20; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      const long seen = numbers[0];
      const bool is_as_before = piece[0] == 1 + turn && global == 1 + turn;
      piece[0] = 100;
      global = 100;
      madvise(piece, kPage, MADV_DONTNEED);
      sched_yield();
      _exit(is_as_before && piece[0] == 0 && numbers[0] == seen ? 7 : 1);
    }
    ++piece[0];
    ++global;
    int status = 0;
    waitpid(child, &status, 0);
    right += WIFEXITED(status) && WEXITSTATUS(status) == 7 && piece[0] == 2 + turn && global == 2 + turn;
  }
  is_over = true;
  writer.join();
  printf("forks %d %d\n", right, numbers[0] == counted);
}

}  // namespace

int main(int, char** arguments) {
  thread_storm();
  library_storm(arguments[1]);
  mappings();
  stacks();
  forks();
  // A joined thread may still exist.
  struct stat tasks {};
  while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3) usleep(100);
  thread_storm();
  mappings();
  if (tells) tell();
}
