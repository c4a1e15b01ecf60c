// pprof profiles: protocol buffers, as in profile.proto.

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "analysis/attribution/hex.h"
#include "analysis/import/builder.h"
#include "analysis/import/formats.h"
#include "analysis/import/segments.h"
#include "analysis/pipeline/module_places.h"
#include "analysis/pprof/profile.pb.h"

namespace prof {
namespace {

namespace pb = perftools::profiles;
using google::protobuf::io::CodedInputStream;

struct Unit {
  std::string_view name;
  std::string_view in_database;
  double scale;
};
constexpr std::array<Unit, 15> kUnits = {{
    {"nanoseconds", "sec", 1e-9},
    {"ns", "sec", 1e-9},
    {"microseconds", "sec", 1e-6},
    {"us", "sec", 1e-6},
    {"milliseconds", "sec", 1e-3},
    {"ms", "sec", 1e-3},
    {"seconds", "sec", 1},
    {"s", "sec", 1},
    {"bytes", "bytes", 1},
    {"byte", "bytes", 1},
    {"kilobytes", "bytes", 1024},
    {"megabytes", "bytes", 1048576},
    {"count", "", 1},
    {"", "", 1},
    {"1", "", 1},
}};

// Numbers of the fields of Profile.
enum Field : int {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTime = 9,
  kDuration = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kDefaultSampleType = 14,
};

constexpr uint64_t kNone64 = 0;  // "no mapping", "no function"

struct Location {
  pb::Location message;
  std::optional<PlaceId> place;
};

// Reads the profile one message at a time, twice, because what samples refer to usually follows them.
class Importer {
 public:
  Importer(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options)
      : bytes_(bytes),
        source_(source),
        options_(options),
        builder_(std::filesystem::path(source.name).filename().string()) {}

  Import run() {
    read_tables();
    if (types_.empty()) damaged("it has no sample types");
    attribute();
    add_metrics();
    for_each_field([&](int field, std::string_view message, uint64_t) {
      if (field != kSample) return;
      parse(sample_, message);
      add(sample_);
    });
    if (profiles_.empty()) builder_.profile(ProfileId{"", -1, -1, 0, ""});
    if (time_ns_ > 0) run_.start_ns = static_cast<uint64_t>(time_ns_);
    if (duration_ns_ > 0) run_.wall_s = static_cast<double>(duration_ns_) * 1e-9;
    Import result;
    result.warnings = std::move(warnings_);
    result.database = builder_.finish(run_, result.warnings);
    return result;
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    throw ImportError(ImportError::Kind::Damaged,
                      fmt::format("{}: not a pprof profile, or a damaged one: {}", source_.name, what));
  }

  // visit(field, contents of a message or text, number)
  template <typename Visit>
  void for_each_field(Visit visit) {
    constexpr uint32_t kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;
    CodedInputStream in(bytes_.data(), static_cast<int>(bytes_.size()));
    in.SetTotalBytesLimit(INT32_MAX);
    while (const uint32_t tag = in.ReadTag()) {
      const int field = static_cast<int>(tag >> 3);
      uint64_t number = 0;
      uint32_t length = 0;
      bool good = field != 0;
      switch (tag & 7) {
        case kVarint:
          good = good && in.ReadVarint64(&number);
          if (good) visit(field, std::string_view{}, number);
          break;
        case kLength: {
          good = good && in.ReadVarint32(&length);
          const auto at = static_cast<size_t>(in.CurrentPosition());
          good = good && length <= bytes_.size() - at && in.Skip(static_cast<int>(length));
          if (good) visit(field, {reinterpret_cast<const char*>(bytes_.data()) + at, length}, 0);
          break;
        }
        case kFixed64:
          good = good && in.Skip(8);
          break;
        case kFixed32:
          good = good && in.Skip(4);
          break;
        default:
          good = false;
      }
      if (!good) damaged("it is truncated, or has invalid fields");
    }
    if (!in.ConsumedEntireMessage()) damaged("it has invalid fields");
  }

  void parse(google::protobuf::MessageLite& message, std::string_view bytes) const {
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      damaged("it contains an invalid message");
  }

  std::string_view text(int64_t index) const {
    if (index < 0 || static_cast<uint64_t>(index) >= strings_.size())
      damaged("a text that is not in its table");
    return strings_[static_cast<size_t>(index)];
  }

  template <typename Value>
  void add_unique(std::unordered_map<uint64_t, Value>& table, uint64_t id,
                  std::type_identity_t<Value>&& value) {
    if (id == 0) damaged("an identifier that is 0");
    if (!table.emplace(id, std::move(value)).second) damaged("an identifier that occurs twice");
  }

