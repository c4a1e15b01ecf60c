// deaths SECONDS END: uses SECONDS of CPU time in spin(), and then ends in the given way.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spin.h"

int main(int argc, char** argv) {
  const double seconds = std::atof(argv[1]);
  const char* end = argv[2];
  spin(seconds);
  std::printf("spun, then %s\n", end);
  std::fflush(stdout);
  const auto is = [&](const char* name) { return std::strcmp(end, name) == 0; };
  if (is("return")) return argc > 3 ? std::atoi(argv[3]) : 0;
  if (is("kill")) kill(getpid(), SIGKILL);
  if (is("abort")) abort();
  int* volatile nowhere = nullptr;
  if (is("segv")) *nowhere = 1;
  if (is("term")) raise(SIGTERM);
  if (is("_exit")) _exit(7);
  if (is("exec")) execl(argv[0], argv[0], argv[1], "return", "9", static_cast<char*>(nullptr));
  if (is("fork")) {
    const pid_t child = fork();
    if (child == 0) {
      spin(seconds);
      _exit(11);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (is("wait")) {
    for (;;) pause();
  }
  return 99;
}
