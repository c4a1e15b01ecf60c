// meta.db: what was measured, the metrics, and the calling context tree.

#include <algorithm>

#include "analysis/database/output.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

// Builds meta.db in memory (50 bytes per context), because its structures refer to each other in both
// directions.
class MetaWriter {
 public:
  MetaWriter(const Database& database, const std::vector<bool>& copied,
             const std::filesystem::path& directory)
      : database_(database), copied_(copied), file_(directory, kMeta) {}

  void write() {
    section(General, &MetaWriter::write_general);
    section(IdNames, &MetaWriter::write_identifier_names);
    section(Metrics, &MetaWriter::write_metrics);
    section(Strings, &MetaWriter::write_strings);
    section(Modules, &MetaWriter::write_modules);
    section(Files, &MetaWriter::write_files);
    section(Functions, &MetaWriter::write_functions);
    section(ContextTree, &MetaWriter::write_contexts);
    file_.finish();
  }

 private:
  // Composes a section in buffer_, whose first byte lies at base_ in the file.
  void section(MetaSection index, void (MetaWriter::*compose)()) {
    file_.align(8);
    base_ = file_.offset();
    buffer_.clear();
    (this->*compose)();
    file_.write(buffer_.view());
    file_.end_section(index, base_);
  }

  uint64_t here() const { return base_ + buffer_.size(); }
  uint64_t put_string(std::string_view text) {
    const uint64_t offset = here();
    buffer_.put_string(text);
    return offset;
  }
  void put_array_header(uint64_t pointer, size_t count, size_t stride) {
    buffer_.put(pointer);
    buffer_.put(static_cast<uint32_t>(count));
    buffer_.put(static_cast<uint16_t>(stride));
    buffer_.align(8);
  }

  void write_general() {
    buffer_.put_zeros(16);
    buffer_.patch(0, put_string(database_.title));
    buffer_.patch(8, put_string(database_.description));
  }

  void write_identifier_names() {
    constexpr size_t kHeader = 16;
    buffer_.put<uint64_t>(base_ + kHeader);
    buffer_.put<uint8_t>(kIdentifierNames.size());
    buffer_.align(8);
    buffer_.put_zeros(8 * kIdentifierNames.size());
    for (size_t i = 0; i < kIdentifierNames.size(); ++i) {
      buffer_.patch(kHeader + 8 * i, put_string(kIdentifierNames[i]));
    }
  }

  void write_metrics() {
    constexpr size_t kHeader = 32;
    const uint64_t scopes = base_ + kHeader;
    const uint64_t metrics = scopes + kScopes * kScopeBytes;
    buffer_.put(metrics);
    buffer_.put(static_cast<uint32_t>(database_.metrics.size()));
    buffer_.put<uint8_t>(kMetricBytes);
    buffer_.put<uint8_t>(kScopeInstanceBytes);
    buffer_.put<uint8_t>(kSummaryBytes);
    buffer_.align(8);
    buffer_.put(scopes);
    buffer_.put<uint16_t>(kScopes);
    buffer_.put<uint8_t>(kScopeBytes);
    buffer_.align(8);
    for (const ScopeSpec& scope : kScopeSpecs) {
      buffer_.put<uint64_t>(0);
      buffer_.put(scope.type);
      buffer_.put(scope.propagation_index);
      buffer_.align(8);
    }
    buffer_.put_zeros(kMetricBytes * database_.metrics.size());
    for (uint32_t i = 0; i < database_.metrics.size(); ++i) {
      write_metric(i, static_cast<size_t>(metrics - base_) + i * kMetricBytes, scopes);
    }
    write_metric_strings(kHeader, static_cast<size_t>(metrics - base_));
  }