  void read_tables() {
    if (bytes_.size() > INT32_MAX)
      throw ImportError(ImportError::Kind::Unsupported,
                        fmt::format("{}: larger than 2 GiB, the limit of protocol buffers", source_.name));
    for_each_field([&](int field, std::string_view message, uint64_t number) {
      switch (field) {
        case kSampleType:
          parse(types_.emplace_back(), message);
          break;
        case kMapping: {
          pb::Mapping mapping;
          parse(mapping, message);
          add_unique(mappings_, mapping.id(), std::move(mapping));
          break;
        }
        case kLocation: {
          Location location;
          parse(location.message, message);
          const uint64_t id = location.message.id();
          add_unique(locations_, id, std::move(location));
          break;
        }
        case kFunction: {
          pb::Function function;
          parse(function, message);
          add_unique(functions_, function.id(), std::move(function));
          break;
        }
        case kString:
          strings_.push_back(message);
          break;
        case kTime:
          time_ns_ = static_cast<int64_t>(number);
          break;
        case kDuration:
          duration_ns_ = static_cast<int64_t>(number);
          break;
        case kPeriodType:
          parse(period_type_.emplace(), message);
          break;
        case kPeriod:
          period_ = static_cast<int64_t>(number);
          break;
        case kDefaultSampleType:
          default_type_ = static_cast<int64_t>(number);
          break;
        default:
          break;
      }
    });
    if (strings_.empty()) strings_.emplace_back();
  }

  const pb::Mapping* mapping_of(const pb::Location& location) const {
    if (location.mapping_id() == kNone64) return nullptr;
    const auto at = mappings_.find(location.mapping_id());
    if (at == mappings_.end()) damaged("a mapping that is not in its table");
    return &at->second;
  }

  // Returns the address as in the module's file.
  uint64_t address_in_file(const pb::Location& location, const pb::Mapping& mapping) {
    if (location.address() < mapping.memory_start()) return location.address();
    const uint64_t offset = location.address() - mapping.memory_start() + mapping.file_offset();
    if (!options_.open_modules) return offset;
    return segments_.address_of(std::string(text(mapping.filename())), offset);
  }

  // Attributes locations that have no functions but an address in a module.
  void attribute() {
    std::vector<std::pair<Location*, std::pair<uint32_t, uint64_t>>> wanted;
    ModulePlaces modules;
    for (auto& [id, location] : locations_) {
      const pb::Mapping* const mapping = mapping_of(location.message);
      if (location.message.line_size() != 0 || mapping == nullptr || text(mapping->filename()).empty())
        continue;
      ModuleIdentity identity{std::string(text(mapping->filename())), bytes_of_hex(text(mapping->build_id())),
                              source_.written_ns};
      const bool file = options_.open_modules && identity.path.starts_with('/');
      if (!file) identity.path = fmt::format("[{}]", identity.path);
      const uint32_t module = modules.module(file ? ModuleKind::File : ModuleKind::Unknown, identity);
      const uint64_t address = address_in_file(location.message, *mapping);
      modules.need(module, address);
      wanted.emplace_back(&location, std::pair(module, address));
    }
    modules.attribute(options_.attribution, options_.jobs, builder_.places(), builder_.database(), warnings_);
    for (auto& [location, where] : wanted) location->place = modules.place(where.first, where.second);
  }

