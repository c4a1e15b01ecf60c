// What Valgrind reports becomes one line that names the cause.

#include <catch2/catch.hpp>

#include <string>

#include "prof/exact/valgrind_log.h"

using prof::problem_in_valgrind_log;

namespace {

bool contains(const std::optional<std::string>& text, const char* part) {
  return text && text->find(part) != std::string::npos && text->find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("a log without a problem has none") {
  CHECK(!problem_in_valgrind_log(""));
  CHECK(
      !problem_in_valgrind_log("==1== Warning: set address range perms\n### unhandled dwarf2 abbrev form "
                               "code 0x25\n"));
}

TEST_CASE("an instruction that Valgrind does not know is named") {
  CHECK(contains(
      problem_in_valgrind_log("vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0x7C\n"
                              "==7== Process terminating with default action of signal 4 (SIGILL)\n"),
      "does not support and got SIGILL (vex amd64->IR: unhandled instruction bytes: 0x62"));
}

TEST_CASE("debug information of clang on which Valgrind gives up is named") {
  CHECK(contains(problem_in_valgrind_log("### unhandled dwarf2 abbrev form code 0x25\n"
                                         "==7== Valgrind: FATAL: the 'impossible' happened:\n"),
                 "DWARF 5 of clang"));
  CHECK(contains(problem_in_valgrind_log("valgrind: the 'impossible' happened:\n   killed by fatal signal\n"),
                 "Valgrind failed: "));
}

TEST_CASE("failures of the tool name the error of the system") {
  CHECK(contains(problem_in_valgrind_log("==7== profexact: cannot write exact-7-0.dump (error 28)\n"),
                 "profexact: cannot write exact-7-0.dump (No space left on device)"));
  CHECK(contains(
      problem_in_valgrind_log("==7== profexact: cannot reserve 512 GiB of address space (error 12)\n"),
      "ulimit -v unlimited"));
}

TEST_CASE("another message of Valgrind is passed on") {
  CHECK(problem_in_valgrind_log("valgrind: mmap(0x400000) failed\n") == "valgrind: mmap(0x400000) failed");
}
