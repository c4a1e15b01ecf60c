// The pass of `prof cc`: annotates the regions of code in which memory must be as it is (regions.h; TMI,
// section 3.4.2), as a plugin of clang 14. It runs after all optimizations. They work on the unannotated
// program, and nothing that they add is missed.

#include "repair/isolate/pass/regions.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <string>
#include <vector>

using namespace llvm;

namespace {

// Incorrectly annotated programs must fail the tests that correctly annotated ones pass.
enum class LeftOut { Nothing, Commits, Accesses };
cl::opt<LeftOut> left_out("prof-regions-leave-out", cl::Hidden, cl::init(LeftOut::Nothing),
                          cl::values(clEnumValN(LeftOut::Commits, "commits", "for tests of prof alone"),
                                     clEnumValN(LeftOut::Accesses, "accesses", "for tests of prof alone")));

// The calls that an instruction needs around it.
struct Region {
  enum Kind { Access, Barrier, Share, ShareAll, Common };
  Kind kind;
  unsigned flags = 0;            // Access, Barrier: when it commits
  unsigned operand = 0;          // Access, Share: the pointer operand
  const Value* bytes = nullptr;  // Share
  Instruction* instruction = nullptr;
};
using MaybeRegion = Optional<Region>;

constexpr unsigned kBoth = kProfCommitBefore | kProfCommitAfter;

unsigned flags_of(AtomicOrdering order) {
  unsigned flags = 0;
  if (isReleaseOrStronger(order)) flags |= kProfCommitBefore;
  if (isAcquireOrStronger(order)) flags |= kProfCommitAfter;
  return order == AtomicOrdering::SequentiallyConsistent ? kBoth : flags;
}

// For assembly that accesses no memory, which with a memory clobber is a barrier. Returns its text in lower
// case with words separated by single spaces.
std::string words_of(StringRef assembly) {
  std::string words;
  for (const char c : assembly) {
    const bool parts = isSpace(c) || c == ';';
    if (!parts)
      words += toLower(c);
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}
bool is_barrier(StringRef assembly) {
  return StringSwitch<bool>(words_of(assembly))
      .Cases("", "nop", "pause", "rep nop", "mfence", "lfence", "sfence", true)
      .Cases("lock addl $$0,0(%rsp)", "lock addl $$0, 0(%rsp)", "lock orl $$0,(%rsp)", "lock orq $$0,(%rsp)",
             true)
      .Default(false);
}

bool has_pointers(const CallBase& call) {
  return any_of(call.args(), [](const Use& use) { return use->getType()->isPtrOrPtrVectorTy(); });
}

MaybeRegion region_of_assembly(const CallBase& call, const InlineAsm& assembly) {
  bool clobbers = false;
  for (const InlineAsm::ConstraintInfo& constraint : assembly.ParseConstraints())
    clobbers |= constraint.Type == InlineAsm::isClobber && is_contained(constraint.Codes, "{memory}");
  if (is_barrier(assembly.getAsmString()) && !has_pointers(call)) {
    if (!clobbers) return None;
    const bool is_fence = assembly.getAsmString().find_first_not_of(" \t\n;") != std::string::npos;
    return Region{Region::Barrier, is_fence ? kBoth : +kProfCommitBefore};
  }
  if (!clobbers && !has_pointers(call)) return None;
  return Region{isa<CallInst>(call) ? Region::Common : Region::ShareAll};
}

// Functions of libatomic, and of the C library's <stdatomic.h>.
MaybeRegion region_of_call(const CallBase& call, const Function& callee) {
  StringRef name = callee.getName();
  if (name == "atomic_thread_fence" || name == "atomic_signal_fence") return Region{Region::Barrier, kBoth};
  if (name.consume_front("atomic_flag_") && call.arg_size() > 0) return Region{Region::Share, kBoth, 0};
  if (!name.consume_front("__atomic_") && !name.consume_front("__sync_")) return None;
  if (name.endswith("_lock_free") || name.startswith("feraise")) return None;
  // __atomic_load_8(pointer, ...), __atomic_load(bytes, pointer, ...)
  const bool is_sized = call.arg_size() > 0 && call.getArgOperand(0)->getType()->isPointerTy();
  if (is_sized) return Region{Region::Share, kBoth, 0};
  if (call.arg_size() > 1 && call.getArgOperand(1)->getType()->isPointerTy())
    return Region{Region::Share, kBoth, 1, call.getArgOperand(0)};
  return Region{Region::ShareAll, kBoth};
}

MaybeRegion region_of_intrinsic(const IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case Intrinsic::x86_sse2_mfence:
    case Intrinsic::x86_sse2_lfence:
    case Intrinsic::x86_sse_sfence:
      return Region{Region::Barrier, kBoth};
    case Intrinsic::x86_xbegin:  // what follows takes effect at once for other threads
      return Region{Region::ShareAll};
    default:
      break;
  }
  if (isa<AtomicMemIntrinsic>(call)) return Region{Region::Common};
  if (const auto* memory = dyn_cast<MemIntrinsic>(&call); memory && memory->isVolatile())
    return Region{Region::Common};
  return None;
}

// Variables whose address does not leave their function do not concern other threads. (LLVM's own analysis
// counts volatile accesses as escapes.)
class OwnVariables {
 public:
  bool has(const Value* pointer) {
    const auto* variable = dyn_cast<AllocaInst>(getUnderlyingObject(pointer));
    if (!variable) return false;
    const auto [known, fresh] = own_.try_emplace(variable, false);
    if (!fresh) return known->second;
    const bool stays = address_stays(*variable);
    return own_[variable] = stays;
  }

