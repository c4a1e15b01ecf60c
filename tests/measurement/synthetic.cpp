#include "tests/measurement/synthetic.h"

#include <elf.h>
#include <link.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "hpcrun/cct/access_stream.h"
#include "hpcrun/cct/waste_cells.h"
#include "hpcrun/measurement/waste_metrics.h"
#include "tests/measurement/device_recorder.h"

namespace prof::test {
namespace {

using hpcrun::Counter;
using hpcrun::FrameKey;
using hpcrun::NodeId;

constexpr uint64_t kIntervalNs = 1'000'000;
constexpr unsigned kCallSites = 4'000;  // per module
constexpr size_t kMaxStack = 60;
constexpr uint64_t kAllWaste = 2 | 4 | 8 | hpcrun::kWasteExact;

struct Module {
  std::string path;
  uint64_t load_bias = 0;
  uint64_t end = 0;
  uint64_t text = 0;  // .text as the file states it
  uint64_t text_bytes = 0;
};

void find_text(Module& module) {
  std::ifstream stream(module.path, std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data());
  if (file.size() < sizeof *header) throw std::runtime_error("cannot read " + module.path);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data() + header->e_shoff);
  const char* names = file.data() + sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (std::string(names + sections[i].sh_name) != ".text") continue;
    module.text = sections[i].sh_addr;
    module.text_bytes = sections[i].sh_size;
  }
  if (module.text_bytes == 0) throw std::runtime_error("no .text in " + module.path);
}

// Returns the program itself and libc.
std::vector<Module> modules_here() {
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        std::string path = info->dlpi_name;
        if (path.empty()) path = std::filesystem::read_symlink("/proc/self/exe");
        auto& found = *static_cast<std::vector<Module>*>(out);
        if (!found.empty() && path.find("/libc.so") == std::string::npos) return 0;
        Module module{path, info->dlpi_addr};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD) module.end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
        }
        found.push_back(module);
        return 0;
      },
      &modules);
  for (Module& module : modules) find_text(module);
  return modules;
}

class CallSites {
 public:
  CallSites(const std::vector<Module>& modules, Random& random) {
    for (size_t m = 0; m < modules.size(); ++m) {
      for (unsigned i = 0; i < kCallSites; ++i) {
        frames_.push_back(hpcrun::make_frame(static_cast<uint16_t>(m + 1),
                                             modules[m].text + random.below(modules[m].text_bytes)));
      }
    }
  }
  FrameKey any(Random& random) const { return frames_[random.below(frames_.size())]; }

 private:
  std::vector<FrameKey> frames_;
};

// Walks up and down a stack, inserting each state, until the tree has all its contexts.
std::vector<NodeId> grow_tree(hpcrun::CallingContextTree& tree, const CallSites& sites, uint32_t contexts,
                              Random& random) {
  std::vector<NodeId> nodes;
  std::vector<FrameKey> stack;  // root first
  std::vector<FrameKey> path;
  NodeId last = 0;
  while (last < contexts) {
    if (stack.size() > 3 && (stack.size() == kMaxStack || random.below(100) < 49)) {
      stack.pop_back();
      continue;
    }
    stack.push_back(sites.any(random));
    path.assign(stack.rbegin(), stack.rend());
    const NodeId node = tree.insert(path.data(), static_cast<uint32_t>(path.size()));
    if (node == hpcrun::kNoNode) throw std::runtime_error("the tree is full");
    if (node > last) nodes.push_back(last = node);
  }
  return nodes;
}

void write_waits(Recorder& recorder, uint32_t index, const std::vector<NodeId>& nodes,
                 const SyntheticRun& run) {
  hpcrun::WaitStream waits;
  if (!waits.attach(recorder.file, recorder.threads[index].arena, index))
    throw std::runtime_error("no memory for waits");
  const uint64_t period = run.samples * kIntervalNs / run.tasks;
  const auto metric = static_cast<uint16_t>(hpcrun::DeviceMetric::CpuIdle);
  for (uint64_t i = 0; i < run.tasks; ++i) {
    const uint64_t begin = kStartMonotonic + i * period + period / 8;
    const NodeId node = nodes[i % nodes.size()];
    if (!recorder.threads[index].tree.add(node, metric, period / 8) ||
        !waits.append({begin, begin + period / 8, 0, 0, period / 16}, node))
      throw std::runtime_error("the file is full: errno " + std::to_string(recorder.file.failure()));
  }
  waits.seal();
}

