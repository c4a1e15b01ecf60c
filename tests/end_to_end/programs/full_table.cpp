// Forks while all descriptors are in use; with an argument, after a thread has ended. Parent and child
// continue with the existing memory. Prints the child's status.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

int main(int argc, char**) {
  if (argc > 1) std::thread([] {}).join();
  constexpr rlim_t kDescriptors = 64;
  const rlimit limit{kDescriptors, kDescriptors};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY) >= 0) continue;
  volatile int value = 7;
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    value = value + 1;
    _exit(value);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d, parent %d\n", WEXITSTATUS(status), value);
}
