//===- Flow.cpp -------------------------------------------------------------===//

#include "compiler/lint/Flow.h"

#include "llvm/ADT/DenseMap.h"

#include <fmt/format.h>

namespace nvfp4gen::lint {

namespace {

class Walk {
public:
  Walk(Decoder &decoder, llvm::ArrayRef<uint8_t> code) : decoder(decoder), code(code) {}

  llvm::Expected<Flow> run(uint64_t entry) {
    reach(entry, std::nullopt);
    while (!pending.empty()) {
      uint32_t index = pending.back();
      pending.pop_back();
      if (flow.code.size() > kMaxInstructions)
        return llvm::createStringError(
            fmt::format("code at offset {}: more than {} instructions", entry, kMaxInstructions));
      follow(index);
    }
    return std::move(flow);
  }

private:
  void fault(uint64_t pc, bool decodable, std::string why) {
    flow.faults.push_back({pc, decodable, std::move(why)});
  }

  /// Control goes to `pc` from the instruction `from`.
  void reach(uint64_t pc, std::optional<uint32_t> from) {
    auto [place, fresh] = indices.try_emplace(pc, uint32_t(flow.code.size()));
    if (fresh) {
      std::optional<Instruction> instruction;
      if (pc < code.size())
        instruction = decoder.decode(code, pc);
      if (!instruction) {
        fault(pc, false,
              pc < code.size() ? "no gfx950 instruction" : "control flow leaves the code");
        place->second = kNone;
      } else {
        pending.push_back(place->second);
        flow.code.push_back(std::move(*instruction));
        flow.predecessors.emplace_back();
      }
    }
    if (place->second != kNone && from)
      flow.predecessors[place->second].push_back(*from);
  }

  void follow(uint32_t index) {
    const Instruction &instruction = flow.code[index];
    const OpcodeInfo &info = *instruction.info;
    uint64_t next = instruction.pc + instruction.size;
    int64_t target = instruction.target;
    if (info.traits & (IndexMode | MoveRelative))
      fault(instruction.pc, true, "registers are chosen at run time");
    switch (info.control) {
    case Control::Next:
      reach(next, index);
      break;
    case Control::Conditional:
      reach(next, index);
      [[fallthrough]];
    case Control::Branch:
      if (target < 0)
        fault(flow.code[index].pc, false, "control flow leaves the code");
      else
        reach(uint64_t(target), index);
      break;
    case Control::Call:
      fault(instruction.pc, true, "the code it calls is not checked");
      reach(next, index);
      break;
    case Control::Indirect:
      fault(instruction.pc, true, "the code it jumps to is not checked");
      break;
    case Control::End:
      break;
    }
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  Decoder &decoder;
  llvm::ArrayRef<uint8_t> code;
  Flow flow;
  llvm::DenseMap<uint64_t, uint32_t> indices; ///< by pc
  std::vector<uint32_t> pending;
};

} // namespace

llvm::Expected<Flow> followFlow(Decoder &decoder, llvm::ArrayRef<uint8_t> code, uint64_t entry) {
  return Walk(decoder, code).run(entry);
}

} // namespace nvfp4gen::lint
