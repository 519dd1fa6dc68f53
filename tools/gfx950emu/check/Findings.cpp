//===- Findings.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/check/Findings.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace gfx950emu::check {

std::string hexText(uint64_t value) { return "0x" + utohexstr(value, /*LowerCase=*/true); }

std::string describe(const DecodedProgram &program, const Inst *in) {
  return "`" + program.text(in) + "` at " + program.location(program.address(in));
}

std::string Finding::message() const {
  std::string s = switchOf(kind).title.str() + ": kernel " + kernel + ", workgroup (" +
                  std::to_string(workgroup[0]) + ", " + std::to_string(workgroup[1]) + ", " +
                  std::to_string(workgroup[2]) + "), wave " + std::to_string(wave);
  if (lane >= 0)
    s += ", lane " + std::to_string(lane);
  s += ", pc " + hexText(pc) + " (" + location + "): `" + text + "`: " + detail;
  if (count > 1)
    s += " [" + std::to_string(count) + " times]";
  return s;
}

void Findings::report(CheckKind kind, const WorkgroupInfo &group, const Wave &wave, const Inst *in,
                      int lane, function_ref<std::string()> detail) {
  const DecodedProgram &program = *wave.program;
  const std::string &kernel = group.dispatch->kernel->name;
  uint64_t pc = program.address(in);
  std::lock_guard lock(mutex);
  auto key = std::make_tuple(kernel, pc, kind);
  if (auto it = places.find(key); it != places.end()) {
    ++it->second.count;
    return;
  }
  if (places.size() >= limit) {
    ++beyond;
    return;
  }
  places.emplace(key, Finding{kind, kernel, group.id, wave.indexInGroup, lane, pc,
                              program.location(pc), program.text(in), detail(), 1});
}

std::vector<Finding> Findings::list() const {
  std::lock_guard lock(mutex);
  std::vector<Finding> all;
  all.reserve(places.size());
  for (const auto &[key, finding] : places)
    all.push_back(finding);
  return all;
}

uint64_t Findings::dropped() const {
  std::lock_guard lock(mutex);
  return beyond;
}

void Findings::clear() {
  std::lock_guard lock(mutex);
  places.clear();
  beyond = 0;
}

} // namespace gfx950emu::check