  // Returns numbers of types_, the default one first, because reports show the first metric.
  std::vector<size_t> types_in_order() const {
    std::vector<size_t> order(types_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (const std::string_view wanted = text(default_type_); !wanted.empty())
      std::ranges::stable_partition(order, [&](size_t t) { return text(types_[t].type()) == wanted; });
    return order;
  }

  void add_metrics() {
    metrics_.resize(types_.size());
    counts_samples_.resize(types_.size());
    for (const size_t t : types_in_order()) {
      const pb::ValueType& type = types_[t];
      ImportedMetric metric;
      metric.name = text(type.type());
      if (metric.name.empty()) metric.name = "samples";
      metric.unit = text(type.unit());
      for (const Unit& unit : kUnits) {
        if (metric.unit != unit.name) continue;
        metric.unit = unit.in_database;
        metric.scale = unit.scale;
        break;
      }
      if (period_type_ && period_ > 0 && period_type_->type() == type.type() &&
          period_type_->unit() == type.unit() && metric.unit == "sec")
        metric.requested_hz = 1 / (static_cast<double>(period_) * metric.scale);
      metric.source = "pprof";
      metrics_[t] = builder_.metric(metric);
      counts_samples_[t] = metric.name == "samples";
    }
  }

  // Returns an empty name if there are several functions, or none.
  std::string_view only_function(const pb::Location& location) const {
    if (location.line_size() != 1) return {};
    const auto function = functions_.find(location.line(0).function_id());
    return function == functions_.end() ? std::string_view{} : text(function->second.name());
  }

  PlaceId place_of(Location& location) {
    if (location.place) return *location.place;
    const pb::Mapping* const mapping = mapping_of(location.message);
    const uint32_t module = mapping == nullptr ? kNone : builder_.module(text(mapping->filename()));
    std::vector<PlaceFrame> chain;
    for (int i = location.message.line_size() - 1; i >= 0; --i) {
      const pb::Line& line = location.message.line(i);
      const auto function = functions_.find(line.function_id());
      if (function == functions_.end()) damaged("a function that is not in its table");
      chain.push_back(frame(function->second, line.line(), module, !chain.empty()));
    }
    if (chain.empty()) {
      const std::string name = fmt::format("[{:#x}]", location.message.address());
      chain.push_back({builder_.function(name, module, kNone, 0), kNone, 0, false});
    }
    location.place = builder_.places().add(chain);
    return *location.place;
  }

  PlaceFrame frame(const pb::Function& function, int64_t line, uint32_t module, bool inlined) {
    const auto bounded = [](int64_t number) {
      return number > 0 && number < INT32_MAX ? static_cast<uint32_t>(number) : 0;
    };
    std::string_view name = text(function.name());
    if (name.empty()) name = text(function.system_name());
    if (name.empty()) name = "[unknown]";
    const uint32_t file = builder_.file(text(function.filename()));
    return {builder_.function(name, module, file, bounded(function.start_line())), file, bounded(line),
            inlined};
  }

  // Returns the profile of the thread that a sample's labels name. Other labels are ignored.
  uint32_t profile_of(const pb::Sample& sample) {
    ProfileId id;
    std::optional<int64_t> thread;
    for (const pb::Label& label : sample.label()) {
      const std::string_view key = text(label.key());
      const std::string_view words = text(label.str());
      int64_t number = label.num();
      if (!words.empty()) std::from_chars(words.data(), words.data() + words.size(), number);
      const auto small = static_cast<int32_t>(std::clamp<int64_t>(number, -1, INT32_MAX));
      if (key == "thread" || key == "thread_name" || key == "thread name") {
        id.thread_name = words.empty() ? std::to_string(number) : std::string(words);
      } else if (key == "tid" || key == "thread_id" || key == "thread id") {
        thread = number;
      } else if (key == "pid" || key == "process_id" || key == "process") {
        id.process = small;
      } else if (key == "host") {
        id.host = words;
      } else if (key == "rank") {
        id.rank = small;
      }
    }
    const auto key = std::tuple(id.host, id.rank, id.process, thread, id.thread_name);
    const auto known = profiles_.find(key);
    if (known != profiles_.end()) return known->second;
    // Threads count from 0 in each process.
    id.thread = threads_[std::tuple(id.host, id.rank, id.process)]++;
    return profiles_.emplace(key, builder_.profile(id)).first->second;
  }

  void add(const pb::Sample& sample) {
    if (sample.value_size() != static_cast<int>(metrics_.size()))
      damaged("a sample with more or fewer values than there are types");
    const uint32_t profile = profile_of(sample);
    uint32_t context = kNone;
    for (int i = sample.location_id_size() - 1; i >= 0; --i) {
      const auto location = locations_.find(sample.location_id(i));
      if (location == locations_.end()) damaged("a location that is not in its table");
      if (context == kNone) {
        const std::string_view name = only_function(location->second.message);
        context = builder_.contexts().entry(name != kOtherThread);
        if (name == kMainThread || name == kOtherThread) continue;
      }
      context = builder_.contexts().extend(context, place_of(location->second));
    }
    if (context == kNone) context = builder_.contexts().entry(true);
    for (size_t i = 0; i < metrics_.size(); ++i) {
      const int64_t value = sample.value(static_cast<int>(i));
      // Only a type of that name states how many samples there were. `pprof -base` subtracts, so those of the
      // base are negative.
      const auto amount = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      const uint64_t samples = counts_samples_[i] ? amount : 0;
      builder_.add(profile, metrics_[i], context, static_cast<double>(value), samples);
    }
  }

  std::span<const uint8_t> bytes_;
  const ImportSource& source_;
  const ImportOptions& options_;
  DatabaseBuilder builder_;
  ImportedRun run_;
  std::vector<std::string> warnings_;
  std::vector<pb::ValueType> types_;
  std::unordered_map<uint64_t, pb::Mapping> mappings_;
  std::unordered_map<uint64_t, Location> locations_;
  std::unordered_map<uint64_t, pb::Function> functions_;
  std::vector<std::string_view> strings_;
  std::optional<pb::ValueType> period_type_;
  int64_t default_type_ = 0;  // text 0 is empty: none
  int64_t period_ = 0, time_ns_ = 0, duration_ns_ = 0;
  Segments segments_;
  std::vector<uint32_t> metrics_;
  std::vector<bool> counts_samples_;
  std::map<std::tuple<std::string, int32_t, int32_t, std::optional<int64_t>, std::string>, uint32_t>
      profiles_;
  std::map<std::tuple<std::string, int32_t, int32_t>, int32_t> threads_;
  pb::Sample sample_;
};

}  // namespace

Import import_pprof(std::span<const uint8_t> bytes, const ImportSource& source,
                    const ImportOptions& options) {
  return Importer(bytes, source, options).run();
}

}  // namespace prof
