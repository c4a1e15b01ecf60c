// Imports perf's recordings: converts samples, mappings and names to a database.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/import/builder.h"
#include "analysis/import/formats.h"
#include "analysis/import/perf/address_space.h"
#include "analysis/import/perf/kernel_places.h"
#include "analysis/import/perf/mapped_files.h"
#include "analysis/import/perf/memory_samples.h"
#include "analysis/import/perf/recording.h"
#include "analysis/import/perf/sampled_tree.h"
#include "analysis/import/perf/thread_trace.h"
#include "analysis/import/perf/unwinder.h"
#include "analysis/pipeline/module_places.h"

namespace prof {

bool is_perf_data(std::span<const uint8_t> bytes) {
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), perf::kMagic.size()));
  return magic == perf::kMagic || magic == perf::kOldMagic || magic == perf::kForeignMagic;
}

namespace perf {
namespace {

constexpr double kNanosecond = 1e-9;
std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// Periods of a clock are nanoseconds, whatever its event is called.
bool is_clock(const perf_event_attr& attributes) {
  return attributes.type == PERF_TYPE_SOFTWARE &&
         (attributes.config == PERF_COUNT_SW_CPU_CLOCK || attributes.config == PERF_COUNT_SW_TASK_CLOCK);
}

struct Thread {
  uint32_t profile = 0;
  bool is_main = true;
  ThreadTrace trace;
};

struct Process {
  AddressSpace space;
  AddressSpace data;               // numbers of region_names_
  uint32_t number = 0;             // of the program in the process; changes with each exec
  int32_t threads = 1;             // thread numbers assigned so far, including the main thread's 0
  std::optional<uint32_t> memory;  // of MemorySamples; set once it has samples of accesses
};

class Importer : public Visitor {
 public:
  Importer(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options)
      : source_(source),
        options_(options),
        recording_(bytes, source.name, warnings_),
        here_(recording_.about().host == this_host()),
        unwinder_(options.attribution),
        files_(modules_, recording_.about().build_ids, source, {options.open_modules, here_}),
        memory_(recording_, options.attribution) {}

  Import run() {
    if (const size_t damaged = recording_.replay(*this); damaged > 0)
      warnings_.push_back(fmt::format("{}: {} damaged records; left out", source_.name, damaged));
    if (samples_ == 0) warnings_.push_back(fmt::format("{}: has no samples", source_.name));
    builder_.emplace(title());
    find_places();
    add_metrics();
    add_nodes();
    add_values();
    add_traces();
    for (auto& [pid, process] : processes_) keep_mappings(process);
    describe_run();
    Import result;
    result.warnings = std::move(warnings_);
    result.database = builder_->finish(run_, result.warnings);
    return result;
  }

  void visit(const Sample& sample) override;
  void visit(const Mapping& mapping) override;
  void visit(const Name& name) override;
  void visit(const Fork& fork) override;
  void visit(const KernelSymbol& symbol) override { kernel_.add(symbol); }
  void lost(uint64_t samples) override { run_.dropped["lost"] += samples; }

 private:
  using Frame = SampledTree::Frame;
  using Where = SampledTree::Where;
  struct Cell {
    double value = 0;
    uint64_t samples = 0;
  };

  Frame user_frame(const Process& process, int32_t pid, uint64_t address);
  Thread& thread_of(const Sample& sample);
  void find_frames(const Sample& sample, Process& process);
  void unwind(const Sample& sample, Process& process);
  void add_access(Process& process, const Thread& thread, const Sample& sample, uint32_t node);
  void keep_mappings(Process& process);
  void add_region(const Mapping& mapping);

  std::string title() const;
  void find_places();
  void add_metrics();
  void add_nodes();
  void add_values();
  void add_traces();
  void describe_run();

  const ImportSource& source_;
  const ImportOptions& options_;
  std::vector<std::string> warnings_;
  Recording recording_;
  bool here_;  // recorded on this machine
  Unwinder unwinder_;
  std::optional<DatabaseBuilder> builder_;
  ImportedRun run_;