 private:
  static bool address_stays(const AllocaInst& variable) {
    SmallVector<const Value*, 8> names{&variable};
    SmallPtrSet<const Value*, 8> seen{&variable};
    while (!names.empty())
      for (const Use& use : names.pop_back_val()->uses()) {
        const auto& user = *cast<Instruction>(use.getUser());
        if (isa<GetElementPtrInst, BitCastInst, PHINode, SelectInst>(user)) {
          if (seen.insert(&user).second) names.push_back(&user);
        } else if (!is_access_to(user, use)) {
          return false;
        }
      }
    return true;
  }
  static bool is_access_to(const Instruction& user, const Use& use);

  DenseMap<const AllocaInst*, bool> own_;
};

struct AccessOf {
  unsigned operand;
  AtomicOrdering order = AtomicOrdering::NotAtomic;
  SyncScope::ID scope = SyncScope::System;
  bool is_volatile = false;
  bool loads = true;
  bool stores = true;
};

Optional<AccessOf> access_of(const Instruction& instruction) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return AccessOf{LoadInst::getPointerOperandIndex(),
                    load->getOrdering(),
                    load->getSyncScopeID(),
                    load->isVolatile(),
                    true,
                    false};
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    return AccessOf{StoreInst::getPointerOperandIndex(),
                    store->getOrdering(),
                    store->getSyncScopeID(),
                    store->isVolatile(),
                    false,
                    true};
  if (const auto* change = dyn_cast<AtomicRMWInst>(&instruction))
    return AccessOf{AtomicRMWInst::getPointerOperandIndex(), change->getOrdering(), change->getSyncScopeID(),
                    change->isVolatile()};
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return AccessOf{AtomicCmpXchgInst::getPointerOperandIndex(), exchange->getMergedOrdering(),
                    exchange->getSyncScopeID(), exchange->isVolatile()};
  return None;
}

bool OwnVariables::is_access_to(const Instruction& user, const Use& use) {
  if (const Optional<AccessOf> access = access_of(user)) return use.getOperandNo() == access->operand;
  const auto* call = dyn_cast<IntrinsicInst>(&user);
  return call && (call->isLifetimeStartOrEnd() || isa<MemIntrinsic, DbgInfoIntrinsic>(call));
}

MaybeRegion region_of_access(const Instruction& instruction, const AccessOf& access, OwnVariables& own) {
  const bool is_atomic = access.order != AtomicOrdering::NotAtomic && access.scope != SyncScope::SingleThread;
  const Value* const pointer = instruction.getOperand(access.operand);
  if (!(is_atomic || access.is_volatile) || own.has(pointer)) return None;
  // Relative to a segment: there is no address to pass.
  if (pointer->getType()->getPointerAddressSpace() != 0) return Region{Region::Common};
  unsigned flags = is_atomic ? flags_of(access.order) : 0;
  if (access.is_volatile && access.stores) flags |= kProfCommitBefore;
  if (access.is_volatile && access.loads) flags |= kProfCommitAfter;
  return Region{Region::Access, flags, access.operand};
}

