#pragma once
// Describes the data of one process: which variable or allocation lies at an address, and what is known of
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
  // All must outlive the object. Each module that cannot be read is reported in one warning.
  KnownData(const ProcessData& process, const AttributionOptions& options, std::vector<std::string>& warnings)
      : process_(process), known_(process.modules, options, warnings) {}

  // Adds allocations; those of one calling context share one site. `allocations` must outlive the object.
  void add(std::span<const MeasuredObject> allocations, std::span<const ThreadInDatabase> threads);

  const ProcessData& process() const { return process_; }
  const std::vector<DataObject>& objects() const { return objects_; }

  // Returns the database's context of the allocation site; nullopt if the object is not an allocation.
  std::optional<uint32_t> allocated_in(uint32_t object) const;

  // Returns the measured object; nullptr if it is not an allocation.
  const MeasuredObject* allocation(uint32_t object) const;

  // Returns a variable's place in its module; no module if the object is not a variable.
  ModuleAddress place_of(uint32_t object) const;

  // Returns the place of memory that a module's file maps, such as variables without symbols; no module
  // elsewhere.
  ModuleAddress in_module(uint64_t address) const;

  // Return an index into objects(), to which variables are added when they are first looked up; kNoObject if
  // nothing is known.
  uint32_t object_of(const MeasuredAccess& access);
  uint32_t variable_at(uint64_t address);

  // Returns the object that names a finding: the variable with the lowest address among those that its sides
  // use, which is the same in every process; without variables, its first object. kNoObject: none is known.
  uint32_t main_object(const ContendedData& found) const;

  // Returns nullptr if the object is not a variable.
  const Variable* variable_of(uint32_t object) const;

  // Returns the parts of a variable in [from, to), in bytes from its start; empty for other objects.
  std::vector<DataPart> parts(uint32_t object, uint64_t from, uint64_t to) const;

  // Returns those of the objects that are variables, with their types.
  TypedObjects typed(std::span<const uint32_t> objects) const;

 private:
  const ProcessData& process_;
  ProcessVariables known_;
  uint32_t next_site_ = 0;
  std::vector<DataObject> objects_;
  std::map<uint64_t, uint32_t> by_id_;
  std::map<uint32_t, uint32_t> allocated_in_;  // by object
  std::map<uint32_t, const MeasuredObject*> allocations_;
  std::map<const Variable*, uint32_t> by_variable_;
  std::map<uint32_t, VariableInMemory> variables_;
};

}  // namespace prof
