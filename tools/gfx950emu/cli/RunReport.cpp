//===- RunReport.cpp ----------------------------------------------------------===//

#include "tools/gfx950emu/cli/RunReport.h"

#include "tools/gfx950emu/count/Cost.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace gfx950emu::cli {

namespace {

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

uint64_t totalBytes(const Ranges &ranges) {
  uint64_t total = 0;
  for (auto [begin, end] : ranges)
    total += end - begin;
  return total;
}

void printUnwritten(const Ranges &ranges) {
  constexpr size_t shown = 8;
  uint64_t total = totalBytes(ranges);
  if (total == 0) {
    outs() << ", all written";
    return;
  }
  outs() << ", " << total << " never written:";
  for (size_t i = 0; i < ranges.size() && i < shown; ++i)
    outs() << " [" << ranges[i].first << ", " << ranges[i].second << ')';
  if (ranges.size() > shown)
    outs() << " and " << ranges.size() - shown << " more ranges";
}

/// Where an address of emulated memory is, in the words of the command line.
struct Place {
  std::string buffer;  ///< file of the argument; empty for a variable of the code object
  uint64_t offset = 0; ///< the address itself without a buffer
};

Place placeOf(const Arguments &arguments, uint64_t address) {
  for (const Arguments::Buffer &buffer : arguments.buffers())
    if (uint64_t offset = address - reinterpret_cast<uint64_t>(buffer.data); offset < buffer.bytes)
      return {buffer.spec.file, offset};
  return {"", address};
}

json::Object findingJson(const check::Finding &finding) {
  json::Object object{
      {"check", check::switchOf(finding.kind).name},
      {"kind", check::switchOf(finding.kind).title},
      {"kernel", finding.kernel},
      {"workgroup", json::Array{finding.workgroup[0], finding.workgroup[1], finding.workgroup[2]}},
      {"wave", finding.wave},
      {"pc", finding.pc},
      {"location", finding.location},
      {"instruction", finding.text},
      {"detail", finding.detail},
      {"count", finding.count}};
  if (finding.lane >= 0)
    object["lane"] = finding.lane;
  return object;
}

} // namespace

int RunReport::exitCode() const {
  if (!findings.empty())
    return exitFinding;
  return differences.empty() ? exitDone : exitOrder;
}

void RunReport::printText() const {
  constexpr size_t shown = 32;
  if (stats)
    outs() << command.kernel << ": " << stats->waves << " waves, " << stats->instructions
           << " wave instructions, " << stats->globalBytesRead << " bytes read, "
           << stats->globalBytesWritten << " bytes written\n";
  for (const Result &result : results) {
    outs() << result.file << ": " << result.bytes << " bytes";
    if (result.unwritten)
      printUnwritten(*result.unwritten);
    outs() << '\n';
  }
  for (const check::Finding &finding : findings)
    outs() << finding.message() << '\n';
  if (droppedFindings)
    outs() << droppedFindings << " more findings\n";
  if (skippedRaceAccesses)
    outs() << skippedRaceAccesses << " global accesses were not checked for races: the history is "
           << "full\n";
  if (!findings.empty())
    for (const Arguments::Buffer &buffer : arguments.buffers())
      outs() << buffer.spec.file << " is at "
             << formatv("{0:x}, {1} bytes\n", reinterpret_cast<uint64_t>(buffer.data),
                        buffer.bytes);
  if (command.checks && stats)
    outs() << "checks " << check::checkNames(*command.checks) << ": "
           << (findings.empty() ? "nothing found" : Twine(findings.size()) + " found") << '\n';
  for (const check::OrderDifference &difference : differences) {
    for (const check::ByteDifference &byte : ArrayRef(difference.kept).take_front(shown)) {
      Place place = placeOf(arguments, byte.address);
      outs() << (place.buffer.empty() ? formatv("device variable at {0:x}", place.offset).str()
                                      : formatv("{0}: byte {1}", place.buffer, place.offset).str())
             << formatv(": {0:x-2} with seed {1}, {2:x-2} with seed {3}\n", byte.first, seeds[0],
                        byte.found, difference.seed);
    }
    if (difference.bytes > shown)
      outs() << difference.bytes - shown << " more bytes differ with seed " << difference.seed
             << " (--json lists all)\n";
  }
  if (!seeds.empty()) {
    outs() << "orders of seeds";
    for (uint64_t seed : seeds)
      outs() << ' ' << seed;
    outs() << (differences.empty() ? ": the same bytes" : ": different bytes")
           << (seeds.size() < command.seeds ? "; this dispatch has no other order\n" : "\n");
  }
  if (stats && command.count)
    count::printTable(*counts, outs());
  if (stats && command.cost)
    count::printCost(count::estimateCost(*counts, *dispatch.kernel, dispatch.dynamicLdsBytes),
                     outs());
}

void RunReport::printJson() const {
  json::Array buffers;
  for (const Result &result : results) {
    json::Object buffer{{"file", result.file}, {"bytes", result.bytes}};
    if (result.unwritten)
      buffer["never_written"] = totalBytes(*result.unwritten);
    buffers.push_back(std::move(buffer));
  }
  json::Object all{{"kernel", command.kernel}, {"buffers", std::move(buffers)}};
  if (stats) {
    all["waves"] = stats->waves;
    all["instructions"] = stats->instructions;
  } else {
    all["fault"] = fault;
  }
  if (command.checks) {
    json::Array list, places;
    for (const Arguments::Buffer &buffer : arguments.buffers())
      places.push_back(json::Object{{"file", buffer.spec.file},
                                    {"address", reinterpret_cast<uint64_t>(buffer.data)},
                                    {"bytes", buffer.bytes}});
    all["arguments"] = std::move(places);
    for (const check::Finding &finding : findings)
      list.push_back(findingJson(finding));
    all["checks"] = check::checkNames(*command.checks);
    all["findings"] = std::move(list);
    all["more_findings"] = droppedFindings;
    all["accesses_not_checked_for_races"] = skippedRaceAccesses;
  }
  if (!seeds.empty()) {
    json::Array list;
    for (const check::OrderDifference &difference : differences)
      for (const check::ByteDifference &byte : difference.kept) {
        Place place = placeOf(arguments, byte.address);
        json::Object entry{{"first_seed", seeds[0]},
                           {"seed", difference.seed},
                           {"first", byte.first},
                           {"found", byte.found}};
        if (place.buffer.empty())
          entry["address"] = place.offset;
        else
          entry["buffer"] = place.buffer, entry["offset"] = place.offset;
        list.push_back(std::move(entry));
      }
    all["seeds"] = json::Array(seeds);
    all["differences"] = std::move(list);
  }
  if (stats && command.count)
    all["counts"] = count::toJson(*counts);
  if (stats && command.cost)
    all["cost"] =
        count::toJson(count::estimateCost(*counts, *dispatch.kernel, dispatch.dynamicLdsBytes));
  outs() << formatv("{0:2}", json::Value(std::move(all))) << '\n';
}

} // namespace gfx950emu::cli
