#include "prof/launch/launch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "prof/base/message.h"
#include "prof/launch/debugger_watch.h"

namespace prof {

namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile sig_atomic_t child_pid = 0;

// Forwards signals to the program while it runs, and restores their handling in prof afterwards.
class SignalForwarding {
 public:
  SignalForwarding();
  ~SignalForwarding();
  SignalForwarding(const SignalForwarding&) = delete;

 private:
  std::array<struct sigaction, std::size(kForwarded)> before_{};
};

void forward(int signal, siginfo_t* info, void*) {
  const bool from_terminal = info->si_code == SI_KERNEL;
  if (!from_terminal && child_pid > 0) kill(child_pid, signal);
}

SignalForwarding::SignalForwarding() {
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (size_t i = 0; i < before_.size(); ++i) sigaction(kForwarded[i], &action, &before_[i]);
}

SignalForwarding::~SignalForwarding() {
  for (size_t i = 0; i < before_.size(); ++i) sigaction(kForwarded[i], &before_[i], nullptr);
}

// Waits for one byte, or for the end of the file once no process has the other end open.
void wait_for(int pipe) {
  char byte;
  while (read(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
}

void close_standard_streams() {
  const int nothing = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  if (nothing > STDERR_FILENO) close(nothing);
}

// Returns only if the program cannot be executed, with errno.
void execute(const Launch& what) {
  for (const auto& [name, value] : what.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : what.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(what.program.c_str(), arguments.data());
  if (errno == ENOEXEC) {  // a script without an interpreter line: run by the shell, as execvp does
    arguments[0] = const_cast<char*>(what.program.c_str());
    arguments.insert(arguments.begin(), const_cast<char*>("/bin/sh"));
    execv("/bin/sh", arguments.data());
  }
}

[[noreturn]] void become_child(const Launch& what, int start_pipe, int error_pipe, const sigset_t& mask) {
  if (what.before_exec) wait_for(start_pipe);
  if (what.is_silent) close_standard_streams();
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execute(what);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(kNotExecutable);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

void become(const Launch& what) {
  execute(what);
  fail(kNotExecutable, "{}: {}", what.program.string(), std::strerror(errno));
}

Outcome launch(const Launch& what) {
  int start_pipe[2] = {-1, -1};
  int error_pipe[2];
  if ((what.before_exec && pipe2(start_pipe, O_CLOEXEC) != 0) || pipe2(error_pipe, O_CLOEXEC) != 0)
    fail(kOwnFailure, "cannot create a pipe: {}{}", std::strerror(errno),
         errno == EMFILE ? "; raise the limit with `ulimit -n`" : "");

  sigset_t forwarded;
  sigset_t mask;
  sigemptyset(&forwarded);
  for (const int signal : kForwarded) sigaddset(&forwarded, signal);
  sigprocmask(SIG_BLOCK, &forwarded, &mask);

  rusage before{};
  getrusage(RUSAGE_CHILDREN, &before);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) fail(kOwnFailure, "cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    if (what.before_exec) close(start_pipe[1]);
    become_child(what, start_pipe[0], error_pipe[1], mask);
  }

  std::signal(SIGPIPE, SIG_IGN);  // the reader of our messages may exit; the program has its own disposition
  child_pid = child;
  const SignalForwarding forwarding;
  sigprocmask(SIG_SETMASK, &mask, nullptr);

  if (what.before_exec) {
    what.before_exec(child);
    close(start_pipe[0]);
    close(start_pipe[1]);
  }
  close(error_pipe[1]);
  int error = 0;
  const bool failed = read(error_pipe[0], &error, sizeof error) == sizeof error;
  close(error_pipe[0]);
  int status = 0;
  std::optional<DebuggerWatch> watch;
  if (what.watches_debuggers) watch.emplace(what.measurement_directory, what.file_prefix);
  const MeasuringWindow window(what.measurement_directory, what.window);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto end = std::chrono::steady_clock::now();  // CLOCK_MONOTONIC
  const std::chrono::duration<double> wall = end - start;
  child_pid = 0;
  if (failed) fail(kNotExecutable, "{}: {}", what.program.string(), std::strerror(error));

  rusage after{};
  getrusage(RUSAGE_CHILDREN, &after);
  Outcome outcome;
  outcome.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.pid = child;
  outcome.end_monotonic_ns = std::chrono::nanoseconds(end.time_since_epoch()).count();
  outcome.wall_s = wall.count();
  outcome.cpu_s =
      seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) - seconds(before.ru_stime);
  return outcome;
}

}  // namespace prof
