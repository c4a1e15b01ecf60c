#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "analysis/import/perf/address_space.h"
#include "analysis/import/perf/kernel_symbols.h"
#include "analysis/import/perf/recording.h"
#include "tests/analysis/database/rules.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/import/imported.h"
#include "tests/analysis/import/perf_writer.h"

using namespace prof;
using namespace prof::test;

namespace {

using Points = std::map<std::string, double>;

// Returns whole nanoseconds.
Points nanoseconds(const Database& database, size_t profile) {
  Points found = points(database, profile, 0);
  for (auto& [path, value] : found) value = std::round(value * 1e9);
  return found;
}

void check_small(const Import& import) {
  const Database& database = import.database;
  REQUIRE(database.metrics.size() == 2);
  CHECK(database.metrics[0].name == "cpu-clock");
  CHECK(database.metrics[0].unit == "sec");
  CHECK(database.metrics[1].name == "faults:u");
  CHECK(database.metrics[1].unit.empty());
  REQUIRE(database.profiles.size() == 3);
  CHECK(database.profiles[0].id == ProfileId{"elsewhere", -1, 100, 0, "app"});
  CHECK(database.profiles[1].id == ProfileId{"elsewhere", -1, 100, 1, "worker"});
  CHECK(database.profiles[2].id == ProfileId{"elsewhere", -1, 200, 0, "app"});
  CHECK(nanoseconds(database, 0) == Points{{"main thread/[app]/[app]", 900},
                                           {"main thread/[app]/bpf_prog_1/[disk.ko]/[kernel]", 1000},
                                           {"main thread/[jit]", 1000}});
  CHECK(nanoseconds(database, 1) == Points{{"application thread/[unknown]/[app]", 950}});
  CHECK(points(database, 2, 1) == Points{{"main thread/[app]", 3}});
  CHECK(run_of(database).dump(2).find("\"lost\": 7") != std::string::npos);
}

std::vector<TraceRecord> trace_of(const Database& database, size_t profile) {
  std::vector<TraceRecord> all, block;
  while (database.traces.at(profile)(block)) all.insert(all.end(), block.begin(), block.end());
  return all;
}

class Samples : public perf::Visitor {
 public:
  void visit(const perf::Sample& sample) override { samples.push_back(sample); }
  void visit(const perf::Mapping&) override {}
  void visit(const perf::Name&) override {}
  void visit(const perf::Fork&) override {}
  void visit(const perf::KernelSymbol&) override {}
  void lost(uint64_t) override {}
  std::vector<perf::Sample> samples;
};

}  // namespace

TEST_CASE("threads and processes of a perf recording become profiles, its events metrics") {
  check_small(import_text(small_recording().file()));
}

TEST_CASE("what perf wrote into a pipe is read as a file is") {
  check_small(import_text(small_recording().pipe()));
}

TEST_CASE("compressed records are read as others are, wherever they were divided") {
  check_small(import_text(small_recording().file(true)));
}

TEST_CASE("records are taken in the order of their times") {
  PerfWriter writer;
  writer.event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  // Records in the order in which one processor's buffer precedes another's.
  writer.sample({.ip = 0x400010, .time = 2000, .period = 5, .chain = {}});
  writer.map(100, 0x400000, 0x1000, 0, "/opt/late", 1000);
  CHECK(points(import_text(writer.file()).database).begin()->first == "main thread/[late]");
}

TEST_CASE("a program that is executed starts a profile of its own") {
  PerfWriter writer;
  writer.event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  writer.name(100, 100, "shell", 1);
  writer.map(100, 0x400000, 0x1000, 0, "/bin/shell", 2);
  writer.sample({.ip = 0x400010, .time = 10, .period = 5, .chain = {}});
  writer.name(100, 100, "app", 20, true);
  writer.sample({.ip = 0x400010, .time = 30, .period = 7, .chain = {}});
  const Database database = import_text(writer.file()).database;
  REQUIRE(database.profiles.size() == 2);
  CHECK(database.profiles[0].id.thread_name == "shell");
  CHECK(database.profiles[1].id.thread_name == "app");
  CHECK(nanoseconds(database, 0) == Points{{"main thread/[shell]", 5}});
  CHECK(nanoseconds(database, 1) == Points{{"main thread/[unknown]", 7}});
}

TEST_CASE("a clock's samples become a trace with the gaps between them") {
  PerfWriter writer;
  writer.event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/a", 0);
  for (const uint64_t time : {2000, 3010, 9000})
    writer.sample({.ip = 0x400010, .time = time, .period = 1000, .chain = {}});
  const std::vector<TraceRecord> trace = trace_of(import_text(writer.file()).database, 0);
  REQUIRE(trace.size() == 5);
  const uint32_t context = trace[0].context;
  CHECK(trace == std::vector<TraceRecord>{
                     {1000, context}, {2000, context}, {3010, kNone}, {8000, context}, {9000, kNone}});
}