MaybeRegion region_of(const Instruction& instruction, OwnVariables& own) {
  if (const Optional<AccessOf> access = access_of(instruction))
    return region_of_access(instruction, *access, own);
  if (const auto* fence = dyn_cast<FenceInst>(&instruction)) {
    const bool is_compilers = fence->getSyncScopeID() == SyncScope::SingleThread;
    return Region{Region::Barrier, is_compilers ? +kProfCommitBefore : flags_of(fence->getOrdering())};
  }
  const auto* call = dyn_cast<CallBase>(&instruction);
  if (!call) return None;
  if (const auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return region_of_assembly(*call, *assembly);
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(call)) return region_of_intrinsic(*intrinsic);
  const Function* callee = call->getCalledFunction();
  return callee && callee->isDeclaration() ? region_of_call(*call, *callee) : None;
}

// Adds the calls to a module.
class Annotator {
 public:
  explicit Annotator(Module& module)
      : module_(module),
        context_(module.getContext()),
        nothing_(Type::getVoidTy(context_)),
        address_(Type::getInt8PtrTy(context_)),
        bytes_(Type::getInt64Ty(context_)),
        flags_(Type::getInt32Ty(context_)),
        unlikely_(MDBuilder(context_).createBranchWeights(1, 1 << 20)) {}

  void annotate(Function& function) {
    OwnVariables own;
    std::vector<Region> regions;
    for (Instruction& instruction : instructions(function))
      if (MaybeRegion region = region_of(instruction, own)) {
        region->instruction = &instruction;
        regions.push_back(*region);
      }
    if (left_out == LeftOut::Accesses) return;
    for (Region& region : regions) {
      if (left_out == LeftOut::Commits) region.flags = 0;
      surround(region);
    }
  }

 private:
  void surround(const Region& region) {
    Instruction& instruction = *region.instruction;
    switch (region.kind) {
      case Region::Access:
        return surround_access(instruction, region);
      case Region::Barrier:
        if (region.flags & kProfCommitBefore) call_before(instruction, "prof_commit", {});
        if (region.flags & kProfCommitAfter) call_after(instruction, "prof_commit", {});
        return;
      case Region::Share: {
        IRBuilder<> builder(&instruction);
        Value* const pointer = builder.CreatePointerCast(instruction.getOperand(region.operand), address_);
        Value* const bytes = region.bytes
                                 ? builder.CreateZExtOrTrunc(const_cast<Value*>(region.bytes), bytes_)
                                 : ConstantInt::get(bytes_, 0);
        call_before(instruction, "prof_share", {pointer, bytes});
        if (region.flags & kProfCommitAfter) call_after(instruction, "prof_commit", {});
        return;
      }
      case Region::ShareAll:
        call_before(instruction, "prof_share",
                    {Constant::getNullValue(address_), ConstantInt::get(bytes_, 0)});
        return;
      case Region::Common:
        call_before(instruction, "prof_region_begin", {});
        call_after(instruction, "prof_region_end", {});
        return;
    }
  }

  // Emits the instruction twice: for programs without isolation, and on common memory.
  void surround_access(Instruction& instruction, const Region& region) {
    Value* const pointer = instruction.getOperand(region.operand);
    const DataLayout& layout = module_.getDataLayout();
    Type* const type = accessed_type(instruction);
    Instruction *common_end, *plain_end;
    SplitBlockAndInsertIfThenElse(is_there("prof_atomic_begin"), &instruction, &common_end, &plain_end,
                                  unlikely_);

    IRBuilder<> builder(common_end);
    builder.SetCurrentDebugLocation(instruction.getDebugLoc());
    Value* const address = builder.CreatePointerCast(pointer, address_);
    Value* const bytes = ConstantInt::get(bytes_, layout.getTypeStoreSize(type).getFixedSize());
    Value* const flags = ConstantInt::get(flags_, region.flags);
    Value* const common = call(builder, "prof_atomic_begin", {address, bytes, flags});
    Instruction* const copy = instruction.clone();
    copy->setOperand(region.operand, builder.CreatePointerCast(common, pointer->getType()));
    builder.Insert(copy);
    call(builder, "prof_atomic_end", {address, bytes, flags});

    if (!instruction.getType()->isVoidTy()) {
      PHINode* const result =
          PHINode::Create(instruction.getType(), 2, "", &instruction.getParent()->front());
      instruction.replaceAllUsesWith(result);
      result->addIncoming(copy, common_end->getParent());
      result->addIncoming(&instruction, plain_end->getParent());
    }
    instruction.moveBefore(plain_end);
  }

