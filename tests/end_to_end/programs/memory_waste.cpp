// Programs with known memory waste, by name: what a fixed share of their stores or loads is.

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kWords = 512;

uint64_t words[kWords];
uint64_t others[kWords];
volatile uint64_t sink;

// Keeps the compiler from removing or merging accesses.
void used(void* memory) {
  asm volatile("" : : "r"(memory) : "memory");
}

// Each word is cleared, and filled before anything loads it: half of the stores are dead.
[[gnu::noinline]] void clear_then_fill(uint64_t round) {
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = 0;
    used(words);
  }
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = i + round;
    used(words);
  }
}

[[gnu::noinline]] uint64_t sum() {
  uint64_t total = 0;
  for (size_t i = 0; i < kWords; ++i) {
    total += words[i];
    used(words);
  }
  return total;
}

// All stores are dead but the last round's.
[[gnu::noinline]] void store_only(uint64_t round) {
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = i + round;
    used(words);
  }
}

// Stores the same values again.
[[gnu::noinline]] void store_same() {
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = i;
    used(words);
  }
}

// Each load returns what the store just before put there.
[[gnu::noinline]] uint64_t fresh_loads(uint64_t round) {
  uint64_t total = 0;
  for (size_t i = 0; i < kWords; ++i) {
    words[i] = round + i;
    used(words);
    total += words[i];
    used(words);
  }
  return total;
}

void dead(uint64_t round) {
  store_only(round);
}
void half_dead(uint64_t round) {
  clear_then_fill(round);
  sink = sum();
}
void silent(uint64_t) {
  store_same();
}
void redundant(uint64_t) {
  sink = sum();
}
void clean(uint64_t round) {
  sink = fresh_loads(round);
}

// The only loads of what is stored are the kernel's.
int null_file = -1;
void written(uint64_t round) {
  if (null_file < 0) {
    char path[] = "/tmp/prof-test-XXXXXX";
    null_file = mkstemp(path);
    unlink(path);
  }
  store_only(round);
  if (pwrite(null_file, words, sizeof words, 0) < 0) abort();
}

// Jumps out of a frame whose variables were stored and not loaded.
jmp_buf back;
[[gnu::noinline]] void jump_out(uint64_t round) {
  uint64_t local[64];
  for (size_t i = 0; i < 64; ++i) {
    local[i] = round + i;
    used(local);
  }
  longjmp(back, 1);
}
void jumps(uint64_t round) {
  if (setjmp(back) == 0) jump_out(round);
}

void count_signal(int) {
  others[0] = others[0] + 1;
}
void signals(uint64_t round) {
  if (round == 0) {
    struct sigaction action {};
    action.sa_handler = count_signal;
    sigaction(SIGUSR1, &action, nullptr);
  }
  raise(SIGUSR1);
  store_only(round);
}

// Memory that other processes may read.
uint64_t* shared;
void shared_mapping(uint64_t round) {
  if (!shared)
    shared = static_cast<uint64_t*>(
        mmap(nullptr, sizeof words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (size_t i = 0; i < kWords; ++i) {
    shared[i] = i + round;
    used(shared);
  }
}

struct Work {
  const char* name;
  void (*run)(uint64_t);
};
constexpr Work kWorks[] = {{"dead", dead},           {"half-dead", half_dead}, {"silent", silent},
                           {"redundant", redundant}, {"clean", clean},         {"written", written},
                           {"jumps", jumps},         {"signals", signals},     {"shared", shared_mapping}};

void run(const char* name, uint64_t rounds) {
  for (const Work& work : kWorks)
    if (strcmp(work.name, name) == 0)
      for (uint64_t round = 0; round < rounds; ++round) work.run(round);
}

const char* thread_work;
uint64_t thread_rounds;
volatile bool is_done;

// Loads continually what the main thread stores.
void* look_on(void*) {
  while (!is_done)
    for (size_t i = 0; i < kWords; ++i) sink = words[i];
  return nullptr;
}

}  // namespace

// memory_waste WORK ROUNDS [fork|thread]
int main(int count, char** arguments) {
  if (count < 3) return 2;
  thread_work = arguments[1];
  thread_rounds = strtoull(arguments[2], nullptr, 10);
  const char* const how = count > 3 ? arguments[3] : "";
  pthread_t thread;
  if (strcmp(how, "thread") == 0) pthread_create(&thread, nullptr, look_on, nullptr);
  const pid_t child = strcmp(how, "fork") == 0 ? fork() : 0;
  run(thread_work, thread_rounds);
  is_done = true;
  if (strcmp(how, "thread") == 0) pthread_join(thread, nullptr);
  if (strcmp(how, "fork") == 0 && child == 0) _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
  printf("%llu\n", static_cast<unsigned long long>(words[1]));
}
