// make_ranks FILE -o DIRECTORY [--ranks N] [--threads N] [--contexts N] [--records N] [--nodes N] [--seed N]
// Writes the measurements of a parallel job, as if the process that FILE was measured from had been one of
// its ranks: the modules and metrics of FILE, the call paths of its thread that has most, and more paths of
// the same call sites up to the number of contexts. Every rank has nearly all of the contexts, in an order of
// its own; what it spends in each is spread by a few per cent, as is the speed of nodes, and one rank in 500
// is slower.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

namespace {

namespace fs = std::filesystem;
using hpcrun::FrameKey;
using hpcrun::NodeId;
using prof::test::Random;

struct Job {
  std::string from, output;
  uint32_t ranks = 100;
  uint32_t threads = 1;
  uint32_t contexts = 5'000;  // of a thread
  uint32_t records = 20'000;  // of a thread's trace
  uint32_t ranks_of_node = 64;
  uint64_t seed = 1;
};

constexpr uint64_t kPeriodNs = 5'000'000;  // 200 samples a second
constexpr size_t kMaxDepth = 60;

// The job's own tree: what its ranks have in common.
struct Program {
  prof::ProcessMeasurement measured;
  std::vector<prof::MeasuredNode> nodes;  // as those of a thread
  std::vector<uint32_t> depth;
  std::vector<double> weight;  // of the time, adds up to 1
};

// Every rank leaves out one of twelve.
uint32_t contexts_of_program(const Job& job) {
  return job.contexts + job.contexts / 12 + 1;
}

Program make_program(const Job& job) {
  Program program{prof::read_measurement(job.from), {}, {}, {}};
  const auto largest = std::ranges::max_element(
      program.measured.threads, {}, [](const prof::MeasuredThread& thread) { return thread.nodes.size(); });
  if (largest == program.measured.threads.end() || largest->nodes.size() < 2)
    throw std::runtime_error(job.from + ": has no call paths");
  const uint32_t wanted = contexts_of_program(job);
  Random random(job.seed);
  program.nodes = largest->nodes;

  if (program.nodes.size() > wanted + 1) program.nodes.resize(wanted + 1);
  const size_t real = program.nodes.size();
  program.depth.assign(real, 0);
  for (size_t i = 1; i < real; ++i) program.depth[i] = program.depth[program.nodes[i].parent] + 1;
  while (program.nodes.size() <= wanted) {
    auto parent = static_cast<uint32_t>(random.below(program.nodes.size()));
    while (program.depth[parent] >= kMaxDepth) parent = program.nodes[parent].parent;
    // Of the same call site a path goes on once: the frames of a node's children differ.
    const FrameKey frame = program.nodes[1 + random.below(real - 1)].frame;
    const bool is_there = std::ranges::any_of(program.nodes, [&](const prof::MeasuredNode& node) {
      return node.parent == parent && node.frame == frame;
    });
    if (is_there) continue;
    program.nodes.push_back({parent, frame});
    program.depth.push_back(program.depth[parent] + 1);
  }
  double all = 0;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    program.weight.push_back(i == 0 ? 0
                                    : std::pow(static_cast<double>(random.below(1'000'000) + 1) * 1e-6, 6));
    all += program.weight.back();
  }
  for (double& weight : program.weight) weight /= all;
  return program;
}

// Between 1 - spread and 1 + spread.
double around_one(Random& random, double spread) {
  return 1 + spread * (static_cast<double>(random.below(2'000'001)) * 1e-6 - 1);
}

double slowness(const Job& job, uint32_t rank) {
  Random of_node(job.seed + rank / job.ranks_of_node + 1'000'000);
  Random of_rank(job.seed + rank + 2'000'000);
  return around_one(of_node, 0.01) * around_one(of_rank, 0.02) * (rank % 500 == 137 ? 1.3 : 1);
}

