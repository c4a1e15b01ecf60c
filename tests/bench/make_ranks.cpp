// make_ranks FILE -o DIRECTORY [--ranks N] [--threads N] [--contexts N] [--records N] [--nodes N] [--seed N]
//           [--waits] [--containers]
// Writes the measurements of a parallel job, as if the process measured in FILE had been one of its ranks. It
// uses the modules and metrics of FILE, the call paths of its largest thread, and more paths of the same call
// sites up to the number of contexts. Every rank has nearly all of the contexts, in an order of its own. Its
// costs are spread by a few per cent, as is the speed of nodes, and one rank in 500 is slower. Ranks leave
// their records and nodes their clocks, as in a real job.
//   --waits       FILE is from an MPI program: ranks wait for each other in its calls (made_waits.h)
//   --containers  one file per node with the files of its ranks, as with --aggregate=node

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/container_writer.h"
#include "hpcrun/measurement/reader.h"
#include "tests/bench/made_records.h"
#include "tests/bench/made_waits.h"
#include "tests/measurement/recorder.h"

namespace {

namespace fs = std::filesystem;
using hpcrun::FrameKey;
using hpcrun::NodeId;
using prof::test::Part;
using prof::test::Random;

struct Job {
  std::string from, output;
  uint32_t ranks = 100;
  uint32_t threads = 1;
  uint32_t contexts = 5'000;  // per thread
  uint32_t records = 20'000;  // in the trace of a thread
  uint32_t ranks_of_node = 64;
  uint64_t seed = 1;
  bool waits = false;
  bool containers = false;
};

constexpr uint64_t kPeriodNs = 5'000'000;  // 200 samples a second
constexpr size_t kMaxDepth = 60;
constexpr uint32_t kRecordsOfStep = 60;
constexpr uint32_t kMaxSteps = 64;

// The job's own tree, which its ranks share.
struct Program {
  prof::ProcessMeasurement measured;
  std::vector<prof::MeasuredNode> nodes;  // as those of a thread
  std::vector<uint32_t> depth;
  std::vector<double>
      weight;              // shares of the time with the sum 1; if ranks wait, 1 for work and 1 for waiting
  std::vector<Part> part;  // if ranks do not wait, all is work
  std::vector<prof::test::Steps> steps;  // one, or none if ranks do not wait
};

// Every rank omits one of twelve.
uint32_t contexts_of_program(const Job& job) {
  return job.contexts + job.contexts / 12 + 1;
}

Program make_program(const Job& job) {
  Program program{prof::read_measurement(job.from), {}, {}, {}, {}, {}};
  const auto largest = std::ranges::max_element(
      program.measured.threads, {}, [](const prof::MeasuredThread& thread) { return thread.nodes.size(); });
  if (largest == program.measured.threads.end() || largest->nodes.size() < 2)
    throw std::runtime_error(job.from + ": has no call paths");
  const uint32_t wanted = contexts_of_program(job);
  Random random(job.seed);
  program.nodes = largest->nodes;

  if (program.nodes.size() > wanted + 1) program.nodes.resize(wanted + 1);
  const size_t real = program.nodes.size();
  program.part = job.waits ? prof::test::parts_of(program.measured, program.nodes)
                           : std::vector<Part>(real, Part::Compute);
  const auto has = [&](Part part) { return std::ranges::find(program.part, part) != program.part.end(); };
  if (!has(Part::Compute) || (job.waits && !has(Part::Wait)))
    throw std::runtime_error(job.from +
                             ": does not wait in MPI, or not work; measure another rank, or for longer");
  program.depth.assign(real, 0);
  for (size_t i = 1; i < real; ++i) program.depth[i] = program.depth[program.nodes[i].parent] + 1;
  while (program.nodes.size() <= wanted) {
    auto parent = static_cast<uint32_t>(random.below(program.nodes.size()));
    while (program.depth[parent] >= kMaxDepth) parent = program.nodes[parent].parent;
    // A path continues only once at a call site: the frames of a node's children differ.
    const size_t site = 1 + random.below(real - 1);
    const FrameKey frame = program.nodes[site].frame;
    if (program.part[parent] != Part::Compute || program.part[site] != Part::Compute) continue;
    const bool is_there = std::ranges::any_of(program.nodes, [&](const prof::MeasuredNode& node) {
      return node.parent == parent && node.frame == frame;
    });
    if (is_there) continue;
    program.nodes.push_back({parent, frame});
    program.depth.push_back(program.depth[parent] + 1);
    program.part.push_back(Part::Compute);
  }
  double all = 0, all_waiting = 0;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    program.weight.push_back(i == 0 ? 0
                                    : std::pow(static_cast<double>(random.below(1'000'000) + 1) * 1e-6, 6));
    if (program.part[i] == Part::Neither) program.weight.back() = 0;
    (program.part[i] == Part::Wait ? all_waiting : all) += program.weight.back();
  }
  for (size_t i = 0; i < program.nodes.size(); ++i)
    program.weight[i] /= program.part[i] == Part::Wait ? all_waiting : all;
  return program;
}

