// The reader with damaged files: repeatable mutations of real ones. fuzz_measurement does the same, guided by
// coverage.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/measurement/device_recorder.h"
#include "tests/measurement/invariants.h"
#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"
#include "tests/measurement/synthetic.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr unsigned kMutations = 20'000;

std::vector<uint8_t> small_measurement(bool finished) {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_metric({0, "CPUTIME", "sec", 1e-9, "clock", 1000, ""});
  recorder.file.write_module(1, "/usr/bin/app", 0x400000, 0x500000, 0, nullptr, 0);
  recorder.file.write_thread_start(0, 1, 2, "main");
  RecordedThread& first = recorder.add_thread();
  RecordedThread& second = recorder.add_thread();
  Scenario a(1), b(2);
  for (int i = 0; i < 1500; ++i) {
    record(first, a.next());
    record(second, b.next());
  }
  if (finished) recorder.finish();
  std::vector<uint8_t> bytes = file_contents(recorder.path());
  const RawExtent last = raw_extents(bytes).back();
  bytes.resize(last.offset + last.bytes);
  return bytes;
}

// A thread that waits for the tasks of two queues, one of which is sampled.
std::vector<uint8_t> small_device_measurement() {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_thread_start(0, 1, 2, "main");
  RecordedThread& thread = recorder.add_thread();
  recorder.file.write_device({0, 1, kStartMonotonic, "device", "uuid", "API", "driver"});
  RecordedTrack device(recorder.file, 1), exact(recorder.file, 2), sampled(recorder.file, 3, 100'000);
  hpcrun::WaitStream waits;
  REQUIRE(waits.attach(recorder.file, thread.arena, 0));
  const hpcrun::FrameKey call = hpcrun::make_frame(1, 0x40);
  const hpcrun::FrameKey kernel = hpcrun::make_frame(hpcrun::kModuleDevice, 1);
  recorder.file.write_symbol(kernel, "kernel");
  const hpcrun::NodeId node = thread.tree.insert(&call, 1);
  uint64_t now = kStartMonotonic;
  for (RecordedTrack* queue : {&exact, &sampled}) {
    recorder.file.write_queue(queue->track, 0, kStartMonotonic, "queue");
    const hpcrun::FrameKey path[] = {kernel, call};
    const hpcrun::NodeId launch = queue->tree.insert(path, 2);
    Random random(queue->track);
    for (int i = 0; i < 700; ++i) {
      const uint64_t start = now + random.below(20'000), end = start + random.below(60'000);
      REQUIRE(queue->tasks.append({now, start, end}, launch, 0));
      REQUIRE(waits.append({now, end + 2'000, start - now, 0, 1'000}, node));
      now = end + 5'000;
    }
    queue->seal();
  }
  waits.seal();
  device.seal();
  recorder.finish();
  std::vector<uint8_t> bytes = file_contents(recorder.path());
  const RawExtent last = raw_extents(bytes).back();
  bytes.resize(last.offset + last.bytes);
  return bytes;
}

// Two threads that access shared memory.
std::vector<uint8_t> small_access_measurement() {
  TemporaryDirectory directory;
  write_synthetic(directory / "a.prof",
                  {.threads = 2, .samples = 3'000, .contexts = 50, .accesses_every = 4});
  std::vector<uint8_t> bytes = file_contents(directory / "a.prof");
  const RawExtent last = raw_extents(bytes).back();
  bytes.resize(last.offset + last.bytes);
  return bytes;
}

uint64_t interesting(Random& random) {
  constexpr uint64_t kValues[] = {0,      1,          0x7f,       0x80,        0xff,
                                  0xffff, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX};
  return random.below(2) == 0 ? random.next() : kValues[random.below(std::size(kValues))];
}

void mutate(std::vector<uint8_t>& bytes, Random& random) {
  const std::vector<RawExtent> extents = raw_extents(bytes);
  for (uint64_t changes = 1 + random.below(4); changes != 0 && bytes.size() > 8; --changes) {
    // Headers contain the structure, so half of the changes are made there.
    size_t at = random.below(bytes.size() - 8);
    if (!extents.empty() && random.below(2) == 0) {
      at = extents[random.below(extents.size())].offset + random.below(sizeof(hpcrun::ExtentHeader));
    } else if (random.below(8) == 0) {
      at = random.below(sizeof(hpcrun::FileHeader));
    }
    if (at >= bytes.size()) continue;  // in an extent that an earlier change truncated
    switch (random.below(5)) {
      case 0:
        bytes[at] ^= static_cast<uint8_t>(1u << random.below(8));
        break;
      case 1: {
        const uint64_t value = interesting(random);
        const size_t width = size_t{1} << random.below(4);
        std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
        break;
      }
      case 2:
        bytes.resize(at + 1);
        break;
      case 3: {  // part of the file replaces another part
        const size_t from = random.below(bytes.size());
        const size_t count =
            std::min({size_t{1} << random.below(13), bytes.size() - from, bytes.size() - at});
        std::memmove(bytes.data() + at, bytes.data() + from, count);
        break;
      }
      default:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<size_t>(16, bytes.size() - at),
                    static_cast<uint8_t>(random.below(2) == 0 ? 0 : 0xff));
    }
  }
}

}  // namespace

TEST_CASE("no mutation of a measurement makes the reader misbehave") {
  const std::vector<uint8_t> originals[] = {small_measurement(true), small_measurement(false),
                                            small_device_measurement(), small_access_measurement()};
  const int descriptor = ::memfd_create("mutant", MFD_CLOEXEC);
  REQUIRE(descriptor >= 0);
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  Random random(11);
  unsigned refused = 0;
  for (unsigned i = 0; i < kMutations; ++i) {
    std::vector<uint8_t> bytes = originals[i % std::size(originals)];
    mutate(bytes, random);
    if (random.below(2) == 0) forge_checksums(bytes);
    REQUIRE(::ftruncate(descriptor, static_cast<off_t>(bytes.size())) == 0);
    REQUIRE(::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    try {
      const ProcessMeasurement read = read_measurement(path);
      if (const char* broken = broken_invariant(read)) FAIL("mutation " << i << " breaks: " << broken);
    } catch (const MeasurementError&) {
      ++refused;
    }
  }
  ::close(descriptor);
  std::cout << kMutations << " mutations, " << refused << " refused as unusable\n";
  // Most damage leaves something readable.
  CHECK(refused < kMutations / 10);
}