  static Type* accessed_type(const Instruction& instruction) {
    if (const auto* store = dyn_cast<StoreInst>(&instruction)) return store->getValueOperand()->getType();
    if (const auto* change = dyn_cast<AtomicRMWInst>(&instruction)) return change->getValOperand()->getType();
    if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      return exchange->getNewValOperand()->getType();
    return instruction.getType();
  }

  void call_before(Instruction& instruction, StringRef name, ArrayRef<Value*> arguments) {
    Instruction* const end = SplitBlockAndInsertIfThen(is_there(name), &instruction, false, unlikely_);
    IRBuilder<> builder(end);
    builder.SetCurrentDebugLocation(instruction.getDebugLoc());
    call(builder, name, arguments);
  }
  void call_after(Instruction& instruction, StringRef name, ArrayRef<Value*> arguments) {
    if (auto* invoke = dyn_cast<InvokeInst>(&instruction)) {
      BasicBlock* const edge = SplitEdge(invoke->getParent(), invoke->getNormalDest());
      return call_before(edge->front(), name, arguments);
    }
    call_before(*instruction.getNextNode(), name, arguments);
  }

  Value* is_there(StringRef name) {
    Function* const function = declared(name);
    return ConstantExpr::getICmp(CmpInst::ICMP_NE, function, Constant::getNullValue(function->getType()));
  }

  Value* call(IRBuilder<>& builder, StringRef name, ArrayRef<Value*> arguments) {
    CallInst* const made = builder.CreateCall(declared(name), arguments);
    made->setCallingConv(CallingConv::PreserveMost);
    made->addFnAttr(Attribute::NoUnwind);
    made->addFnAttr(Attribute::Cold);
    return made;
  }

  Function* declared(StringRef name) {
    if (Function* const known = module_.getFunction(name)) return known;
    FunctionType* const type =
        StringSwitch<FunctionType*>(name)
            .Case("prof_atomic_begin", FunctionType::get(address_, {address_, bytes_, flags_}, false))
            .Case("prof_atomic_end", FunctionType::get(nothing_, {address_, bytes_, flags_}, false))
            .Case("prof_share", FunctionType::get(nothing_, {address_, bytes_}, false))
            .Default(FunctionType::get(nothing_, false));
    Function* const function = Function::Create(type, GlobalValue::ExternalWeakLinkage, name, module_);
    function->setCallingConv(CallingConv::PreserveMost);
    // Only through the global offset table: a linker that finds another reference in a program resolves it to
    // 0 permanently.
    function->addFnAttr(Attribute::NonLazyBind);
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr(Attribute::Cold);
    return function;
  }

  Module& module_;
  LLVMContext& context_;
  Type* const nothing_;
  PointerType* const address_;
  IntegerType* const bytes_;
  IntegerType* const flags_;
  MDNode* const unlikely_;
};

void mark(Function& function) {
  if (function.hasPrefixData()) return;
  function.setPrefixData(ConstantDataArray::get(function.getContext(), makeArrayRef(kProfFunctionMark)));
}

void add_note(Module& module) {
  const ProfRegionsNote note;
  Constant* const bytes = ConstantDataArray::get(
      module.getContext(), makeArrayRef(reinterpret_cast<const uint8_t*>(&note), sizeof note));
  auto* const variable = new GlobalVariable(module, bytes->getType(), true, GlobalValue::LinkOnceODRLinkage,
                                            bytes, "prof_regions_note");
  variable->setSection(".note.prof.regions");
  variable->setAlignment(Align(4));
  appendToCompilerUsed(module, {variable});
}

struct Annotate : PassInfoMixin<Annotate> {
  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    constexpr const char* kDone = "prof.regions";
    if (module.getNamedMetadata(kDone)) return PreservedAnalyses::all();
    module.getOrInsertNamedMetadata(kDone);
    Annotator annotator(module);
    for (Function& function : module) {
      const bool is_ours = !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
                           !function.hasFnAttribute(Attribute::Naked);
      if (!is_ours) continue;
      annotator.annotate(function);
      mark(function);
    }
    add_note(module);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }  // also without optimization
};

}  // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "prof-regions", "1", [](PassBuilder& builder) {
            builder.registerOptimizerLastEPCallback(
                [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(Annotate()); });
          }};
}
