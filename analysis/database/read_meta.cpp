#include <fmt/format.h>

#include <algorithm>

#include "analysis/database/read.h"
#include "analysis/database/statistics.h"

namespace prof {
namespace {

using namespace format;

// Writers share equal strings, so the strings of a file may add up to more than its size. The factor is
// limited, because each pointer to a string takes at least 8 bytes.
constexpr uint64_t kStringsPerByte = 16;

struct Array {
  uint64_t begin = 0;
  uint64_t count = 0;
  uint64_t stride = 0;
  uint64_t operator[](uint64_t index) const { return begin + index * stride; }
};

class MetaReader {
 public:
  MetaReader(Bytes bytes, Database& database, MetaIndex& index)
      : bytes_(std::move(bytes)),
        database_(database),
        index_(index),
        string_budget_(kStringsPerByte * bytes_.size()) {}

  void read() {
    read_general();
    read_identifier_names();
    read_metrics();
    read_modules();
    read_files();
    read_functions();
    read_contexts();
  }

 private:
  template <typename T>
  T at(uint64_t offset) const {
    return bytes_.at<T>(offset);
  }
  // Limits memory: a small file could have many pointers to one long string.
  std::string string(uint64_t offset) {
    std::string text = bytes_.string(offset);
    if (text.size() > string_budget_) bytes_.corrupt("its strings are longer than the file can hold");
    string_budget_ -= text.size();
    return text;
  }
  uint64_t section(MetaSection index) const { return at<uint64_t>(kSectionsOffset + 16 * index + 8); }
  uint64_t section_size(MetaSection index) const { return at<uint64_t>(kSectionsOffset + 16 * index); }

  // Modules, files and functions start with the same header.
  Array array(MetaSection index, uint64_t used, std::string_view what) const {
    const uint64_t header = section(index);
    const Array result{at<uint64_t>(header), at<uint32_t>(header + 8), at<uint16_t>(header + 12)};
    bytes_.check_array(result.begin, result.count, result.stride, used, what);
    return result;
  }

  // Converts a pointer to an element of an array to its index; a null pointer to kNone.
  uint32_t element(const Array& array, uint64_t pointer, std::string_view what) const {
    if (pointer == 0) return kNone;
    const uint64_t distance = pointer - array.begin;
    if (pointer < array.begin || array.count == 0 || distance % array.stride != 0 ||
        distance / array.stride >= array.count) {
      bytes_.corrupt(fmt::format("a pointer to a {} leads elsewhere", what));
    }
    return static_cast<uint32_t>(distance / array.stride);
  }

  void read_general() {
    const uint64_t header = section(General);
    database_.title = string(at<uint64_t>(header));
    database_.description = string(at<uint64_t>(header + 8));
  }

  void read_identifier_names() {
    const uint64_t header = section(IdNames);
    const Array names{at<uint64_t>(header), at<uint8_t>(header + 8), 8};
    bytes_.check_array(names.begin, names.count, 8, 8, "identifier names");
    for (uint64_t i = 0; i < names.count; ++i) {
      index_.identifier_names.push_back(string(at<uint64_t>(names[i])));
    }
  }

  void read_metrics() {
    const uint64_t header = section(Metrics);
    const Array metrics{at<uint64_t>(header), at<uint32_t>(header + 8), at<uint8_t>(header + 12)};
    const uint8_t instance_stride = at<uint8_t>(header + 13), summary_stride = at<uint8_t>(header + 14);
    bytes_.check_array(metrics.begin, metrics.count, metrics.stride, 0x1c, "metrics");
    if (metrics.count > UINT16_MAX) bytes_.corrupt("more metrics than identifiers");
    for (uint32_t i = 0; i < metrics.count; ++i) {
      split_full_name(string(at<uint64_t>(metrics[i])), database_.metrics.emplace_back());
      const Array instances{at<uint64_t>(metrics[i] + 8), at<uint16_t>(metrics[i] + 0x18), instance_stride};
      bytes_.check_array(instances.begin, instances.count, instances.stride, 0x0a,
                         "propagation scopes of a metric");
      for (uint64_t j = 0; j < instances.count; ++j) read_instance(i, instances[j]);
      const Array summaries{at<uint64_t>(metrics[i] + 16), at<uint16_t>(metrics[i] + 0x1a), summary_stride};
      bytes_.check_array(summaries.begin, summaries.count, summaries.stride, 0x14, "statistics of a metric");
      for (uint64_t j = 0; j < summaries.count; ++j) read_summary(i, summaries[j]);
    }
  }

  // Returns the member of Values for a propagation scope, by the name that the format recommends.
  double Values::*scope_member(uint64_t pointer) {
    const std::string name = string(at<uint64_t>(pointer));
    for (size_t i = 0; i < kScopes; ++i) {
      if (kScopeSpecs[i].name == name) return value_of(static_cast<Scope>(i));
    }
    return nullptr;
  }