// The contexts of one thread in the order in which it came to them; parents first or not.
std::vector<uint32_t> shuffled_contexts(const Program& program, Random& random) {
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < program.nodes.size(); ++i)
    if (random.below(13) != 0) order.push_back(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

void write_thread(prof::test::Recorder& recorder, uint32_t index, const Program& program, const Job& job,
                  uint32_t rank, uint64_t start_ns) {
  prof::test::RecordedThread& thread = recorder.threads[index];
  recorder.file.write_thread_start(index, static_cast<int32_t>(1000 + rank + index), start_ns,
                                   index == 0 ? "main" : "worker");
  Random random(job.seed + rank * 1000 + index + 3'000'000);
  const double slow = slowness(job, rank);
  const std::vector<uint32_t> contexts = shuffled_contexts(program, random);
  std::vector<NodeId> nodes;
  std::vector<FrameKey> path;
  for (const uint32_t context : contexts) {
    path.clear();
    for (uint32_t at = context; at != 0; at = program.nodes[at].parent)
      path.push_back(program.nodes[at].frame);
    const NodeId node = thread.tree.insert(path.data(), static_cast<uint32_t>(path.size()));
    if (node == hpcrun::kNoNode) throw std::runtime_error("the tree is full");
    nodes.push_back(node);
    const double ns = program.weight[context] * job.records * kPeriodNs * slow * around_one(random, 0.05);
    const auto value = static_cast<uint64_t>(ns);
    if (value == 0) continue;
    if (!thread.tree.add(node, 0, value, std::max<uint64_t>(1, value / kPeriodNs)))
      throw std::runtime_error("the file is full");
  }
  uint64_t time = start_ns;
  size_t at = 0;
  for (uint32_t i = 0; i < job.records; ++i) {
    at = random.below(50) == 0 ? random.below(nodes.size()) : (at + random.below(16)) % nodes.size();
    time += static_cast<uint64_t>(static_cast<double>(kPeriodNs) * slow * around_one(random, 0.05));
    if (!thread.trace.append(time, nodes[at])) throw std::runtime_error("the file is full");
  }
  thread.seal();
  recorder.file.write_thread_end(index, time, job.records * kPeriodNs);
}

void write_rank(const Program& program, const Job& job, uint32_t rank) {
  const std::string host = "node" + std::to_string(10'000 + rank / job.ranks_of_node).substr(1);
  // Every node has a clock of its own since its start.
  const uint64_t start_ns = prof::test::kStartMonotonic + rank / job.ranks_of_node * 7'000'000'000u;
  const prof::MeasuredProcess& of = program.measured.process;
  hpcrun::ProcessInfo process{of.command.c_str(),
                              of.executable.c_str(),
                              host.c_str(),
                              static_cast<int32_t>(1000 + rank),
                              900,
                              static_cast<int32_t>(rank),
                              prof::test::kStartRealtime + rank * 10'000,
                              start_ns,
                              of.environment.c_str()};
  const fs::path path = fs::path(job.output) /
                        (host + "-" + std::to_string(rank) + "-" + std::to_string(1000 + rank) + "-0.prof");
  prof::test::Recorder recorder(path, process);
  for (const prof::MeasuredMetric& metric : program.measured.metrics)
    recorder.file.write_metric({metric.id, metric.name.c_str(), metric.unit.c_str(), metric.scale,
                                metric.source.c_str(), metric.requested_hz, metric.note.c_str()});
  for (const prof::MeasuredModule& module : program.measured.modules)
    recorder.file.write_module(module.id, module.path.c_str(), module.start, module.end, module.load_bias,
                               module.build_id.data(), static_cast<uint32_t>(module.build_id.size()));
  for (uint32_t t = 0; t < job.threads; ++t) recorder.add_thread();
  for (uint32_t t = 0; t < job.threads; ++t) write_thread(recorder, t, program, job, rank, start_ns);
  const uint64_t samples = uint64_t{job.records} * job.threads;
  recorder.file.counter(hpcrun::Counter::Samples) = samples;
  recorder.file.counter(hpcrun::Counter::Threads) = job.threads;
  recorder.file.stack_counter(0) = samples;
  recorder.finish(start_ns + (job.records + 1) * kPeriodNs);
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return static_cast<uint32_t>(std::stoul(i + 1 < argc ? argv[++i] : "")); };
    try {
      if (option == "-o" && i + 1 < argc) {
        job.output = argv[++i];
      } else if (option == "--ranks") {
        job.ranks = number();
      } else if (option == "--threads") {
        job.threads = number();
      } else if (option == "--contexts") {
        job.contexts = number();
      } else if (option == "--records") {
        job.records = number();
      } else if (option == "--nodes") {
        job.ranks_of_node = std::max(1u, number());
      } else if (option == "--seed") {
        job.seed = number();
      } else {
        job.from = option;
      }
    } catch (const std::exception&) {
      job.from.clear();
      break;
    }
  }
  if (job.from.empty() || job.output.empty()) {
    std::fputs(
        "usage: make_ranks FILE -o DIRECTORY [--ranks N] [--threads N] [--contexts N] [--records N] "
        "[--nodes RANKS_OF_A_NODE] [--seed N]\n",
        stderr);
    return 2;
  }
  try {
    const Program program = make_program(job);
    fs::create_directories(job.output);
    for (uint32_t rank = 0; rank < job.ranks; ++rank) write_rank(program, job, rank);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_ranks: %s\n", error.what());
    return 1;
  }
}