// Returns a number between 1 - spread and 1 + spread.
double around_one(Random& random, double spread) {
  return 1 + spread * (static_cast<double>(random.below(2'000'001)) * 1e-6 - 1);
}

double slowness(const Job& job, uint32_t rank) {
  Random of_node(job.seed + rank / job.ranks_of_node + 1'000'000);
  Random of_rank(job.seed + rank + 2'000'000);
  return around_one(of_node, 0.01) * around_one(of_rank, 0.02) *
         (rank % 500 == (job.waits ? 137 % std::min(job.ranks, 500u) : 137) ? 1.3 : 1);
}

void add_steps(const Job& job, Program& program) {
  std::vector<double> of_ranks;
  for (uint32_t rank = 0; rank < job.ranks; ++rank) of_ranks.push_back(slowness(job, rank));
  const uint32_t steps = std::clamp(job.records / kRecordsOfStep, 8u, kMaxSteps) / 8 * 8;
  program.steps.emplace_back(of_ranks, job.seed + 4'000'000, static_cast<double>(job.records * kPeriodNs),
                             steps);
}

// Returns the contexts of one thread in the order in which it reached them; parents need not come first.
std::vector<uint32_t> shuffled_contexts(const Program& program, Random& random) {
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < program.nodes.size(); ++i)
    if (random.below(13) != 0 || program.part[i] != Part::Compute) order.push_back(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// Writes the trace of a thread that works and waits. `work`, `wait`: nodes in which it is meanwhile.
uint64_t write_steps(prof::test::RecordedThread& thread, const std::vector<prof::test::Steps::Step>& steps,
                     const std::vector<NodeId>& work, const std::vector<NodeId>& wait, Random& random,
                     uint64_t start_ns) {
  double end = static_cast<double>(start_ns);
  double time = end;
  const auto stay_until = [&](const std::vector<NodeId>& nodes) {
    for (; time < end; time += static_cast<double>(kPeriodNs))
      if (!thread.trace.append(static_cast<uint64_t>(time), nodes[random.below(nodes.size())]))
        throw std::runtime_error("the file is full");
  };
  for (const prof::test::Steps::Step& step : steps) {
    end += step.work_ns;
    stay_until(work);
    end += step.wait_ns;
    stay_until(wait);
  }
  return static_cast<uint64_t>(time);
}

void write_thread(prof::test::Recorder& recorder, uint32_t index, const Program& program, const Job& job,
                  uint32_t rank, uint64_t start_ns) {
  prof::test::RecordedThread& thread = recorder.threads[index];
  recorder.file.write_thread_start(index, static_cast<int32_t>(1000 + rank + index), start_ns,
                                   index == 0 ? "main" : "worker");
  Random random(job.seed + rank * 1000 + index + 3'000'000);
  const double slow = slowness(job, rank);
  const std::vector<uint32_t> contexts = shuffled_contexts(program, random);
  std::vector<NodeId> nodes, work, wait;
  std::vector<FrameKey> path;
  std::vector<prof::test::Steps::Step> steps;
  double work_ns = static_cast<double>(job.records * kPeriodNs) * slow, wait_ns = 0;
  if (index == 0 && !program.steps.empty()) {
    steps = program.steps.front().of_rank(rank);
    work_ns = 0;
    for (const prof::test::Steps::Step& step : steps) {
      work_ns += step.work_ns;
      wait_ns += step.wait_ns;
    }
    // Ranks that lack some contexts work as long as their steps require.
    double has = 0;
    for (const uint32_t context : contexts)
      if (program.part[context] == Part::Compute) has += program.weight[context];
    work_ns /= has;
  }
  for (const uint32_t context : contexts) {
    path.clear();
    for (uint32_t at = context; at != 0; at = program.nodes[at].parent)
      path.push_back(program.nodes[at].frame);
    const NodeId node = thread.tree.insert(path.data(), static_cast<uint32_t>(path.size()));
    if (node == hpcrun::kNoNode) throw std::runtime_error("the tree is full");
    nodes.push_back(node);
    const bool is_wait = program.part[context] == Part::Wait;
    const double ns = program.weight[context] * (is_wait ? wait_ns : work_ns) * around_one(random, 0.05);
    const auto value = static_cast<uint64_t>(ns);
    if (value == 0) continue;
    (is_wait ? wait : work).push_back(node);
    if (!thread.tree.add(node, 0, value, std::max<uint64_t>(1, value / kPeriodNs)))
      throw std::runtime_error("the file is full");
  }
  uint64_t time = start_ns;
  size_t at = 0;
  if (!steps.empty()) time = write_steps(thread, steps, work, wait, random, start_ns);
  for (uint32_t i = 0; steps.empty() && i < job.records; ++i) {
    at = random.below(50) == 0 ? random.below(nodes.size()) : (at + random.below(16)) % nodes.size();
    time += static_cast<uint64_t>(static_cast<double>(kPeriodNs) * slow * around_one(random, 0.05));
    if (!thread.trace.append(time, nodes[at])) throw std::runtime_error("the file is full");
  }
  thread.seal();
  recorder.file.write_thread_end(index, time, job.records * kPeriodNs);
}

uint64_t length_ns(const Job& job) {
  return (job.records + 1) * kPeriodNs;
}

std::string host_of(uint32_t node) {
  return "node" + std::to_string(10'000 + node).substr(1);
}

fs::path measurement_file(const Job& job, uint32_t rank) {
  return fs::path(job.output) / (host_of(rank / job.ranks_of_node) + "-" + std::to_string(rank) + "-" +
                                 std::to_string(1000 + rank) + "-0.prof");
}

void write_rank(const Program& program, const Job& job, uint32_t rank) {
  const uint32_t node = rank / job.ranks_of_node;
  const std::string host = host_of(node);
  const prof::test::NodeTime time = prof::test::time_of_node(node);
  const uint64_t start_ns = time.start_monotonic_ns;
  const prof::MeasuredProcess& of = program.measured.process;
  hpcrun::ProcessInfo process{of.command.c_str(),
                              of.executable.c_str(),
                              host.c_str(),
                              static_cast<int32_t>(1000 + rank),
                              900,
                              static_cast<int32_t>(rank),
                              time.start_realtime_ns,
                              start_ns,
                              of.environment.c_str()};
  prof::test::Recorder recorder(measurement_file(job, rank), process);
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
  recorder.finish(start_ns + length_ns(job));
  prof::test::write_rank_record(job.output, static_cast<int>(rank), of.command, host, time, length_ns(job));
  if (rank == 0) prof::test::write_rank_record(job.output, -1, of.command, host, time, length_ns(job));
}

void write_clocks(const Job& job) {
  for (uint32_t node = 1; node * job.ranks_of_node < job.ranks; ++node)
    prof::test::write_clock(job.output, host_of(node), host_of(0), prof::test::time_of_node(node),
                            length_ns(job));
}

// Packs each node's files into one, in which a rank's record follows its measurements.
void pack(const Job& job) {
  std::vector<std::vector<fs::path>> of_node((job.ranks + job.ranks_of_node - 1) / job.ranks_of_node);
  const fs::path directory = job.output;
  for (uint32_t rank = 0; rank < job.ranks; ++rank) {
    const uint32_t node = rank / job.ranks_of_node;
    const std::string number = std::to_string(rank);
    std::vector<fs::path>& files = of_node[node];
    if (node > 0 && files.empty()) files.push_back(directory / ("clock-" + host_of(node) + ".json"));
    files.push_back(measurement_file(job, rank));
    files.push_back(directory / ("run-" + number + ".json"));
  }
  for (uint32_t node = 0; node < of_node.size(); ++node) {
    const std::string host = host_of(node);
    const fs::path container = directory / (host + ".ranks");
    prof::ContainerWriter::create(container, {host, "/tmp/prof-made-" + host, "made"});
    prof::ContainerWriter writer(container, fs::file_size(container));
    for (const fs::path& file : of_node[node]) {
      writer.add(file);
      fs::remove(file);
    }
  }
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
      } else if (option == "--waits") {
        job.waits = true;
      } else if (option == "--containers") {
        job.containers = true;
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
        "[--nodes RANKS_OF_A_NODE] [--seed N] [--waits] [--containers]\n",
        stderr);
    return 2;
  }
  try {
    Program program = make_program(job);
    if (job.waits) add_steps(job, program);
    fs::create_directories(job.output);
    for (uint32_t rank = 0; rank < job.ranks; ++rank) write_rank(program, job, rank);
    write_clocks(job);
    if (job.containers) pack(job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_ranks: %s\n", error.what());
    return 1;
  }
}
