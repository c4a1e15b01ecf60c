// heap_offsets: prints the offsets of the first blocks of many sizes within their pages, as decimal numbers.
// There is one line for each point of the program: as main begins, after dlopen, in a forked child, and in a
// second thread.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

char text[4096];

// Allocates nothing but the blocks: uses no stream.
void print_blocks(const char* place) {
  constexpr size_t kSizes[] = {1,   24,  25,  40,   56,   72,   88,   104,   120,
                               184, 248, 504, 1000, 1032, 2000, 5000, 40000, 200000};
  auto length = static_cast<size_t>(std::snprintf(text, sizeof text, "%s", place));
  bool is_zeroed = false;
  for (const size_t bytes : kSizes) {
    void* volatile const block = is_zeroed ? std::calloc(1, bytes) : std::malloc(bytes);
    is_zeroed = !is_zeroed;
    const auto offset = static_cast<unsigned>(reinterpret_cast<uintptr_t>(block) % 4096);
    length += static_cast<size_t>(std::snprintf(text + length, sizeof text - length, " %u", offset));
  }
  text[length++] = '\n';
  if (write(1, text, length) != static_cast<ssize_t>(length)) _exit(1);
}

void* in_thread(void* unused) {
  print_blocks("thread");
  return unused;
}

}  // namespace

int main() {
  print_blocks("main");
  if (!dlopen("libutil.so.1", RTLD_NOW)) return 2;
  print_blocks("dlopen");
  const pid_t child = fork();
  if (child == 0) {
    print_blocks("child");
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 3;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0) return 4;
  pthread_join(thread, nullptr);
  return 0;
}
