// A static program that runs another and ends with its status.
#include <sys/wait.h>
#include <unistd.h>

int main(int, char** arguments) {
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments[1], arguments + 1);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
