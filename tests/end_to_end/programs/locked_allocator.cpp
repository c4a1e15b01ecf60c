// A program with an allocator and a getenv() of its own, which its fork handlers lock and unlock, as those of
// browsers do. A call of either between the handlers would wait forever. Here it ends the process with a
// message.

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

#include "tests/end_to_end/programs/own_blocks.h"

namespace {

alignas(64) unsigned char memory[16 << 20];
std::atomic<size_t> used{0};
std::atomic<bool> is_locked{false};

void check(std::string_view function) {
  if (!is_locked) return;
  constexpr std::string_view kEnd = "() was called between the fork handlers\n";
  [[maybe_unused]] ssize_t written = write(2, function.data(), function.size());
  written = write(2, kEnd.data(), kEnd.size());
  _exit(99);
}

void lock() {
  is_locked = true;
}
void unlock() {
  is_locked = false;
}

void fork_once() {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

}  // namespace

extern "C" void* malloc(size_t bytes) {
  check("malloc");
  const size_t at = used.fetch_add((bytes + 31) / 16 * 16) + 16;  // the size is before it
  return block_at(memory, sizeof memory, at, bytes);
}
extern "C" void free(void* at) {
  if (at) check("free");
}
extern "C" char* getenv(const char* name) {
  check("getenv");
  const size_t length = std::strlen(name);
  for (char** at = environ; at && *at; ++at)
    if (std::strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return nullptr;
}

int main() {
  pthread_atfork(lock, unlock, unlock);
  fork_once();
  std::thread(fork_once).join();
  return 42;
}
