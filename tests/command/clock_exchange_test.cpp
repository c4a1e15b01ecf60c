// Clocks are compared by asking each other, and one rank of a node keeps the result.

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "prof/clock_exchange.h"
#include "prof/node_clock.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "prof-clock.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

fs::path own_record(const Folder& folder) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return folder.path / ("clock-" + std::string(host.data()) + ".json");
}

nlohmann::json read(const fs::path& file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in);
}

}  // namespace

TEST_CASE("a clock does not differ from itself by more than the error that is told") {
  const ClockServer server;
  REQUIRE(server.address().port != 0);
  REQUIRE_FALSE(server.address().addresses.empty());
  const auto difference = clock_difference(server.address());
  REQUIRE(difference);
  CHECK(std::abs(difference->offset_ns) <= difference->error_ns + 1);  // halves are cut
  CHECK(difference->error_ns < 1'000'000'000);
}

TEST_CASE("nobody answers who does not know the token, nor where there is nobody") {
  ClockAddress address;
  {
    const ClockServer server;
    address = server.address();
    address.token ^= 1;
    CHECK_FALSE(clock_difference(address));
    address.token ^= 1;
  }
  CHECK_FALSE(clock_difference(address));
  address.addresses = {"no address"};
  CHECK_FALSE(clock_difference(address));
  CHECK_FALSE(clock_difference(ClockAddress{}));
}

TEST_CASE("one rank of each other node compares clocks, at the begin and at the end") {
  const ClockServer server;
  const Folder folder;
  ClockAddress first = server.address();
  const NodeClock same_node(folder.path, first);
  CHECK_FALSE(fs::exists(own_record(folder)));

  first.host = "first";
  const NodeClock node(folder.path, first);
  const nlohmann::json begin = read(own_record(folder));
  CHECK(begin["reference"] == "first");
  CHECK(begin["begin"]["offset_ns"].is_number_integer());
  CHECK_FALSE(begin.contains("end"));
  const NodeClock other_rank(folder.path, first);
  other_rank.compare_again();
  CHECK(read(own_record(folder)) == begin);
  node.compare_again();
  CHECK(read(own_record(folder))["end"]["error_ns"].is_number_integer());
}

TEST_CASE("a node whose clock nobody answers leaves nothing") {
  const Folder folder;
  ClockAddress first;
  {
    const ClockServer server;
    first = server.address();
  }
  first.host = "first";
  const NodeClock node(folder.path, first);
  CHECK(fs::is_empty(folder.path));
  node.compare_again();
  CHECK(fs::is_empty(folder.path));
}