TEST_CASE("addresses, weights and sources of memory samples are read") {
  PerfWriter writer(PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
  writer.event("mem-loads", PERF_TYPE_RAW, 0x1cd);
  writer.sample({.ip = 1, .time = 1, .address = 0xabc0, .weight = 230, .data_source = 0x68100142});
  std::vector<std::string> warnings;
  const std::string file = writer.file();
  const perf::Recording recording(bytes_of(file), "test", warnings);
  Samples seen;
  CHECK(recording.replay(seen) == 0);
  REQUIRE(seen.samples.size() == 1);
  CHECK(seen.samples[0].data_address == 0xabc0);
  CHECK(seen.samples[0].weight == 230);
  CHECK(seen.samples[0].data_source == 0x68100142);
  CHECK(recording.events()[0].name == "mem-loads");
}

TEST_CASE("samples whose events say otherwise where their times are leave the trace in order") {
  PerfWriter writer;
  writer.event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  writer.event("minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
  writer.sample({.ip = 500, .time = 10, .event = 1});
  writer.sample({.ip = 400, .time = 20, .event = 1});
  std::string file = writer.file();
  // With this description, samples of the second event have their time at the position of the code address.
  const size_t header = sizeof(perf::FileHeader) + 2 * sizeof(uint64_t);
  const size_t type =
      header + sizeof(perf_event_attr) + sizeof(perf::Section) + offsetof(perf_event_attr, sample_type);
  const uint64_t without_ip = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
  std::memcpy(file.data() + type, &without_ip, sizeof without_ip);
  CHECK(broken_rule(import_text(file).database).empty());
}

TEST_CASE("a recording that is cut keeps what is before the cut") {
  const std::string whole = small_recording().file();
  ImportOptions options;
  options.format = ImportFormat::Perf;
  size_t refused = 0, used = 0;
  for (size_t bytes = 8; bytes < whole.size(); bytes += 3) {
    try {
      const Import import = import_text(whole.substr(0, bytes), options);
      CHECK_FALSE(import.warnings.empty());
      ++used;
    } catch (const ImportError& error) {
      CHECK(error.kind() == ImportError::Kind::Damaged);
      ++refused;
    }
  }
  CHECK(refused > 0);
  CHECK(used > whole.size() / 3 / 2);
}

TEST_CASE("names in a recording that are not UTF-8 are made so") {
  PerfWriter writer;
  writer.event("cl\xffock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  writer.name(100, 100, "\xfe", 0);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/\xfd", 0);
  writer.sample({.ip = 0x400010, .time = 1, .period = 5});
  const Import import = import_text(writer.file());
  CHECK(broken_rule(import.database).empty());
  CHECK(import.database.metrics[0].name == "cl\xef\xbf\xbdock");
}

TEST_CASE("a record that states more than it holds is left out alone") {
  PerfWriter writer;
  writer.event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/a", 0);
  writer.sample({.ip = 0x400010, .time = 1, .period = 5, .chain = {}});
  writer.sample({.ip = 0x400010, .time = 2, .period = 7, .chain = {0x1111111111111111}});
  writer.sample({.ip = 0x400010, .time = 3, .period = 11, .chain = {}});
  std::string file = writer.file();
  const size_t chain = file.find(std::string(8, '\x11'));
  REQUIRE(chain != std::string::npos);
  file[chain - 8 + 3] = '\x7f';  // the length of the chain before it
  const Import import = import_text(file);
  REQUIRE_FALSE(import.warnings.empty());
  CHECK(import.warnings[0].find("1 damaged record") != std::string::npos);
  CHECK(nanoseconds(import.database, 0) == Points{{"main thread/[a]", 16}});
}

TEST_CASE("foreign and older recordings are refused by name") {
  CHECK(failure_of("2ELIFREP" + std::string(200, '\0')) == ImportError::Kind::Unsupported);
  CHECK(failure_of("PERFFILE" + std::string(200, '\0')) == ImportError::Kind::Unsupported);
  CHECK(failure_of("PERFILE2") == ImportError::Kind::Damaged);
  CHECK(failure_of("PERFILE2" + std::string(200, '\0')) == ImportError::Kind::Damaged);
}

TEST_CASE("a mapping replaces what it covers and keeps the rest") {
  perf::AddressSpace space;
  space.map(0x1000, 0x4000, 0, 1);
  const perf::AddressSpace parent = space;
  space.map(0x2000, 0x1000, 0x100, 2);
  perf::AddressSpace::Found found{};
  REQUIRE(space.find(0x1fff, found));
  CHECK((found.file == 1 && found.file_offset == 0xfff));
  REQUIRE(space.find(0x2000, found));
  CHECK((found.file == 2 && found.file_offset == 0x100));
  REQUIRE(space.find(0x3000, found));
  CHECK((found.file == 1 && found.file_offset == 0x2000));
  CHECK_FALSE(space.find(0x5000, found));
  CHECK_FALSE(space.find(0xfff, found));
  REQUIRE(parent.find(0x2000, found));
  CHECK(found.file == 1);
}

TEST_CASE("kernel functions are found wherever the recorded kernel lay") {
  const perf::KernelSymbols symbols(
      "ffffffff81000000 T _text\nffffffff81000100 t first\nffffffff81000200 D data\n"
      "ffffffff81000300 T second\nffffffff81001000 T _etext\n"
      "ffffffffc0000000 t probe [disk]\n");
  REQUIRE(symbols.start() == 0xffffffff81000000);
  CHECK(symbols.find(0xffffffff81000250, 0)->name == "first");
  CHECK(symbols.find(0xffffffff92000310, 0x11000000)->name == "second");
  CHECK(symbols.find(0xffffffffc0000010, 0)->module == "disk");
  CHECK_FALSE(symbols.find(0xffffffffd1000010, 0x11000000));
  CHECK_FALSE(symbols.find(0x1000, 0));
  CHECK_FALSE(perf::KernelSymbols("0000000000000000 T _text\n").start());
}