// Writes ten accesses per object.
void write_accesses(Recorder& recorder, uint32_t index, const std::vector<NodeId>& nodes,
                    const SyntheticRun& run) {
  hpcrun::AccessStream accesses;
  if (!accesses.attach(recorder.file, recorder.threads[index].arena, index))
    throw std::runtime_error("no memory for accesses");
  for (uint64_t i = 0; i * run.accesses_every < run.samples; ++i) {
    const uint64_t time = kStartMonotonic + i * run.accesses_every * kIntervalNs;
    const uint64_t object = i / 10;
    if (i % 10 == 0)
      recorder.file.write_object(
          {index << 16 | object, 0x7f0000000000 + object * 4096, 256, time, index, nodes[0], 1});
    if (!accesses.append({time, kIntervalNs, 0x7f0000000000 + object * 4096 + i % 256, 8,
                          hpcrun::kAccessReads, (index << 16 | object) + 1},
                         nodes[i % nodes.size()]))
      throw std::runtime_error("the file is full: errno " + std::to_string(recorder.file.failure()));
    if (i % 10 == 9) recorder.file.write_object_end(index << 16 | object, time);
  }
  recorder.file.write_repair({kStartMonotonic, hpcrun::RepairKind::Placed, index, nodes[0], 256, 64, 16, 64,
                              0, 1000, 10, 0x7f0000000000});
  accesses.seal();
}

// Writes pairs of consecutive nodes of one thread, of each kind in turn, and the totals of their first nodes.
void write_waste(Recorder& recorder, uint32_t index, const std::vector<NodeId>& nodes,
                 const SyntheticRun& run) {
  hpcrun::WasteCells cells;
  if (!cells.attach(recorder.file, recorder.threads[index].arena, index))
    throw std::runtime_error("no memory for wasted accesses");
  for (uint32_t i = 0; i < run.wasted; ++i) {
    const auto kind = static_cast<hpcrun::WasteKind>(1 + i % 3);
    const NodeId first = nodes[i % nodes.size()], second = nodes[(i + 1) % nodes.size()];
    hpcrun::WasteCell* const pair = cells.make({first, index, second, index, kind, 0},
                                               {nodes[0], index, uint64_t{0x7f0000000000} + i * 8, 8});
    hpcrun::WasteCell* const total = cells.make({first, index, 0, 0, kind, 0}, {});
    if (!pair || !total) throw std::runtime_error("no room for wasted accesses");
    hpcrun::WasteCells::add(*pair, 1 + i % 5, 8 * (1 + i % 5));
    hpcrun::WasteCells::add(*total, 10, 80);
  }
  cells.seal();
}

void write_thread(Recorder& recorder, uint32_t index, const CallSites& sites, const SyntheticRun& run) {
  Random random(run.seed + index + 100);
  RecordedThread& thread = recorder.threads[index];
  recorder.file.write_thread_start(index, 4242 + static_cast<int32_t>(index), kStartMonotonic,
                                   index == 0 ? "main" : "worker");
  const std::vector<NodeId> nodes = grow_tree(thread.tree, sites, run.contexts, random);
  uint64_t time = kStartMonotonic;
  size_t at = 0;
  for (uint64_t i = 0; i < run.samples; ++i) {
    // Mostly near the last context, sometimes elsewhere, like the phases of a program.
    at = random.below(100) == 0 ? random.below(nodes.size()) : (at + random.below(64)) % nodes.size();
    time += kIntervalNs - kIntervalNs / 20 + random.below(kIntervalNs / 10);
    if (!thread.tree.add(nodes[at], 0, kIntervalNs) || !thread.trace.append(time, nodes[at])) {
      throw std::runtime_error("the file is full: errno " + std::to_string(recorder.file.failure()));
    }
  }
  if (run.queues > 0) write_waits(recorder, index, nodes, run);
  if (run.accesses_every > 0) write_accesses(recorder, index, nodes, run);
  if (run.wasted > 0) write_waste(recorder, index, nodes, run);
  thread.seal();
  recorder.file.write_thread_end(index, time, run.samples * kIntervalNs);
}

