#include <zlib.h>

#include <catch2/catch.hpp>

#include "analysis/pprof/profile.pb.h"
#include "tests/analysis/import/imported.h"

using namespace prof;
using namespace prof::test;

namespace {

namespace pb = perftools::profiles;
using Points = std::map<std::string, double>;

// A profile under construction, with its string table.
class Writer {
 public:
  Writer() { text(""); }

  int64_t text(const std::string& words) {
    const auto [at, added] = texts_.try_emplace(words, static_cast<int64_t>(texts_.size()));
    if (added) profile.add_string_table(words);
    return at->second;
  }
  void type(const std::string& name, const std::string& unit) {
    pb::ValueType* const type = profile.add_sample_type();
    type->set_type(text(name));
    type->set_unit(text(unit));
  }
  uint64_t function(const std::string& name, const std::string& file, int64_t line) {
    pb::Function* const function = profile.add_function();
    function->set_id(static_cast<uint64_t>(profile.function_size()));
    function->set_name(text(name));
    function->set_filename(text(file));
    function->set_start_line(line);
    return function->id();
  }
  // Innermost function first.
  uint64_t location(const std::vector<std::pair<uint64_t, int64_t>>& lines, uint64_t mapping = 0,
                    uint64_t address = 0) {
    pb::Location* const location = profile.add_location();
    location->set_id(100 + static_cast<uint64_t>(profile.location_size()));
    location->set_mapping_id(mapping);
    location->set_address(address);
    for (const auto& [function, number] : lines) {
      pb::Line* const line = location->add_line();
      line->set_function_id(function);
      line->set_line(number);
    }
    return location->id();
  }
  pb::Sample* sample(const std::vector<uint64_t>& locations, const std::vector<int64_t>& values) {
    pb::Sample* const sample = profile.add_sample();
    for (const uint64_t location : locations) sample->add_location_id(location);
    for (const int64_t value : values) sample->add_value(value);
    return sample;
  }
  void label(pb::Sample* sample, const std::string& key, const std::string& words, int64_t number = 0) {
    pb::Label* const label = sample->add_label();
    label->set_key(text(key));
    label->set_str(words.empty() ? 0 : text(words));
    label->set_num(number);
  }
  std::string bytes() const { return profile.SerializeAsString(); }

  pb::Profile profile;

