// Containers: what is added is read back, and damage costs only the damaged part.

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/container_format.h"
#include "hpcrun/measurement/container_writer.h"
#include "tests/measurement/recorder.h"

namespace {

using namespace prof;
using prof::test::TemporaryDirectory;
namespace fs = std::filesystem;

const std::vector<std::pair<std::string, std::string>> kFiles = {{"run-0.json", "{}"},
                                                                 {"empty", ""},
                                                                 {"a page.prof", std::string(4096, 'p')},
                                                                 {"more", std::string(5000, 'm')}};

class Packed {
 public:
  Packed() {
    ContainerWriter::create(path(), {"node7", "/tmp/local", "here"});
    ContainerWriter writer(path(), 0);
    for (const auto& [name, text] : kFiles) {
      std::ofstream(directory_ / name) << text;
      writer.add(directory_ / name);
      ends.push_back(fs::file_size(path()));
    }
  }
  fs::path path() const { return directory_ / "node7.ranks"; }
  fs::path operator/(const std::string& name) const { return directory_ / name; }

  std::vector<uint64_t> ends;  // after each of kFiles

 private:
  TemporaryDirectory directory_;
};

ContainerReader read(const fs::path& path) {
  ContainerReader reader(path);
  reader.read_on();
  reader.read_rest();
  return reader;
}

std::vector<std::string> names(const ContainerReader& reader) {
  std::vector<std::string> names;
  for (const StoredFile& member : reader.members()) names.push_back(member.path.filename().string());
  return names;
}

std::string bytes_of(const fs::path& path) {
  return contents_of(StoredFile(path)).value();
}

}  // namespace

TEST_CASE("What was added to a container comes back under its name") {
  const Packed packed;
  const ContainerReader reader = read(packed.path());
  CHECK(reader.owner().host == "node7");
  CHECK(reader.owner().local == "/tmp/local");
  CHECK(reader.owner().place == "here");
  CHECK(reader.damage().empty());
  REQUIRE(reader.members().size() == kFiles.size());
  for (size_t i = 0; i < kFiles.size(); ++i) {
    const StoredFile& member = reader.members()[i];
    CHECK(member.path == packed.path() / kFiles[i].first);
    CHECK(member.as_file() == packed / kFiles[i].first);
    CHECK(member.offset % hpcrun::kPageBytes == 0);
    CHECK(contents_of(member) == kFiles[i].second);
    CHECK(contents_of(find_stored(member.path).value()) == kFiles[i].second);
  }
  CHECK(!find_stored(packed.path() / "none"));
  CHECK_THROWS_AS(ContainerWriter::create(packed.path(), {}), std::system_error);
}

TEST_CASE("Members come to who reads on, one after the other") {
  const Packed packed;
  ContainerReader reader(packed.path());
  CHECK(reader.read_on());
  CHECK(!reader.read_on());
  std::ofstream(packed / "late") << "late";
  ContainerWriter(packed.path(), reader.end()).add(packed / "late");
  CHECK(reader.read_on());
  CHECK(names(reader).back() == "late");
  CHECK(reader.members().size() == kFiles.size() + 1);
}

TEST_CASE("Of a container that was cut anywhere the whole members are there, and the rest is named") {
  const Packed packed;
  const auto whole = static_cast<size_t>(fs::file_size(packed.path()));
  for (size_t bytes = whole; bytes-- > hpcrun::kContainerHeaderBytes;) {
    fs::resize_file(packed.path(), bytes);
    const auto left = std::ranges::count_if(packed.ends, [&](uint64_t end) { return end <= bytes; });
    const ContainerReader reader = read(packed.path());
    REQUIRE(reader.members().size() == static_cast<size_t>(left));
    const uint64_t end =
        left == 0 ? hpcrun::kContainerHeaderBytes : packed.ends[static_cast<size_t>(left) - 1];
    REQUIRE(reader.damage().empty() == (bytes <= next_member(end)));
  }
  for (size_t bytes : {4095u, 40u, 39u, 7u, 0u}) {
    fs::resize_file(packed.path(), bytes);
    REQUIRE(read(packed.path()).members().empty());
  }
}

