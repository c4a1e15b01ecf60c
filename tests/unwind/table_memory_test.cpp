#include "hpcrun/unwind/table_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

namespace {

// Runs in a forked child, which must end successfully.
template <typename Work>
void in_child(Work work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace

TEST_CASE("a forked child has a copy of lasting memory, and immutable memory in common with its parent") {
  constexpr size_t kSizes[] = {64, size_t{400} * 1024};  // of a chunk, and of a separate mapping
  for (const size_t bytes : kSizes) {
    auto* const copied = static_cast<char*>(hpcrun::lasting_allocate(bytes));
    auto* const common = static_cast<char*>(hpcrun::immutable_allocate(bytes));
    REQUIRE(copied);
    REQUIRE(common);
    in_child([&] {
      const bool is_zeroed = copied[bytes - 1] == 0 && common[bytes - 1] == 0;
      copied[0] = common[0] = 1;
      return is_zeroed;
    });
    CHECK(copied[0] == 0);
    CHECK(common[0] == 1);
  }
}

TEST_CASE("what a child and its parent allocate is each one's own") {
  constexpr size_t kBytes = 64;
  for (const auto allocate : {hpcrun::lasting_allocate, hpcrun::immutable_allocate}) {
    REQUIRE(allocate(kBytes));
    in_child([&] {
      void* const at = allocate(kBytes);
      if (at) memset(at, 1, kBytes);
      return at != nullptr;
    });
    auto* const at = static_cast<char*>(allocate(kBytes));
    REQUIRE(at);
    for (size_t i = 0; i < kBytes; ++i) CHECK(at[i] == 0);
  }
}