  void write_metric(uint32_t metric, size_t at, uint64_t scopes) {
    buffer_.patch(at + 8, here());
    for (size_t scope = 0; scope < kScopes; ++scope) {
      buffer_.put<uint64_t>(scopes + scope * kScopeBytes);
      buffer_.put(propagated_id(metric, static_cast<Scope>(scope)));
      buffer_.align(8);
    }
    buffer_.patch(at + 16, here());
    for (size_t i = 0; i < kStatisticSpecs.size(); ++i) {
      const StatisticSpec& spec = kStatisticSpecs[i];
      buffer_.put<uint64_t>(scopes + static_cast<size_t>(spec.scope) * kScopeBytes);
      buffer_.put<uint64_t>(0);  // the formula's string
      buffer_.put(static_cast<uint8_t>(spec.combine));
      buffer_.align(2);
      buffer_.put(statistic_id(metric, i));
      buffer_.align(8);
    }
    buffer_.patch(at + 24, static_cast<uint16_t>(kScopes));
    buffer_.patch(at + 26, static_cast<uint16_t>(kStatisticSpecs.size()));
  }

  void write_metric_strings(size_t scopes_at, size_t metrics_at) {
    for (size_t i = 0; i < kScopes; ++i) {
      buffer_.patch(scopes_at + i * kScopeBytes, put_string(kScopeSpecs[i].name));
    }
    std::vector<uint64_t> formulas;
    formulas.reserve(kStatisticSpecs.size());
    for (const StatisticSpec& spec : kStatisticSpecs) formulas.push_back(put_string(spec.formula));
    for (size_t i = 0; i < database_.metrics.size(); ++i) {
      const size_t metric_at = metrics_at + i * kMetricBytes;
      buffer_.patch(metric_at, put_string(full_name(database_.metrics[i])));
      const size_t summaries_at = metrics_at + kMetricBytes * database_.metrics.size() +
                                  i * (kScopes * kScopeInstanceBytes + formulas.size() * kSummaryBytes) +
                                  kScopes * kScopeInstanceBytes;
      for (size_t j = 0; j < formulas.size(); ++j) {
        buffer_.patch(summaries_at + j * kSummaryBytes + 8, formulas[j]);
      }
    }
  }

  void write_strings() {
    for (const auto& module : database_.modules) module_paths_.push_back(put_string(module.path));
    for (size_t i = 0; i < database_.files.size(); ++i) {
      const std::string& path = database_.files[i].path;
      file_paths_.push_back(put_string(copied_[i] ? std::string(kSourceFolder) + path : path));
    }
    for (const auto& function : database_.functions) {
      function_names_.push_back(function.name.empty() ? 0 : put_string(function.name));
    }
    for (const auto& context : database_.contexts) {
      if (context.kind == ContextKind::Entry) entry_names_.push_back(put_string(context.entry));
    }
  }

  void write_modules() {
    modules_ = base_ + 16;
    put_array_header(modules_, database_.modules.size(), kModuleBytes);
    for (const uint64_t path : module_paths_) {
      buffer_.put<uint64_t>(0);
      buffer_.put(path);
    }
  }

  void write_files() {
    files_ = base_ + 16;
    put_array_header(files_, database_.files.size(), kFileBytes);
    for (size_t i = 0; i < database_.files.size(); ++i) {
      buffer_.put<uint64_t>(copied_[i] ? kFileCopied : 0);
      buffer_.put(file_paths_[i]);
    }
  }

  uint64_t module_pointer(uint32_t index) const {
    return index == kNone ? 0 : modules_ + index * kModuleBytes;
  }
  uint64_t file_pointer(uint32_t index) const { return index == kNone ? 0 : files_ + index * kFileBytes; }

  void write_functions() {
    functions_ = base_ + 16;
    put_array_header(functions_, database_.functions.size(), kFunctionBytes);
    for (size_t i = 0; i < database_.functions.size(); ++i) {
      const Function& function = database_.functions[i];
      buffer_.put(function_names_[i]);
      buffer_.put(module_pointer(function.module));
      buffer_.put(function.offset);
      buffer_.put(file_pointer(function.file));
      buffer_.put(function.line);
      buffer_.put<uint32_t>(0);
    }
  }

  static size_t context_bytes(const Context& context) {
    return kContextBytes + (context.function == kNone ? 0 : 8) + (context.file == kNone ? 0 : 16) +
           (context.module == kNone ? 0 : 16);
  }

