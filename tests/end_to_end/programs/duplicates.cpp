// Duplicates descriptors to the highest possible numbers, one after the other, and works meanwhile; with an
// argument, by raw system calls.

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "spin.h"

namespace {

constexpr int kNumbers = 5;

// Uses raw system calls: the numbers belong to the program, in its children as well.
int take_raw(int top) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  for (int number = top - kNumbers; number < top; ++number) syscall(SYS_dup2, ends[1], number);
  const pid_t child = fork();
  if (child) return waitpid(child, nullptr, 0) != child;
  for (int number = top - kNumbers; number < top; ++number)
    if (write(number, "x", 1) != 1) return 1;
  int arrived = 0;
  ioctl(ends[0], FIONREAD, &arrived);
  std::printf("%d\n", arrived);
  return 0;
}

int take(int top) {
  for (int number = top - 1; number >= top - kNumbers; --number) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], number) != number || write(number, "x", 1) != 1) return 1;
    close(ends[1]);
    char byte;
    // Once the last writing end is closed, the pipe ends.
    std::printf("%zd ", read(ends[0], &byte, 1));
    std::printf("%d ", close(number));
    std::fflush(stdout);
    alarm(10);
    std::printf("%zd\n", read(ends[0], &byte, 1));
    close(ends[0]);
    spin(0.05);
  }
  return dup2(top - 1, top - 2) != -1;  // neither is open now
}

}  // namespace

int main(int count, char**) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int top = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 4096));
  return count > 1 ? take_raw(top) : take(top);
}
