#pragma once
// The data of one process as it ran: which variable or allocation lies at an address, and what is known of
// it.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/contention/evidence.h"
#include "analysis/contention/separation.h"
#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/process_variables.h"
#include "analysis/repair/repair_file.h"

namespace prof {

class KnownData {
 public:
  // All must outlive the object. A module that cannot be read is a warning, once.
  KnownData(const ProcessData& process, const AttributionOptions& options, std::vector<std::string>& warnings)
      : process_(process), known_(process.modules, options, warnings) {}

  // Those of one calling context have one site. `allocations` must outlive the object.
  void add(std::span<const MeasuredObject> allocations, std::span<const ThreadInDatabase> threads);

  const ProcessData& process() const { return process_; }
  const std::vector<DataObject>& objects() const { return objects_; }

  // Where the allocation was made, as a context of the database; nothing for what is none.
  std::optional<uint32_t> allocated_in(uint32_t object) const;

  // The measured object; nullptr for what is no allocation.
  const MeasuredObject* allocation(uint32_t object) const;

  // Of a variable its place in its module; no module for what is none.
  ModuleAddress place_of(uint32_t object) const;

  // Of memory that a module's file has, as variables of which it has no symbols; no module elsewhere.
  ModuleAddress in_module(uint64_t address) const;

  // An index into objects(), which grow by variables that are first asked for; kNoObject where nothing is
  // known.
  uint32_t object_of(const MeasuredAccess& access);
  uint32_t variable_at(uint64_t address);

  // The object that names a finding: of the variables that its sides use the one with the lowest address, in
  // every process the same; else its first object. kNoObject: none is known.
  uint32_t main_object(const ContendedData& found) const;

  // nullptr where the object is no variable.
  const Variable* variable_of(uint32_t object) const;

  // Of a variable those in [from, to), bytes from its begin; nothing of other objects.
  std::vector<DataPart> parts(uint32_t object, uint64_t from, uint64_t to) const;

  // Those of the objects that are variables, with their types.
  TypedObjects typed(std::span<const uint32_t> objects) const;

 private:
  const ProcessData& process_;
  ProcessVariables known_;
  uint32_t next_site_ = 0;
  std::vector<DataObject> objects_;
  std::map<uint64_t, uint32_t> by_id_;
  std::map<uint32_t, uint32_t> allocated_in_;  // object to context
  std::map<uint32_t, const MeasuredObject*> allocations_;
  std::map<const Variable*, uint32_t> by_variable_;
  std::map<uint32_t, VariableInMemory> variables_;
};

}  // namespace prof
