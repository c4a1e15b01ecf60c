// Which threads change a line alternately, and if they share its data or only the line.

#include "hpcrun/model/written_line.h"

#include <catch2/catch.hpp>

#include <memory>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t bytes(unsigned from, unsigned count) {
  return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
}

std::unique_ptr<WrittenLine> line() {
  return std::unique_ptr<WrittenLine>(new WrittenLine());
}

WrittenLine::Writer writer_of(const WrittenLine& line, uint32_t thread) {
  WrittenLine::Writer writer;
  for (uint32_t place = 0; line.writer(place, writer); ++place)
    if (writer.thread == thread) return writer;
  FAIL("thread " << thread << " did not write");
  return writer;
}

}  // namespace

TEST_CASE("threads that change words of their own by turns share a line falsely") {
  const auto one = line();
  for (int i = 0; i < 50; ++i) {
    one->note(1, bytes(0, 3));
    one->note(2, bytes(8, 2));
  }
  CHECK(one->interleaved() == 99);  // the first has no predecessor
  const WrittenLine::Writer first = writer_of(*one, 1), second = writer_of(*one, 2);
  CHECK(first.bytes == bytes(0, 3));
  CHECK(second.bytes == bytes(8, 2));
  CHECK((first.updates == 50 && second.updates == 50));
  CHECK((first.false_sharing == 49 && second.false_sharing == 50));
  CHECK((first.true_sharing == 0 && second.true_sharing == 0));
}

TEST_CASE("threads that change the same bytes share them truly, be there more that differ or not") {
  const auto one = line();
  for (int i = 0; i < 256; ++i) {
    one->note(1, bytes(16, 1));
    one->note(2, bytes(16, i % 32 == 0 ? 2 : 1));  // a carry
  }
  const WrittenLine::Writer first = writer_of(*one, 1), second = writer_of(*one, 2);
  CHECK(first.true_sharing + second.true_sharing == 511);
  CHECK(first.false_sharing + second.false_sharing < 51);
}

TEST_CASE("what one thread wrote once, as the object was made, is the other's") {
  const auto one = line();
  one->note(1, bytes(0, 32));
  for (int i = 0; i < 100; ++i) {
    one->note(1, bytes(0, 2));
    one->note(2, bytes(16, 2));
  }
  const WrittenLine::Writer first = writer_of(*one, 1), second = writer_of(*one, 2);
  CHECK((first.true_sharing == 0 && first.false_sharing == 99));
  CHECK((second.true_sharing == 1 && second.false_sharing == 99));
  CHECK(first.bytes == bytes(0, 8));
  CHECK(second.bytes == bytes(16, 2));
}

TEST_CASE("bytes of one word that are each one thread's are no shared data") {
  const auto one = line();
  for (int i = 0; i < 4; ++i) one->note(i % 2, bytes(i % 2, 1));
  CHECK(one->interleaved() == 3);
  CHECK(writer_of(*one, 0).false_sharing + writer_of(*one, 1).false_sharing == 3);
  CHECK(writer_of(*one, 0).true_sharing + writer_of(*one, 1).true_sharing == 0);
}

TEST_CASE("a total beside counters of each thread is both") {
  const auto one = line();
  for (int i = 0; i < 10; ++i) one->note(i % 2, bytes(0, 2) | bytes(8 + 8 * (i % 2), 2));
  CHECK(writer_of(*one, 0).true_sharing + writer_of(*one, 1).true_sharing == 9);
  CHECK(writer_of(*one, 0).false_sharing + writer_of(*one, 1).false_sharing == 9);
}

TEST_CASE("what one thread changes over and over moves no line") {
  const auto one = line();
  for (int i = 0; i < 1000; ++i) one->note(7, bytes(0, 64));
  CHECK(one->interleaved() == 0);
  // A thread that comes afterwards moves it once.
  for (int i = 0; i < 1000; ++i) one->note(8, bytes(32, 8));
  CHECK(one->interleaved() == 1);
}

TEST_CASE("what comes to the place of released data begins anew") {
  const auto one = line();
  one->note(1, bytes(0, 8));
  one->clear();
  one->note(2, bytes(8, 8));
  CHECK(one->interleaved() == 0);
  WrittenLine::Writer writer;
  REQUIRE(one->writer(0, writer));
  CHECK((writer.thread == 2 && writer.bytes == bytes(8, 8)));
  CHECK_FALSE(one->writer(1, writer));
}

TEST_CASE("more threads than there is room for are counted and harm nothing") {
  const auto one = line();
  for (uint32_t thread = 0; thread < WrittenLine::kMaxWriters + 3; ++thread)
    one->note(thread, bytes(thread, 1));
  CHECK(one->lost() == 3);
  CHECK(one->interleaved() == WrittenLine::kMaxWriters - 1);
}

TEST_CASE("nothing is lost where threads note at the same time") {
  const auto one = line();
  constexpr uint32_t kThreads = 4, kTimes = 10'000;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&one, thread] {
      for (uint32_t i = 0; i < kTimes; ++i) one->note(thread, bytes(8 * thread, 8));
    });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    CHECK(writer_of(*one, thread).updates == kTimes);
    CHECK(writer_of(*one, thread).true_sharing == 0);
  }
}