  ModulePlaces modules_;
  MappedFiles files_;
  std::unordered_map<int32_t, Process> processes_;
  uint32_t programs_ = 0;
  std::map<std::pair<int32_t, int32_t>, std::string> names_;  // by process and thread
  std::map<std::tuple<int32_t, uint32_t, int32_t>, Thread> threads_;
  std::vector<ProfileId> profiles_;

  SampledTree tree_{modules_};
  std::vector<std::unordered_map<uint64_t, Cell>> values_;  // by profile, then node and event
  std::vector<uint32_t> chain_;                             // frames of a sample, innermost first
  std::vector<uint64_t> unwound_;
  uint64_t samples_ = 0;
  std::optional<uint64_t> first_ns_, last_ns_;
  std::vector<uint64_t> of_event_;
  size_t traced_event_ = SIZE_MAX;

  KernelPlaces kernel_;
  MemorySamples memory_;
  std::vector<std::string> region_names_;  // of memory without code
  std::unordered_map<std::string, uint32_t> region_numbers_;
  std::vector<uint32_t> contexts_;  // by node
  std::vector<uint32_t> metrics_;   // by event
};

Importer::Frame Importer::user_frame(const Process& process, int32_t pid, uint64_t address) {
  const MappedFiles::Code code = files_.code(process.space, pid, address);
  return {Where::Module, code.module, code.address};
}

void Importer::visit(const Mapping& mapping) {
  if (mapping.kernel) return kernel_.add(mapping);
  if (mapping.data) return add_region(mapping);
  processes_[mapping.pid].space.map(mapping.start, mapping.bytes, mapping.file_offset,
                                    files_.number(mapping));
}

void Importer::visit(const Name& name) {
  names_[{name.pid, name.tid}] = name.name;
  if (!name.executed) return;
  Process& process = processes_[name.pid];
  keep_mappings(process);
  process = {};
  process.number = ++programs_;
}

void Importer::visit(const Fork& fork) {
  const auto name = names_.find({fork.parent_pid, fork.parent_tid});
  if (name != names_.end()) {
    const std::string inherited = name->second;
    names_[{fork.pid, fork.tid}] = inherited;
  }
  if (fork.pid == fork.parent_pid) return;
  const auto parent = processes_.find(fork.parent_pid);
  Process child;
  if (parent != processes_.end()) {
    child.space = parent->second.space;
    child.data = parent->second.data;
  }
  child.number = ++programs_;
  Process& process = processes_[fork.pid];
  keep_mappings(process);
  process = std::move(child);
}

Thread& Importer::thread_of(const Sample& sample) {
  Process& process = processes_[sample.pid];
  const auto [at, added] = threads_.try_emplace({sample.pid, process.number, sample.tid});
  Thread& thread = at->second;
  if (added) {
    thread.is_main = sample.pid == sample.tid;
    thread.profile = static_cast<uint32_t>(profiles_.size());
    ProfileId id;
    id.host = recording_.about().host;
    id.process = sample.pid;
    id.thread = thread.is_main ? 0 : process.threads++;
    profiles_.push_back(std::move(id));
    values_.emplace_back();
  }
  // Keeps the last name, which is the one that users know.
  const auto name = names_.find({sample.pid, sample.tid});
  if (name != names_.end() && profiles_[thread.profile].thread_name != name->second)
    profiles_[thread.profile].thread_name = name->second;
  return thread;
}

void Importer::unwind(const Sample& sample, Process& process) {
  const UnwindEnd end =
      unwinder_.unwind(uint64_t{process.number} << 32 | static_cast<uint32_t>(sample.pid), process.space,
                       MappedFiles::unwind_module, &files_, sample, unwound_);
  switch (end) {
    case UnwindEnd::EndOfStack:
      ++run_.complete["end_of_stack"];
      break;
    case UnwindEnd::StackPieceEnds:
      ++run_.partial["stack_cut"];
      break;
    case UnwindEnd::TooDeep:
      ++run_.partial["too_deep"];
      break;
    case UnwindEnd::NoUnwindInfo:
      ++run_.partial["no_unwind_info"];
      break;
    case UnwindEnd::Unsupported:
      ++run_.partial["unsupported"];
      break;
  }
  for (const uint64_t address : unwound_)
    chain_.push_back(tree_.intern(user_frame(process, sample.pid, address)));
}

void Importer::find_frames(const Sample& sample, Process& process) {
  chain_.clear();
  bool in_kernel = sample.cpu_mode() == PERF_RECORD_MISC_KERNEL;
  bool interrupted = true;  // the next address is not a return address
  bool any_user = false;
  const auto add = [&](uint64_t address) {
    if (!interrupted) --address;
    interrupted = false;
    any_user |= !in_kernel;
    const uint32_t frame =
        tree_.intern(in_kernel ? Frame{Where::Kernel, 0, address} : user_frame(process, sample.pid, address));
    // A chain of invalid frame pointers repeats the same unknown frame.
    const Frame& found = tree_.frame(frame);
    const bool nowhere = found.where == Where::Module && files_.is_unknown({found.module, found.address});
    if (!(nowhere && !chain_.empty() && chain_.back() == frame)) chain_.push_back(frame);
  };
  for (const uint64_t entry : sample.call_chain) {
    if (entry >= kFirstContext) {
      in_kernel = entry == PERF_CONTEXT_KERNEL || entry == PERF_CONTEXT_HV;
      interrupted = true;
    } else {
      // Call chains begin at the interrupted address, which lies after the exactly known instruction.
      const bool is_exact = interrupted && chain_.empty() && (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0 &&
                            in_kernel == (sample.cpu_mode() == PERF_RECORD_MISC_KERNEL);
      add(is_exact ? sample.ip : entry);
    }
  }
  const bool dwarf = !sample.user_registers.empty() && !sample.user_stack.empty();
  const bool without_chain = chain_.empty();
  if (dwarf && !any_user) unwind(sample, process);
  if (without_chain && (chain_.empty() || sample.cpu_mode() == PERF_RECORD_MISC_KERNEL)) {
    const std::vector<uint32_t> outer = std::move(chain_);
    chain_.clear();
    in_kernel = sample.cpu_mode() == PERF_RECORD_MISC_KERNEL;
    interrupted = true;
    add(sample.ip);
    chain_.insert(chain_.end(), outer.begin(), outer.end());
  }
}

void Importer::visit(const Sample& sample) {
  ++samples_;
  of_event_.resize(recording_.events().size());
  ++of_event_[sample.event];
  if (traced_event_ == SIZE_MAX) traced_event_ = sample.event;
  if (sample.time_ns) {
    first_ns_ = std::min(first_ns_.value_or(*sample.time_ns), *sample.time_ns);
    last_ns_ = std::max(last_ns_.value_or(*sample.time_ns), *sample.time_ns);
  }
  Thread& thread = thread_of(sample);
  Process& process = processes_[sample.pid];
  find_frames(sample, process);
  uint32_t node = thread.is_main ? SampledTree::kMainThread : SampledTree::kOtherThread;
  for (auto frame = chain_.rbegin(); frame != chain_.rend(); ++frame) node = tree_.child(node, *frame);
  Cell& cell = values_[thread.profile][uint64_t{node} << 32 | sample.event];
  cell.value += static_cast<double>(sample.period);
  ++cell.samples;
  if (sample.time_ns && sample.event == traced_event_)
    thread.trace.add(*sample.time_ns, sample.period, is_clock(recording_.events()[sample.event].attributes),
                     node);
  if (MemorySamples::has_accesses(recording_.events()[sample.event]))
    add_access(process, thread, sample, node);
}

void Importer::add_access(Process& process, const Thread& thread, const Sample& sample, uint32_t node) {
  if (!process.memory) process.memory = memory_.process(sample.pid);
  const bool in_program = sample.cpu_mode() == PERF_RECORD_MISC_USER;
  memory_.add(sample, *process.memory, thread.profile, node,
              in_program ? files_.code_in_file(process.space, sample.ip) : MappedFiles::CodeInFile{});
}

void Importer::add_region(const Mapping& mapping) {
  const auto [at, added] =
      region_numbers_.try_emplace(std::string(mapping.path), static_cast<uint32_t>(region_names_.size()));
  if (added) region_names_.push_back(at->first);
  processes_[mapping.pid].data.map(mapping.start, mapping.bytes, mapping.file_offset, at->second);
}

// Keeps its mappings for the accesses that were recorded.
void Importer::keep_mappings(Process& process) {
  if (!process.memory) return;
  ProcessData& data = memory_.data_of(*process.memory);
  data.modules = files_.modules(process.space);
  for (const auto& [start, part] : process.data.parts())
    if (const std::string& name = region_names_[part.file]; !name.empty() && !name.starts_with("//anon"))
      data.regions.push_back({start, part.last, name});
}

// Returns the program with the most samples.
std::string Importer::title() const {
  std::map<std::string, uint64_t> samples;
  for (size_t i = 0; i < profiles_.size(); ++i)
    for (const auto& [key, cell] : values_[i]) samples[profiles_[i].thread_name] += cell.samples;
  std::string best = file_name(source_.name);
  uint64_t most = 0;
  for (const auto& [name, count] : samples) {
    if (count <= most || name.empty()) continue;
    most = count;
    best = name;
  }
  return best;
}

void Importer::find_places() {
  modules_.attribute(options_.attribution, options_.jobs, builder_->places(), builder_->database(),
                     warnings_);
  if (tree_.has_kernel_frames() && options_.open_modules)
    kernel_.find_names(recording_.about().build_ids, here_, warnings_);
}

void Importer::add_metrics() {
  of_event_.resize(recording_.events().size());
  for (size_t i = 0; i < of_event_.size(); ++i) {
    const Event& event = recording_.events()[i];
    // perf's own dummy events have no samples.
    if (of_event_[i] == 0 && samples_ != 0) {
      metrics_.push_back(kNone);
      continue;
    }
    ImportedMetric metric;
    metric.name = event.name;
    metric.description = "periods of perf's samples of " + event.name;
    metric.source = "perf";
    if (is_clock(event.attributes)) {
      metric.unit = "sec";
      metric.scale = kNanosecond;
    }
    if (event.attributes.freq)
      metric.requested_hz = static_cast<double>(event.attributes.sample_freq);
    else if (is_clock(event.attributes) && event.attributes.sample_period > 0)
      metric.requested_hz = 1e9 / static_cast<double>(event.attributes.sample_period);
    metrics_.push_back(builder_->metric(metric));
  }
}

void Importer::add_nodes() {
  std::vector<uint32_t> roots;  // of threads with samples
  for (const auto& [key, thread] : threads_)
    roots.push_back(thread.is_main ? SampledTree::kMainThread : SampledTree::kOtherThread);
  contexts_ = tree_.add_to(*builder_, kernel_, roots);
}

void Importer::add_values() {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const uint32_t profile = builder_->profile(profiles_[i]);
    for (const auto& [key, cell] : values_[i])
      builder_->add(profile, metrics_[static_cast<uint32_t>(key)], contexts_[key >> 32], cell.value,
                    cell.samples);
    values_[i] = {};
  }
}

void Importer::add_traces() {
  const std::optional<ClockData>& clock = recording_.about().clock;
  uint64_t to_epoch = clock && clock->wall_ns >= clock->clock_ns ? clock->wall_ns - clock->clock_ns : 0;
  if (last_ns_ && *last_ns_ > UINT64_MAX - to_epoch) to_epoch = 0;  // implausible
  for (auto& [key, thread] : threads_)
    builder_->add_trace(thread.profile, thread.trace.take(to_epoch, contexts_));
}

void Importer::describe_run() {
  const About& about = recording_.about();
  for (const std::string& word : about.command) run_.command += (run_.command.empty() ? "" : " ") + word;
  run_.host = about.host;
  if (first_ns_ && *last_ns_ >= *first_ns_)
    run_.wall_s = static_cast<double>(*last_ns_ - *first_ns_) * kNanosecond;
  run_.contention = memory_.records(contexts_, source_.name, warnings_);
  if (about.clock && first_ns_) run_.start_ns = *first_ns_ - about.clock->clock_ns + about.clock->wall_ns;
}

}  // namespace
}  // namespace perf

Import import_perf(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options) {
  return perf::Importer(bytes, source, options).run();
}

}  // namespace prof
