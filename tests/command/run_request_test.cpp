// Which options of `prof run` can be combined, and how closely a run with repairs is sampled.

#include "prof/run/request.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "prof/run/facts.h"
#include "run_example.h"

using namespace prof;
using Catch::StartsWith;

namespace {

std::string refusal_of_options(const RunOptions& options, const RankFacts* rank = nullptr) {
  return refusal([&] { read_run_request(options, rank); });
}

}  // namespace

TEST_CASE("options that do not fit together are refused before anything is looked up") {
  struct Case {
    const char* line;
    std::vector<std::string> events;
    std::string repair;
    std::function<void(RunOptions&)> change;
  };
  const auto verifies = [](RunOptions& options) { options.verify = 3; };
  const auto keeps = [](RunOptions&) {};
  const std::vector<Case> cases = {
      {"--verify times the repairs of --repair;", {}, "", verifies},
      {"--verify times the repairs of --repair;", {}, "none", verifies},
      {"--verify times repairs of heap layout and locks", {}, "isolate:always", verifies},
      {"--verify needs the analysis",
       {},
       "layout",
       [](RunOptions& options) {
         options.verify = 3;
         options.measuring.analyze = false;
       }},
      {"-e contention:pages cannot be combined with --repair;", {"contention:pages"}, "layout", keeps},
      {"--repair: 'colour' is not one of", {}, "colour", keeps},
      {"--repair=layout: needs a file;", {}, "layout:", keeps},
      {"locks takes no rate", {"locks@5"}, "", keeps},
      {"contention uses the samples of CPUTIME", {"contention@5", "CPUTIME@7"}, "", keeps},
      {"contention is selected more than once", {"contention", "contention:pages"}, "", keeps},
  };
  for (const Case& one : cases) {
    RunOptions options = options_of(one.events, one.repair);
    one.change(options);
    CHECK_THAT(refusal_of_options(options), StartsWith(one.line));
  }
  CHECK(refusal_of_options(options_of({"locks", "contention"}, "layout,locks")) == "");
}

TEST_CASE("one rank of many neither verifies nor aggregates what is in directories of ranks") {
  RankFacts rank;
  RunOptions options = options_of({}, "layout");
  options.verify = 3;
  CHECK_THAT(refusal_of_options(options, &rank),
             StartsWith("--verify runs the program again, which a single MPI rank"));
  options.verify = 0;
  options.aggregate = Aggregate::Node;
  CHECK(refusal_of_options(options, &rank) == "");
  rank.shares_directory = false;
  options.measuring.output = "out-%r";
  CHECK(refusal_of_options(options, &rank) ==
        "--aggregate=node needs one directory for all ranks; leave %r and %p out of -o out-%r");
}

TEST_CASE("what is followed is taken out of the events that are sampled") {
  const RunRequest both = request_of({"REALTIME", "locks", "contention"});
  CHECK(both.locks);
  CHECK(both.contention == ContentionRequest::Sampled);
  CHECK(both.events == std::vector<std::string>{"REALTIME", "CPUTIME@250"});
  CHECK_FALSE(both.isolates());
  const RunRequest pages = request_of({"contention:pages"});
  CHECK(pages.isolates());
  CHECK(pages.isolating_option() == std::string("-e contention:pages"));
  CHECK(request_of({}, "isolate").isolating_option() == std::string("--repair=isolate"));
}

TEST_CASE("a run that repairs is sampled at a low rate unless the user asks for more") {
  const auto sampled = [](const RunRequest& request) {
    return sampled_events(request, parse_user_events(request.events));
  };
  const RunRequest repairs = request_of({}, "layout,locks");
  CHECK((repairs.is_for_repairs && repairs.rests && repairs.searches));
  CHECK(sampled(repairs).events[0].rate == 50);
  CHECK(sampled(repairs).search_rate == 250);

  const RunRequest asks = request_of({"contention@500"}, "layout");
  CHECK_FALSE((asks.is_for_repairs || asks.rests || asks.searches));
  CHECK(sampled(asks).events[0].rate == 500);
  CHECK(sampled(asks).search_rate == 0);

  const RunRequest names_clock = request_of({"CPUTIME@700"}, "layout");
  CHECK((names_clock.searches && !names_clock.rests));
  CHECK(sampled(names_clock).events[0].rate == 700);
  CHECK(sampled(names_clock).search_rate == 0);

  RunOptions traced = options_of({}, "locks");
  traced.measuring.trace = true;
  CHECK_FALSE(read_run_request(traced, nullptr).rests);
}

TEST_CASE("what an earlier run found is not searched for again, except pages to isolate") {
  const RunRequest given = request_of({}, "layout:/tmp/repair.json");
  CHECK(given.rests);
  CHECK_FALSE(given.searches);
  CHECK(given.contention == ContentionRequest::None);
  CHECK(sampled_events(given, parse_user_events(given.events)).search_rate == 0);
  CHECK(request_of({}, "layout:/tmp/repair.json,isolate").searches);
}

TEST_CASE("a sampled trace of devices without a trace is said to change nothing") {
  RunOptions options = options_of({});
  options.device_trace = DeviceTrace::Sampled;
  const Notes notes = read_run_request(options, nullptr).notes;
  REQUIRE(notes.all().size() == 1);
  CHECK(notes.all()[0].text == "--device-trace=sampled has no effect without --trace");
  CHECK_FALSE(notes.all()[0].is_remark);
  options.measuring.trace = true;
  CHECK(read_run_request(options, nullptr).notes.all().empty());
}