  void read_instance(uint32_t metric, uint64_t at_instance) {
    PropagatedId& id = index_.propagated.made(at<uint16_t>(at_instance + 8));
    if (id.listed) bytes_.corrupt("two metrics have the same identifier");
    id = {true, metric, scope_member(at<uint64_t>(at_instance))};
  }

  void read_summary(uint32_t metric, uint64_t at_summary) {
    StatisticId& id = index_.statistics.made(at<uint16_t>(at_summary + 0x12));
    if (id.listed) bytes_.corrupt("two statistics have the same identifier");
    id = {.listed = true, .metric = metric, .scope = scope_member(at<uint64_t>(at_summary))};
    const std::string formula = string(at<uint64_t>(at_summary + 8));
    const auto combine = static_cast<Combine>(at<uint8_t>(at_summary + 0x10));
    if (formula == kCountFormula && combine == Combine::Sum && id.scope == &Values::inclusive) {
      id.is_count = true;
    } else if (formula == kSquareFormula && combine == Combine::Sum) {
      id.statistic = &Summary::sum_of_squares;
    } else if (formula == kValueFormula && combine == Combine::Sum) {
      id.statistic = &Summary::sum;
    } else if (formula == kValueFormula && combine == Combine::Minimum) {
      id.statistic = &Summary::minimum;
    } else if (formula == kValueFormula && combine == Combine::Maximum) {
      id.statistic = &Summary::maximum;
    }
  }

  void read_modules() {
    modules_ = array(Modules, kModuleBytes, "load modules");
    for (uint64_t i = 0; i < modules_.count; ++i) {
      database_.modules.push_back({string(at<uint64_t>(modules_[i] + 8))});
    }
  }

  void read_files() {
    files_ = array(Files, kFileBytes, "source files");
    for (uint64_t i = 0; i < files_.count; ++i) {
      SourceFile file{.path = string(at<uint64_t>(files_[i] + 8))};
      const bool flagged = (at<uint32_t>(files_[i]) & kFileCopied) != 0;
      file.copied = flagged && file.path.starts_with(kSourceFolder) && file.path[kSourceFolder.size()] == '/';
      if (file.copied) file.path.erase(0, kSourceFolder.size());
      database_.files.push_back(std::move(file));
    }
  }

  void read_functions() {
    functions_ = array(Functions, kFunctionBytes, "functions");
    for (uint64_t i = 0; i < functions_.count; ++i) {
      const uint64_t name = at<uint64_t>(functions_[i]);
      database_.functions.push_back({
          .name = name == 0 ? "" : string(name),
          .module = element(modules_, at<uint64_t>(functions_[i] + 8), "load module"),
          .offset = at<uint64_t>(functions_[i] + 0x10),
          .file = element(files_, at<uint64_t>(functions_[i] + 0x18), "source file"),
          .line = at<uint32_t>(functions_[i] + 0x20),
      });
    }
  }

  struct Children {
    uint32_t parent;
    uint64_t begin, size;
  };

  void read_contexts() {
    const uint64_t header = section(ContextTree);
    const Array entries{at<uint64_t>(header), at<uint16_t>(header + 8), at<uint8_t>(header + 10)};
    bytes_.check_array(entries.begin, entries.count, entries.stride, kEntryBytes, "entry points");
    // Contexts do not share bytes: if there are more than fit, children contain their parents.
    limit_ = std::min(section_size(ContextTree), bytes_.size()) / kContextBytes;
    database_.contexts.reserve(limit_);
    ids_.reserve(limit_);
    std::vector<Children> pending;
    for (uint64_t i = 0; i < entries.count; ++i) {
      const uint64_t entry = entries[i];
      Context context;
      context.kind = ContextKind::Entry;
      context.entry = string(at<uint64_t>(entry + 0x18));
      add_context(at<uint32_t>(entry + 0x10), std::move(context));
      push_children(pending, entry);
      while (!pending.empty()) {
        const Children children = pending.back();
        pending.pop_back();
        read_children(children, pending);
      }
    }
    order_contexts();
    if (!index_.contexts.assign(ids_)) bytes_.corrupt("two contexts have the same identifier");
  }

  void add_context(uint32_t id, Context context) {
    if (ids_.size() >= limit_) bytes_.corrupt("the contexts do not form a tree");
    ids_.push_back(id);
    database_.contexts.push_back(std::move(context));
  }

  void push_children(std::vector<Children>& pending, uint64_t record) const {
    const uint64_t size = at<uint64_t>(record), begin = at<uint64_t>(record + 8);
    if (size == 0) return;
    if (!bytes_.contains(begin, size)) bytes_.corrupt("the children of a context lie outside the file");
    pending.push_back({static_cast<uint32_t>(ids_.size() - 1), begin, size});
  }

