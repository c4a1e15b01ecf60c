#pragma once
// A run on a machine without restrictions, to which tests add restrictions.

#include <string>
#include <vector>

#include "prof/base/message.h"
#include "prof/run/facts.h"
#include "prof/run/plan.h"
#include "prof/run/request.h"

namespace prof {

inline RunOptions options_of(const std::vector<std::string>& events, const std::string& repair = "") {
  RunOptions options;
  options.measuring.events = events;
  options.repair = repair;
  options.command = {"app", "-n", "4"};
  return options;
}

inline RunRequest request_of(const std::vector<std::string>& events, const std::string& repair = "") {
  return read_run_request(options_of(events, repair), nullptr);
}

inline RunFacts facts_of(const RunRequest& request) {
  RunFacts facts;
  facts.target = {"/bin/app", "/bin/app", hpcrun::ProgramKind::Dynamic};
  facts.sampled = sampled_events(request, parse_user_events(request.events));
  facts.probe = {hpcrun::Trigger::Sigtrap, 2e-6, true, true};
  facts.memory_events = "pebs,1@50#4#1cd#3#0#2#1";
  facts.libraries = {"/l/runtime.so", "/l/memory.so",  "/l/sync.so",      "/l/mpi.so",
                     "/l/opencl.so",  "/l/isolate.so", "/l/allocator.so", "/l/exec"};
  facts.kernel_release = "6.1.0-18-amd64";
  facts.mount_namespace = "4026531841";
  return facts;
}

// Returns the line with which `decide` refuses; empty if it does not.
template <typename Decide>
std::string refusal(const Decide& decide) {
  try {
    decide();
  } catch (const CommandError& error) {
    return error.status() == kOwnFailure ? error.what() : "another status";
  }
  return {};
}

inline std::string refusal_of(const RunRequest& request, const RunFacts& facts) {
  return refusal([&] { plan_run(request, facts); });
}

}  // namespace prof