 private:
  std::map<std::string, int64_t> texts_;
};

Writer small_profile() {
  Writer writer;
  writer.type("samples", "count");
  writer.type("cpu", "nanoseconds");
  const uint64_t main = writer.function("main", "main.c", 10);
  const uint64_t work = writer.function("work", "work.c", 20);
  const uint64_t add = writer.function("add", "work.h", 5);
  const uint64_t outer = writer.location({{main, 12}});
  const uint64_t inner = writer.location({{add, 6}, {work, 25}});
  writer.sample({inner, outer}, {3, 3'000'000});
  writer.sample({outer}, {1, 1'000'000});
  return writer;
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("all sample types of a pprof profile become metrics") {
  const Database database = import_text(small_profile().bytes()).database;
  REQUIRE(database.metrics.size() == 2);
  CHECK(database.metrics[0].name == "samples");
  CHECK(database.metrics[0].unit.empty());
  CHECK(database.metrics[1].name == "cpu");
  CHECK(database.metrics[1].unit == "sec");
  CHECK(points(database, 0, 0) ==
        Points{{"main thread/main:12", 1}, {"main thread/main:12/work:25/+add:6", 3}});
  CHECK(total(database, 1) == Approx(0.004));
  CHECK(database.profiles[0].samples == 4);
  CHECK(database.functions[0].name == "main");
  CHECK(database.functions[0].line == 10);
}

TEST_CASE("gzipped profiles are read as plain ones are") {
  const std::string plain = small_profile().bytes();
  CHECK(points(import_text(gzipped(plain)).database) == points(import_text(plain).database));
  const std::string both = gzipped(plain.substr(0, 40)) + gzipped(plain.substr(40));
  CHECK(points(import_text(both).database) == points(import_text(plain).database));
  CHECK(failure_of(gzipped(plain).substr(0, 60)) == ImportError::Kind::Damaged);
}

TEST_CASE("labels of samples name threads and processes") {
  Writer writer = small_profile();
  writer.label(writer.profile.mutable_sample(0), "thread", "worker");
  writer.label(writer.profile.mutable_sample(0), "pid", "", 42);
  writer.label(writer.profile.mutable_sample(1), "thread", "main");
  writer.label(writer.profile.mutable_sample(1), "pid", "", 42);
  const Database database = import_text(writer.bytes()).database;
  REQUIRE(database.profiles.size() == 2);
  CHECK(database.profiles[0].id == ProfileId{"", -1, 42, 0, "worker"});
  CHECK(database.profiles[1].id == ProfileId{"", -1, 42, 1, "main"});
  CHECK(points(database, 1, 0) == Points{{"main thread/main:12", 1}});
}

TEST_CASE("locations without functions get names from their module's file") {
  Writer writer;
  writer.type("samples", "count");
  pb::Mapping* const mapping = writer.profile.add_mapping();
  mapping->set_id(7);
  mapping->set_memory_start(0x7f0000000000);
  mapping->set_memory_limit(0x7f0000100000);
  mapping->set_filename(writer.text("/nonexistent/libgone.so"));
  writer.sample({writer.location({}, 7, 0x7f0000001234)}, {5});
  writer.sample({writer.location({}, 0, 0x1234)}, {2});
  const Import import = import_text(writer.bytes());
  REQUIRE(import.warnings.size() == 1);
  CHECK(import.warnings[0].find("/nonexistent/libgone.so") != std::string::npos);
  CHECK(points(import.database) == Points{{"main thread/[libgone.so]", 5}, {"main thread/[0x1234]", 2}});
}

TEST_CASE("a profile without samples has no values but its metrics") {
  Writer writer;
  writer.type("alloc_space", "bytes");
  const Database database = import_text(writer.bytes()).database;
  CHECK(database.metrics.at(0).unit == "bytes");
  REQUIRE(database.profiles.size() == 1);
  CHECK(database.profiles[0].values.empty());
}

TEST_CASE("profiles that contradict themselves are refused") {
  ImportOptions options;
  options.format = ImportFormat::Pprof;
  const auto refused = [&](auto change) {
    Writer writer = small_profile();
    change(writer.profile);
    return failure_of(writer.bytes(), options) == ImportError::Kind::Damaged;
  };
  CHECK(refused([](pb::Profile& p) { p.clear_sample_type(); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_sample(0)->add_value(1); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_sample(0)->set_location_id(0, 999); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_location(0)->mutable_line(0)->set_function_id(999); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_location(0)->set_mapping_id(3); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_location(1)->set_id(p.location(0).id()); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_function(0)->set_name(9999); }));
  CHECK(refused([](pb::Profile& p) { p.mutable_function(0)->set_id(0); }));
  CHECK(failure_of("\x0a\xff\x01", options) == ImportError::Kind::Damaged);
}

TEST_CASE("no truncation of a profile makes the reader misbehave") {
  const std::string whole = small_profile().bytes();
  ImportOptions options;
  options.format = ImportFormat::Pprof;
  size_t refused = 0;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    try {
      import_text(whole.substr(0, bytes), options);
    } catch (const ImportError& error) {
      CHECK(error.kind() == ImportError::Kind::Damaged);
      ++refused;
    }
  }
  CHECK(refused > whole.size() / 2);
}

TEST_CASE("the values of a difference of two profiles keep their signs") {
  Writer writer;
  writer.type("samples", "count");
  const uint64_t faster = writer.function("faster", "a.c", 1);
  const uint64_t slower = writer.function("slower", "a.c", 9);
  writer.sample({writer.location({{faster, 2}})}, {-7});
  writer.sample({writer.location({{slower, 10}})}, {4});
  const Import import = import_text(writer.bytes());
  CHECK(points(import.database) == Points{{"main thread/faster:2", -7}, {"main thread/slower:10", 4}});
  CHECK(total(import.database) == -3);
  CHECK(import.database.profiles[0].samples == 11);
}

TEST_CASE("the default sample type of a profile is its first metric") {
  Writer writer = small_profile();
  CHECK(import_text(writer.bytes()).database.metrics[0].name == "samples");
  writer.profile.set_default_sample_type(writer.text("cpu"));
  const Import import = import_text(writer.bytes());
  REQUIRE(import.database.metrics.size() == 2);
  CHECK(import.database.metrics[0].name == "cpu");
  CHECK(import.database.metrics[1].name == "samples");
  CHECK(points(import.database, 0, 1) == points(import_text(small_profile().bytes()).database, 0, 0));
  writer.profile.set_default_sample_type(writer.text("no such type"));
  CHECK(import_text(writer.bytes()).database.metrics[0].name == "samples");
}
