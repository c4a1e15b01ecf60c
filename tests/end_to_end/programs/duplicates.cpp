// Puts descriptors of its own at the highest numbers there are, one after the other, and works meanwhile.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "spin.h"

int main() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int top = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 4096));
  for (int number = top - 1; number > top - 5; --number) {
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
  return dup2(top - 1, top - 2) != -1;  // neither is open any more
}
