// Starts a program in the way that the first argument names, and ends with its status: starts WAY PROGRAM
// [ARGUMENT]... "cleared" before a way, separated by a space ("cleared spawn"), empties the child's
// environment.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static char** arguments;
static char** environment = environ;

static std::string command() {
  std::string text;
  for (char** at = arguments; *at; ++at) text += std::string(at == arguments ? "" : " ") + *at;
  return text;
}

// A file action redirects standard output to where the program expects it. SIGUSR1 is blocked in the child.
static pid_t spawn(decltype(posix_spawn)* function, const char* file, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, out);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error = function(&child, file, &actions, &attributes, arguments, environment);
  if (error != 0) {
    printf("not started: %s\n", strerror(error));
    exit(3);
  }
  return child;
}

static void execute(const std::string& way) {
  const std::string path = arguments[0];
  const size_t slash = path.rfind('/');
  if (way == "execve") execve(path.c_str(), arguments, environment);
  if (way == "fexecve") fexecve(open(path.c_str(), O_RDONLY | O_CLOEXEC), arguments, environment);
  if (way == "execveat-empty")
    execveat(open(path.c_str(), O_PATH | O_CLOEXEC), "", arguments, environment, AT_EMPTY_PATH);
  if (way == "execveat")
    execveat(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), path.c_str() + slash + 1,
             arguments, environment, 0);
  if (way == "execveat-cwd") execveat(AT_FDCWD, path.c_str(), arguments, environment, 0);
  _exit(127);
}

int main(int, char** all) {
  std::string way = all[1];
  arguments = all + 2;
  static char* nothing[] = {nullptr};
  if (way.rfind("cleared ", 0) == 0) {
    environment = nothing;
    way.erase(0, strlen("cleared "));
  }
  if (way == "system") return WEXITSTATUS(system(command().c_str()));
  if (way == "popen") {
    FILE* stream = popen(command().c_str(), "r");
    for (int c; (c = fgetc(stream)) != EOF;) putchar(c);
    return WEXITSTATUS(pclose(stream));
  }
  pid_t child;
  if (way == "spawn") {
    child = spawn(posix_spawn, arguments[0], dup(STDOUT_FILENO));
  } else if (way == "spawnp") {  // found on the path
    std::string folder = arguments[0];
    const size_t slash = folder.rfind('/');
    arguments[0] = strdup(folder.c_str() + slash + 1);
    setenv("PATH", folder.substr(0, slash).c_str(), 1);
    child = spawn(posix_spawnp, arguments[0], dup(STDOUT_FILENO));
  } else if ((child = way == "vfork" ? vfork() : fork()) == 0) {
    execute(way == "vfork" ? "execve" : way);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
