//===- Counts.cpp - counters as a table and as JSON -----------------------------===//

#include "tools/gfx950emu/count/Counts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <utility>
#include <vector>

using namespace llvm;

namespace gfx950emu::count {

InstCounts &InstCounts::operator+=(const InstCounts &other) {
  instructions += other.instructions;
  lanes += other.lanes;
  mfmaPasses += other.mfmaPasses;
  memoryAccesses += other.memoryAccesses;
  lines += other.lines;
  ldsPhases32 += other.ldsPhases32;
  ldsConflicts32 += other.ldsConflicts32;
  ldsPhases64 += other.ldsPhases64;
  ldsConflicts64 += other.ldsConflicts64;
  return *this;
}

SpaceBytes &SpaceBytes::operator+=(const SpaceBytes &other) {
  read += other.read;
  written += other.written;
  atomic += other.atomic;
  return *this;
}

namespace {

constexpr Space allSpaces[] = {Space::Global, Space::Lds, Space::Scratch, Space::Constant};

void printRow(raw_ostream &os, StringRef name, const InstCounts &c) {
  os << "  " << left_justify(name, 36) << format("%14llu", (unsigned long long)c.instructions);
  if (c.lanes)
    os << format("%10.2f", double(c.lanes) / double(c.instructions));
  else
    os << right_justify("-", 10);
  if (c.memoryAccesses)
    os << format("%14.2f", double(c.lines) / double(c.memoryAccesses));
  else
    os << right_justify("-", 14);
  uint64_t conflicts = c.ldsConflicts32 + c.ldsConflicts64;
  if (c.ldsPhases32 + c.ldsPhases64)
    os << format("%16llu", (unsigned long long)conflicts);
  else
    os << right_justify("-", 16);
  if (c.mfmaPasses)
    os << format("%14llu", (unsigned long long)c.mfmaPasses);
  else
    os << right_justify("-", 14);
  os << '\n';
}

void printHead(raw_ostream &os, StringRef name) {
  os << "  " << left_justify(name, 36) << right_justify("instructions", 14)
     << right_justify("lanes", 10) << right_justify("lines/access", 14)
     << right_justify("LDS conflicts", 16) << right_justify("MFMA passes", 14) << '\n';
}

json::Object toJson(const InstCounts &c) {
  return json::Object{{"instructions", c.instructions},
                      {"lanes", c.lanes},
                      {"mfma_passes", c.mfmaPasses},
                      {"memory_accesses", c.memoryAccesses},
                      {"lines", c.lines},
                      {"lds_phases_32_banks", c.ldsPhases32},
                      {"lds_conflicts_32_banks", c.ldsConflicts32},
                      {"lds_phases_64_banks", c.ldsPhases64},
                      {"lds_conflicts_64_banks", c.ldsConflicts64}};
}

} // namespace

void printTable(const Counts &counts, raw_ostream &os) {
  os << counts.kernel << ": " << counts.workgroups << " workgroups, " << counts.waves
     << " waves, longest " << counts.longestWave << " instructions, " << counts.barrierReleases
     << " workgroup barriers\n";
  printHead(os, "class");
  for (unsigned i = 0; i < instClasses; ++i)
    if (counts.classes[i].instructions)
      printRow(os, className(InstClass(i)), counts.classes[i]);
  InstCounts all = counts.total;
  all.lanes = 0; // a mean over instructions with and without lanes says nothing
  printRow(os, "all", all);

  printHead(os, "opcode");
  std::vector<std::pair<StringRef, const InstCounts *>> rows;
  rows.reserve(counts.opcodes.size());
  for (const auto &[name, c] : counts.opcodes)
    rows.emplace_back(name, &c);
  llvm::sort(rows, [](const auto &a, const auto &b) {
    return std::pair(b.second->instructions, a.first) < std::pair(a.second->instructions, b.first);
  });
  for (const auto &[name, c] : rows)
    printRow(os, name, *c);

  os << "  " << left_justify("bytes", 36) << right_justify("read", 18)
     << right_justify("written", 18) << right_justify("atomic", 18) << '\n';
  for (Space space : allSpaces) {
    const SpaceBytes &b = counts.of(space);
    os << "  " << left_justify(spaceName(space), 36)
       << format("%18llu%18llu%18llu\n", (unsigned long long)b.read, (unsigned long long)b.written,
                 (unsigned long long)b.atomic);
  }
  os << "  distinct lines of " << lineBytes << " bytes: " << counts.linesRead << " read, "
     << counts.linesWritten << " written, " << counts.linesTouched << " in all, "
     << counts.scalarLines << " by scalar loads\n";
}

json::Object toJson(const Counts &counts) {
  json::Object classes, opcodes, bytes;
  for (unsigned i = 0; i < instClasses; ++i)
    if (counts.classes[i].instructions)
      classes[className(InstClass(i))] = toJson(counts.classes[i]);
  for (const auto &[name, c] : counts.opcodes)
    opcodes[name] = toJson(c);
  for (Space space : allSpaces) {
    const SpaceBytes &b = counts.of(space);
    bytes[spaceName(space)] =
        json::Object{{"read", b.read}, {"written", b.written}, {"atomic", b.atomic}};
  }
  return json::Object{{"kernel", counts.kernel},
                      {"workgroups", counts.workgroups},
                      {"waves", counts.waves},
                      {"longest_wave", counts.longestWave},
                      {"barrier_releases", counts.barrierReleases},
                      {"total", toJson(counts.total)},
                      {"classes", std::move(classes)},
                      {"opcodes", std::move(opcodes)},
                      {"bytes", std::move(bytes)},
                      {"lines_read", counts.linesRead},
                      {"lines_written", counts.linesWritten},
                      {"lines_touched", counts.linesTouched},
                      {"scalar_lines", counts.scalarLines}};
}

} // namespace gfx950emu::count
