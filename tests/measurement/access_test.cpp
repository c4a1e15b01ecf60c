// Accesses to shared memory, and the objects that contain them, are read as they were written.

#include "hpcrun/cct/access_stream.h"

#include <catch2/catch.hpp>

#include "tests/measurement/device_recorder.h"
#include "tests/measurement/raw_extents.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kQuantum = hpcrun::kTraceQuantumNs;

struct Written {
  hpcrun::AccessRecord access;
  hpcrun::NodeId node;
};

}  // namespace

TEST_CASE("accesses come back in order, with contexts and weights") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  std::vector<hpcrun::NodeId> nodes;
  for (uint64_t i = 1; i <= 20; ++i) {
    const hpcrun::FrameKey frame = hpcrun::make_frame(1, i * 16);
    nodes.push_back(thread.tree.insert(&frame, 1));
  }
  hpcrun::AccessStream stream;
  REQUIRE(stream.attach(recorder.file, thread.arena, 0));
  Random random(3);
  std::vector<Written> written;
  uint64_t now = kStartMonotonic / kQuantum * kQuantum;
  for (int i = 0; i < 20'000; ++i) {
    now += random.below(100) * kQuantum;
    Written next{};
    next.access.time_ns = now;
    next.access.weight_ns = random.below(2) ? random.below(50'000) * kQuantum : 0;
    next.access.address = random.next() >> (1 + random.below(60));
    next.access.bytes = 1 + random.below(64);
    next.access.bits = random.below(hpcrun::kAccessBits);
    next.access.object = random.below(100);
    next.node = nodes[random.below(nodes.size())];
    REQUIRE(stream.append(next.access, next.node));
    written.push_back(next);
  }
  stream.seal();
  CHECK_FALSE(stream.append(written[0].access, 0));
  recorder.finish();
  const std::vector<MeasuredAccess> read = whole_accesses(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(read.size() == written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    const auto& [access, node] = written[i];
    const bool is_same = read[i].time_ns == access.time_ns && read[i].weight_ns == access.weight_ns &&
                         read[i].address == access.address && read[i].bytes == access.bytes &&
                         read[i].bits == access.bits && read[i].object == access.object &&
                         read[i].node == node;
    REQUIRE(is_same);
  }
}

TEST_CASE("where a thread has its memory comes back") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_thread_memory({2, 0x7000, 0x9000, 0x9000});
  recorder.finish();
  const ProcessMeasurement read = read_measurement(recorder.path());
  const auto thread = std::ranges::find(read.threads, 2u, &MeasuredThread::index);
  REQUIRE(thread != read.threads.end());
  CHECK(thread->stack_low == 0x7000);
  CHECK(thread->stack_high == 0x9000);
  CHECK(thread->pointer == 0x9000);
}

TEST_CASE("repairs come back in the order of their times, of kinds that are known") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_repair({900, hpcrun::RepairKind::Placed, 3, 17, 48, 64, 16, 64, 0, 5000, 12, 0x7f40});
  recorder.file.write_repair({400, hpcrun::RepairKind::PlannedSite, 1, 9, 0, 128, 0, 128, 5, 0, 0, 0});
  recorder.file.write_repair({500, static_cast<hpcrun::RepairKind>(99), 1, 9, 0, 0, 0, 0, 0, 0, 0, 0});

  const std::vector<MeasuredRepair> repairs = read_measurement(recorder.path()).repairs;
  REQUIRE(repairs.size() == 2);
  CHECK(repairs[0].time_ns == 400);
  CHECK(repairs[0].kind == hpcrun::RepairKind::PlannedSite);
  CHECK(repairs[0].plan_entry == 5);
  CHECK(repairs[0].align == 128);
  CHECK(repairs[1].kind == hpcrun::RepairKind::Placed);
  CHECK(repairs[1].thread == 3);
  CHECK(repairs[1].node == 17);
  CHECK(repairs[1].bytes == 48);
  CHECK(repairs[1].align == 64);
  CHECK(repairs[1].offset == 16);
  CHECK(repairs[1].pad == 64);
  CHECK(repairs[1].conflicts == 5000);
  CHECK(repairs[1].remaining == 12);
  CHECK(repairs[1].address == 0x7f40);
}

TEST_CASE("what threads wrote by turns comes back in the order of lines, and nothing that is none") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_written({900, 3, 0x7f40, 0xff00, 8, 500, 490, 1, 489});
  recorder.file.write_written({800, 2, 0x7000, 0x1, 0, 5, 4, 3, 2});
  recorder.file.write_written({700, 1, 0x7000, 0, 0, 5, 4, 3, 2});    // no byte is set
  recorder.file.write_written({700, 1, 0x7001, 0xf, 0, 5, 4, 3, 2});  // not the address of a line
  const std::vector<MeasuredWritten> written = read_measurement(recorder.path()).written;
  REQUIRE(written.size() == 2);
  CHECK((written[0].line == 0x7000 && written[0].thread == 2 && written[0].object == 0));
  CHECK(written[1].time_ns == 900);
  CHECK(written[1].thread == 3);
  CHECK(written[1].line == 0x7f40);
  CHECK(written[1].bytes == 0xff00);
  CHECK(written[1].object == 8);
  CHECK(written[1].updates == 500);
  CHECK(written[1].interleaved == 490);
  CHECK(written[1].true_sharing == 1);
  CHECK(written[1].false_sharing == 489);
}

TEST_CASE("objects come back, with what is known of their ends") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_object({7, 0x5000, 48, 100, 2, 9, 32});
  recorder.file.write_object_end(7, 300);
  recorder.file.write_object({3, 0x6000, 0, 0, 0, 0, 0});
  recorder.file.write_object_end(11, 400);  // whose own record was lost
  recorder.finish();
  const std::vector<MeasuredObject> objects = read_measurement(recorder.path()).objects;
  REQUIRE(objects.size() == 3);
  CHECK(objects[0].id == 3);
  CHECK(objects[0].begin == 0x6000);
  CHECK(objects[0].died_ns == 0);
  CHECK(objects[1].id == 7);
  CHECK(objects[1].begin == 0x5000);
  CHECK(objects[1].bytes == 48);
  CHECK(objects[1].born_ns == 100);
  CHECK(objects[1].died_ns == 300);
  CHECK(objects[1].thread == 2);
  CHECK(objects[1].node == 9);
  CHECK(objects[1].align == 32);
  CHECK(objects[2].id == 11);
  CHECK(objects[2].died_ns == 400);
}

TEST_CASE("a thread without accesses has none, and one that was not attached drops them") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_thread_start(0, 1, 2, "main");
  hpcrun::AccessStream never_attached;
  CHECK_FALSE(never_attached.append({}, 0));
  recorder.finish();
  CHECK(whole_accesses(read_measurement(recorder.path()).threads.at(0)).empty());
}