TEST_CASE("A bit that fell over costs one member at most, and never changes one unseen") {
  const Packed packed;
  const std::string whole = bytes_of(packed.path());
  std::fstream file(packed.path(), std::ios::in | std::ios::out | std::ios::binary);
  size_t lost = 0;
  for (size_t at = 0; at < whole.size(); at += at % 4096 < 300 ? 1 : 61) {
    file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(whole[at] ^ 4)).flush();
    const ContainerReader reader = read(packed.path());
    if (at >= sizeof hpcrun::kContainerMagic && reader.owner().host == "node7") {
      size_t intact = 0;
      for (const StoredFile& member : reader.members()) {
        const std::optional<std::string> text = contents_of(member);
        const auto added = std::ranges::find(kFiles, member.path.filename().string(),
                                             &std::pair<std::string, std::string>::first);
        REQUIRE(added != kFiles.end());
        if (text) REQUIRE(*text == added->second);
        intact += text.has_value();
      }
      REQUIRE(intact + 1 >= kFiles.size());
      if (reader.members().size() < kFiles.size()) REQUIRE(!reader.damage().empty());
      lost += kFiles.size() - intact;
    }
    file.seekp(static_cast<std::streamoff>(at)).put(whole[at]).flush();
  }
  CHECK(lost > 400);  // includes each header and most contents
}

TEST_CASE("Where the header of a container is damaged its members are found") {
  const Packed packed;
  std::fstream(packed.path()).seekp(9).put('x');
  const ContainerReader reader = read(packed.path());
  CHECK(reader.members().size() == kFiles.size());
  CHECK(reader.damage() == packed.path().string() + ": its header is damaged");
}

TEST_CASE("Who adds next cuts off what a killed one had begun") {
  const Packed packed;
  const uint64_t known = packed.ends[1];
  // The third member is complete, although this was not recorded. The header of the fourth is missing.
  fs::resize_file(packed.path(), packed.ends[2]);
  fs::resize_file(packed.path(), packed.ends[3]);
  std::ofstream(packed / "next") << "next";
  {
    ContainerWriter writer(packed.path(), next_member(known));
    writer.add(packed / "next");
    writer.sync();
  }
  const ContainerReader reader = read(packed.path());
  CHECK(names(reader) == std::vector<std::string>{"run-0.json", "empty", "a page.prof", "next"});
  CHECK(reader.damage().empty());
  CHECK(contents_of(reader.members()[3]) == "next");
}

TEST_CASE("Zeros that a killed process had reserved take no room") {
  const Packed packed;
  std::string text = "begin" + std::string(8u << 20, '\0');
  std::ofstream(packed / "reserved", std::ios::binary) << text;
  ContainerWriter(packed.path(), 0).add(packed / "reserved");
  CHECK((contents_of(read(packed.path()).members().back()) == text));
  struct stat status {};
  REQUIRE(stat(packed.path().c_str(), &status) == 0);
  CHECK(status.st_blocks * 512 < 2 << 20);
}

TEST_CASE("A member that cannot be added leaves the container as it was") {
  const Packed packed;
  const std::string before = bytes_of(packed.path());
  ContainerWriter writer(packed.path(), 0);
  CHECK_THROWS_AS(writer.add(packed / "missing"), std::system_error);
  CHECK(bytes_of(packed.path()).substr(0, before.size()) == before);
  writer.add(packed / "empty");
  CHECK(read(packed.path()).members().size() == kFiles.size() + 1);
}

TEST_CASE("A container of a later major version is left out, and says so") {
  const Packed packed;
  std::string bytes = bytes_of(packed.path());
  hpcrun::ContainerHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.major = 2;
  header.checksum = hpcrun::crc32c(hpcrun::crc32c(0, &header, offsetof(hpcrun::ContainerHeader, checksum)),
                                   bytes.data() + sizeof header,
                                   header.host_bytes + header.local_bytes + header.place_bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ofstream(packed.path(), std::ios::binary) << bytes;
  const ContainerReader reader = read(packed.path());
  CHECK(reader.members().empty());
  CHECK(reader.damage().find("container format 2.0, but this prof reads 1.x") != std::string::npos);
}