  // A context's children form one array, so contexts lie in the order of their parents.
  void write_contexts() {
    const auto& contexts = database_.contexts;
    constexpr size_t kHeader = 16;
    const uint64_t entries = base_ + kHeader;
    const size_t entry_count = entry_names_.size();

    children_.assign(contexts.size(), {0, 0});
    std::vector<uint32_t> first(contexts.size() + 1);  // first[p]: position of p's first child in `order`
    for (const Context& context : contexts) {
      if (context.parent == kNone) continue;
      ++first[context.parent + 1];
      children_[context.parent].bytes += context_bytes(context);
    }
    uint64_t offset = entries + entry_count * kEntryBytes;
    for (size_t i = 0; i < contexts.size(); ++i) {
      first[i + 1] += first[i];
      if (children_[i].bytes == 0) continue;
      children_[i].pointer = offset;
      offset += children_[i].bytes;
    }
    std::vector<uint32_t> order(contexts.size() - entry_count);
    for (uint32_t i = 0; i < contexts.size(); ++i) {
      if (contexts[i].parent != kNone) order[first[contexts[i].parent]++] = i;
    }

    buffer_.put(entries);
    buffer_.put(static_cast<uint16_t>(entry_count));
    buffer_.put<uint8_t>(kEntryBytes);
    buffer_.align(8);
    write_entries();
    for (const uint32_t index : order) write_context(index);
  }

  void write_entries() {
    size_t entry = 0;
    for (uint32_t i = 0; i < database_.contexts.size(); ++i) {
      if (database_.contexts[i].kind != ContextKind::Entry) continue;
      const auto known = std::find_if(kEntries.begin(), kEntries.end(), [&](const EntrySpec& spec) {
        return spec.name == database_.contexts[i].entry;
      });
      buffer_.put(children_[i].bytes);
      buffer_.put(children_[i].pointer);
      buffer_.put(context_id(i));
      buffer_.put<uint16_t>(known == kEntries.end() ? 0 : known->code);
      buffer_.align(8);
      buffer_.put(entry_names_[entry++]);
    }
  }

  void write_context(uint32_t index) {
    const Context& context = database_.contexts[index];
    const bool has_function = context.function != kNone, has_line = context.file != kNone,
               has_point = context.module != kNone;
    buffer_.put(children_[index].bytes);
    buffer_.put(children_[index].pointer);
    buffer_.put(context_id(index));
    buffer_.put(static_cast<uint8_t>((has_function ? HasFunction : 0) | (has_line ? HasSourceLine : 0) |
                                     (has_point ? HasPoint : 0)));
    buffer_.put(static_cast<uint8_t>(context.relation));
    buffer_.put(
        static_cast<uint8_t>(static_cast<uint8_t>(context.kind) - 1));  // the model's Entry has no type
    buffer_.put(static_cast<uint8_t>((context_bytes(context) - kContextBytes) / 8));
    buffer_.put<uint16_t>(context.relation == Relation::Enclosing ? kFunctionPropagation : 0);
    buffer_.align(8);
    if (has_function) buffer_.put<uint64_t>(functions_ + context.function * kFunctionBytes);
    if (has_line) {
      buffer_.put(file_pointer(context.file));
      buffer_.put<uint64_t>(context.line);
    }
    if (has_point) {
      buffer_.put(module_pointer(context.module));
      buffer_.put(context.offset);
    }
  }

  struct Children {
    uint64_t bytes;
    uint64_t pointer;
  };

  const Database& database_;
  const std::vector<bool>& copied_;
  OutputFile file_;
  OutputBuffer buffer_;
  uint64_t base_ = 0;
  uint64_t modules_ = 0, files_ = 0, functions_ = 0;
  std::vector<uint64_t> module_paths_, file_paths_, function_names_, entry_names_;
  std::vector<Children> children_;
};

}  // namespace

void write_meta(const Database& database, const std::vector<bool>& copied,
                const std::filesystem::path& directory) {
  MetaWriter(database, copied, directory).write();
}

}  // namespace prof
