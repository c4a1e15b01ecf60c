#include "analysis/files/cut_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/analysis/database/files.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

constexpr size_t kBytes = 3 * 4096;

struct Outcome {
  int status;
  std::string errors;
};

// Runs the function in a process of its own, and captures its standard error.
template <typename Function>
Outcome in_child(const fs::path& folder, Function function) {
  const fs::path errors = folder / "errors";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGBUS, SIG_DFL);  // instead of the test framework's handler
    ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    survive_cut_files();
    ::_exit(function());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::ifstream written(errors);
  return {status, {std::istreambuf_iterator<char>(written), {}}};
}

const volatile char* map(const fs::path& file, int protection, int flags) {
  const int descriptor = ::open(file.c_str(), O_RDWR);
  return static_cast<const volatile char*>(::mmap(nullptr, kBytes, protection, flags, descriptor, 0));
}

fs::path make_file(const fs::path& folder, const std::string& name) {
  const fs::path file = folder / name;
  std::ofstream(file) << std::string(kBytes, 'x');
  return file;
}

}  // namespace

TEST_CASE("a file that is truncated while it is mapped reads as zeros, and one line names it") {
  const test::TemporaryDirectory directory;
  for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
    const fs::path file = make_file(directory.path(), "cut\x1b[31m.prof");
    const Outcome outcome = in_child(directory.path(), [&] {
      const volatile char* const bytes = map(file, PROT_READ, flags);
      fs::resize_file(file, 4096);
      int sum = 0;
      std::thread([&] { sum = bytes[0] + bytes[4096]; }).join();
      return sum + bytes[2 * 4096];
    });
    CHECK(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 'x');
    CHECK(outcome.errors ==
          "prof: " + (directory.path() / "cut").string() +
              "\\x1b[31m.prof was truncated while prof read it: the rest of it is lost; measure "
              "or analyze again\n");
  }
}

TEST_CASE("writing to a measurement that was truncated ends nothing, and its process reports it") {
  const test::TemporaryDirectory directory;
  const fs::path file = make_file(directory.path(), "running.prof");
  const Outcome outcome = in_child(directory.path(), [&] {
    auto* const bytes = const_cast<volatile char*>(map(file, PROT_READ | PROT_WRITE, MAP_SHARED));
    fs::resize_file(file, 0);
    bytes[4096] = 7;
    return bytes[4096] + bytes[0];
  });
  CHECK(WIFEXITED(outcome.status));
  CHECK(WEXITSTATUS(outcome.status) == 7);
  CHECK(outcome.errors.empty());
}

TEST_CASE("other bus errors end the process") {
  const test::TemporaryDirectory directory;
  CHECK(WTERMSIG(in_child(directory.path(), [] { return ::raise(SIGBUS); }).status) == SIGBUS);
  const Outcome queued = in_child(directory.path(), [] {
    siginfo_t sent{};
    sent.si_signo = SIGBUS;
    sent.si_code = SI_QUEUE;
    sent.si_value.sival_ptr = &sent;
    return static_cast<int>(::syscall(SYS_rt_sigqueueinfo, ::getpid(), SIGBUS, &sent));
  });
  CHECK(WTERMSIG(queued.status) == SIGBUS);
}
