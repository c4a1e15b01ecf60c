#include "analysis/disassembly/instruction_text.h"

#include <Zydis/Decoder.h>
#include <Zydis/Formatter.h>
#include <Zydis/Utils.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace prof {
namespace {

// Replaces conditions that have two names with those of GNU's tools and compilers: "jnz" is "jne".
std::string with_usual_condition(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kConditions[] = {
      {"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};
  const size_t end = std::min(text.find(' '), text.size());
  for (const std::string_view operation : {"j", "set", "cmov"}) {
    if (!text.starts_with(operation)) continue;
    const std::string_view condition =
        std::string_view(text).substr(operation.size(), end - operation.size());
    for (const auto& [name, usual] : kConditions) {
      const bool has_suffix = condition.size() == name.size() + 1 &&
                              std::string_view("bwlq").find(condition.back()) != std::string_view::npos;
      if (condition != name && !(has_suffix && condition.starts_with(name))) continue;
      return text.replace(operation.size(), name.size(), usual);
    }
  }
  return text;
}

class Writer {
 public:
  explicit Writer(Syntax syntax) : syntax_(syntax) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter_,
                       syntax == Syntax::Att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    for (const ZydisFormatterProperty padding :
         {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
          ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING})
      ZydisFormatterSetProperty(&formatter_, padding, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter_, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, false);
  }

  DecodedInstruction decode(std::span<const uint8_t> code, uint64_t address, const NameOfAddress& name_of) {
    DecodedInstruction out{.address = address, .length = 1, .text = "(bad)"};
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &instruction, operands)))
      return out;
    // A memory operand may differ in size from the register next to it; a plain address has no size.
    if (syntax_ == Syntax::Intel)
      ZydisFormatterSetProperty(&formatter_, ZYDIS_FORMATTER_PROP_FORCE_SIZE,
                                instruction.mnemonic != ZYDIS_MNEMONIC_LEA);
    char text[kMaxCharacters];
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter_, &instruction, operands,
                                                      instruction.operand_count_visible, text, sizeof text,
                                                      address, nullptr)))
      return out;
    out.length = instruction.length;
    out.text = with_usual_condition(text);
    out.is_call = instruction.meta.category == ZYDIS_CATEGORY_CALL;
    for (uint8_t i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      ZyanU64 named = 0;
      const bool is_relative =
          (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative) ||
          (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP);
      if (!is_relative || !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operand, address, &named)))
        continue;
      if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) out.target = named;
      if (const std::string name = name_of ? name_of(named) : std::string(); !name.empty())
        out.text += fmt::format(" <{}>", name);
    }
    return out;
  }

 private:
  static constexpr size_t kMaxCharacters = 256;

  Syntax syntax_;
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
};

}  // namespace

std::vector<DecodedInstruction> decode_instructions(std::span<const uint8_t> code, uint64_t address,
                                                    Syntax syntax, const NameOfAddress& name_of) {
  Writer writer(syntax);
  std::vector<DecodedInstruction> instructions;
  while (!code.empty()) {
    const DecodedInstruction& next = instructions.emplace_back(writer.decode(code, address, name_of));
    address += next.length;
    code = code.subspan(next.length);
  }
  return instructions;
}

}  // namespace prof