void write_queue(Recorder& recorder, uint32_t number, uint32_t track, const CallSites& sites,
                 const SyntheticRun& run) {
  Random random(run.seed + track + 100);
  RecordedTrack queue(recorder.file, track, run.device_period_ns);
  const std::string name = "kernel_" + std::to_string(number);
  const FrameKey kernel = hpcrun::make_frame(hpcrun::kModuleDevice, number + 1);
  recorder.file.write_symbol(kernel, name.c_str());
  recorder.file.write_queue(track, 0, kStartMonotonic, ("queue " + std::to_string(number)).c_str());
  const FrameKey path[] = {kernel, sites.any(random), sites.any(random)};
  const NodeId node = queue.tree.insert(path, std::size(path));
  const uint64_t period = run.samples * kIntervalNs / run.tasks;
  const uint64_t length = number % 2 == 0 ? period / 2 : period + period / 2;
  const auto metric = static_cast<uint16_t>(hpcrun::DeviceMetric::GpuExecutionTime);
  for (uint64_t i = 0; i < run.tasks; ++i) {
    const uint64_t submit = kStartMonotonic + i * period;
    const uint64_t start = submit + period / 8;
    if (!queue.tree.add(node, metric, length) ||
        !queue.tasks.append({submit, start, start + length}, node, static_cast<uint32_t>(i % run.threads)))
      throw std::runtime_error("the file is full: errno " + std::to_string(recorder.file.failure()));
  }
  queue.seal();
}

void write_device(Recorder& recorder, const CallSites& sites, const SyntheticRun& run) {
  announce(hpcrun::kDeviceMetrics, recorder.file);
  recorder.file.write_device({0, run.threads, kStartMonotonic, "synthetic device", "uuid", "synthetic", "1"});
  RecordedTrack(recorder.file, run.threads).seal();
  for (uint32_t q = 0; q < run.queues; ++q) write_queue(recorder, q, run.threads + 1 + q, sites, run);
}

}  // namespace

void write_synthetic(const std::filesystem::path& path, const SyntheticRun& run) {
  const std::vector<Module> modules = modules_here();
  Random random(run.seed);
  const CallSites sites(modules, random);
  hpcrun::ProcessInfo process = process_info();
  process.executable = modules[0].path.c_str();
  Recorder recorder(path, process);
  recorder.file.write_metric({0, "CPUTIME", "sec", 1e-9, "synthetic", 1000, ""});
  for (size_t m = 0; m < modules.size(); ++m) {
    recorder.file.write_module(static_cast<uint16_t>(m + 1), modules[m].path.c_str(), modules[m].load_bias,
                               modules[m].end, modules[m].load_bias, nullptr, 0);
  }
  if (run.wasted > 0) {
    announce(hpcrun::kWasteMetrics, recorder.file);
    recorder.file.counter(Counter::LooksForWaste) = kAllWaste;
  }
  for (uint32_t t = 0; t < run.threads; ++t) recorder.add_thread();
  for (uint32_t t = 0; t < run.threads; ++t) write_thread(recorder, t, sites, run);
  if (run.queues > 0) write_device(recorder, sites, run);
  const uint64_t samples = run.samples * run.threads;
  recorder.file.counter(Counter::Samples) = samples;
  recorder.file.counter(Counter::Threads) = run.threads;
  recorder.file.counter(Counter::HandlerNanoseconds) = samples * 3'000;
  recorder.file.stack_counter(0) = samples;
  recorder.file.finish(kStartMonotonic + (run.samples + 1) * kIntervalNs);
}

}  // namespace prof::test