  void read_children(const Children& children, std::vector<Children>& pending) {
    for (uint64_t record = children.begin; record - children.begin < children.size;) {
      const uint64_t left = children.size - (record - children.begin);
      const uint64_t size = kContextBytes + 8u * at<uint8_t>(record + 0x17);
      if (size > left) bytes_.corrupt("a context is longer than the children of its parent");
      add_context(at<uint32_t>(record + 0x10), read_context(record, children.parent));
      push_children(pending, record);
      record += size;
    }
  }

  Context read_context(uint64_t record, uint32_t parent) const {
    const uint8_t flags = at<uint8_t>(record + 0x14), relation = at<uint8_t>(record + 0x15),
                  lexical_type = at<uint8_t>(record + 0x16), words = at<uint8_t>(record + 0x17);
    if (lexical_type > 3) bytes_.corrupt("a context of an unknown type");
    if (relation > 2) bytes_.corrupt("a context with an unknown relation to its parent");
    const unsigned needed =
        (flags & HasFunction ? 1u : 0u) + (flags & HasSourceLine ? 2u : 0u) + (flags & HasPoint ? 2u : 0u);
    if (words < needed) bytes_.corrupt("a context is too short for what it holds");
    Context context;
    context.parent = parent;
    context.kind = static_cast<ContextKind>(lexical_type + 1);  // the model begins with Entry
    context.relation = static_cast<Relation>(relation);
    uint64_t flex = record + kContextBytes;
    if (flags & HasFunction) {
      context.function = element(functions_, at<uint64_t>(flex), "function");
      flex += 8;
    }
    if (flags & HasSourceLine) {
      context.file = element(files_, at<uint64_t>(flex), "source file");
      context.line = at<uint32_t>(flex + 8);
      flex += 16;
    }
    if (flags & HasPoint) {
      context.module = element(modules_, at<uint64_t>(flex), "load module");
      context.offset = at<uint64_t>(flex + 8);
    }
    return context;
  }

  // Numbers contexts by identifier if that puts parents before children, as in our databases. Otherwise keeps
  // the order of reading, which always does.
  void order_contexts() {
    auto& contexts = database_.contexts;
    for (const Context& context : contexts) {
      const auto child = static_cast<size_t>(&context - contexts.data());
      if (context.parent != kNone && ids_[context.parent] >= ids_[child]) return;
    }
    ContextIds by_id;
    if (!by_id.assign(ids_)) return;  // the caller rejects the file
    const std::vector<uint32_t> order = by_id.order();
    std::vector<uint32_t> place(contexts.size()), ids(contexts.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      ids[i] = ids_[order[i]];
    }
    std::vector<Context> sorted;
    sorted.reserve(contexts.size());
    for (const uint32_t from : order) {
      Context& context = sorted.emplace_back(std::move(contexts[from]));
      if (context.parent != kNone) context.parent = place[context.parent];
    }
    contexts = std::move(sorted);
    ids_ = std::move(ids);
  }

  Bytes bytes_;
  Database& database_;
  MetaIndex& index_;
  Array modules_, files_, functions_;
  std::vector<uint32_t> ids_;
  uint64_t limit_ = 0;
  uint64_t string_budget_;
};

}  // namespace

bool ContextIds::assign(const std::vector<uint32_t>& ids) {
  // Dense identifiers take one array look-up; the slack covers HPCToolkit's, which have gaps.
  constexpr uint64_t kSlack = 8;
  const uint32_t largest = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end());
  if (largest / kSlack <= ids.size()) {
    dense_.assign(size_t{largest} + 1, kNone);
    for (uint32_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 0 || dense_[ids[i]] != kNone) return false;
      dense_[ids[i]] = i;
    }
    return true;
  }
  for (uint32_t i = 0; i < ids.size(); ++i) sorted_.emplace_back(ids[i], i);
  std::sort(sorted_.begin(), sorted_.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return sorted_.front().first != 0 &&
         std::adjacent_find(sorted_.begin(), sorted_.end(), same) == sorted_.end();
}

std::vector<uint32_t> ContextIds::order() const {
  std::vector<uint32_t> order;
  for (const uint32_t context : dense_)
    if (context != kNone) order.push_back(context);
  for (const auto& [id, context] : sorted_) order.push_back(context);
  return order;
}

uint32_t ContextIds::find(uint32_t id) const {
  if (id < dense_.size()) return dense_[id];
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{id, uint32_t{0}});
  return found != sorted_.end() && found->first == id ? found->second : kNone;
}

void read_meta(const std::filesystem::path& directory, Database& database, MetaIndex& index) {
  MetaReader(InputFile(directory, kMeta).read_all(), database, index).read();
}

}  // namespace prof
