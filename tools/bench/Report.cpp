//===- Report.cpp - the two printed forms of a report -------------------------===//
//
// Owns: the tables for people and the JSON of a bench.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Bench.h"
#include "tools/support/Table.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bench {

namespace {

namespace count = gfx950emu::count;
using support::Table;

constexpr std::string_view kNone = "-";

/// JSON keys of limits and the table name them alike.
const count::Limit *bindingLimit(const count::Cost &cost) {
  for (const count::Limit &limit : cost.limits)
    if (limit.binding)
      return &limit;
  return nullptr;
}

double ratioOf(const Outcome &outcome) {
  const uint64_t moved = outcome.measurement.bytesRead() + outcome.measurement.bytesWritten();
  return static_cast<double>(moved) / static_cast<double>(outcome.demand.floorBytes());
}

/// Of an outcome that replaces something; negative when it moves more.
int64_t savedBytes(const Outcome &outcome) {
  return static_cast<int64_t>(outcome.demand.replaced->bytes) -
         static_cast<int64_t>(outcome.measurement.bytesRead() + outcome.measurement.bytesWritten());
}

double perUnit(const Outcome &outcome, uint64_t value) {
  return static_cast<double>(value) / static_cast<double>(outcome.demand.units);
}

/// "rows-4096", with a sample's size behind it.
std::string shapeText(const Shape &shape) {
  if (shape.chunk == shape.fullChunk)
    return fmt::format("{}", shape.name);
  return fmt::format("{} (sample: {} of {} rows)", shape.name, shape.chunk, shape.fullChunk);
}

std::string kernelLines(const Report &report, std::string_view family) {
  Table table({"kernel", "work-items", "VGPR", "AGPR", "SGPR", "LDS B", "scratch B", "waves/SIMD"});
  bool any = false;
  for (const nvfp4rt::Kernel &kernel : report.kernels) {
    if (kernel.family != family)
      continue;
    const auto row = std::find_if(report.rows.begin(), report.rows.end(), [&](const Row &r) {
      return r.outcome.measurement.symbol == kernel.symbol;
    });
    const nvfp4rt::Resources &used = kernel.resources;
    any = true;
    table.add({kernel.symbol,
               fmt::to_string(uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2]),
               fmt::to_string(used.vgprs), fmt::to_string(used.agprs), fmt::to_string(used.sgprs),
               fmt::to_string(used.ldsBytes), fmt::to_string(used.scratchBytes),
               fmt::format("{:g}", wavesPerSimd(row->outcome.measurement.cost))});
  }
  return any ? table.text() : std::string();
}

std::string bytesTable(const std::vector<const Row *> &rows) {
  Table table({"shape", fmt::format("{}s", rows[0]->unit), "read B", "written B", "floor B",
               "ratio", fmt::format("B/{}", rows[0]->unit), "floor", "imbalance"});
  for (const Row *row : rows) {
    const auto &[demand, measured] = row->outcome;
    table.add({shapeText(row->shape), fmt::to_string(demand.units),
               fmt::to_string(measured.bytesRead()), fmt::to_string(measured.bytesWritten()),
               fmt::to_string(demand.floorBytes()), fmt::format("{:.4f}", ratioOf(row->outcome)),
               fmt::format("{:.1f}",
                           perUnit(row->outcome, measured.bytesRead() + measured.bytesWritten())),
               fmt::format("{:.1f}", perUnit(row->outcome, demand.floorBytes())),
               demand.imbalance ? fmt::to_string(*demand.imbalance) : std::string(kNone)});
  }
  return table.text();
}

std::string instructionTable(const std::vector<const Row *> &rows) {
  Table table({"shape", "waves", "reading", "instructions", fmt::format("per {}", rows[0]->unit),
               "floor", "MFMA", "MFMA share", "LDS conflicts", "est. cycles", "est. us", "limit"});
  for (const Row *row : rows) {
    const auto &[demand, measured] = row->outcome;
    const count::Counts &counts = measured.counts;
    const count::Limit *limit = bindingLimit(measured.cost);
    table.add({shapeText(row->shape), fmt::to_string(counts.waves),
               demand.readingWaves ? fmt::to_string(*demand.readingWaves) : std::string(kNone),
               fmt::to_string(counts.total.instructions),
               fmt::format("{:.1f}", perUnit(row->outcome, counts.total.instructions)),
               demand.floorInstructions ? fmt::format("{:.0f}", *demand.floorInstructions)
                                        : std::string(kNone),
               fmt::to_string(counts.of(count::InstClass::Mfma).instructions),
               fmt::format("{:.1f} %", 100 * mfmaShare(counts)),
               fmt::format("{:.1f} %", 100 * ldsConflictShare(counts)),
               fmt::format("{:.0f}", measured.cost.cycles),
               fmt::format("{:.2f}", measured.cost.microseconds), limit ? limit->name : ""});
  }
  return table.text();
}

/// Empty when the family replaces nothing.
std::string savingTable(const std::vector<const Row *> &rows) {
  Table table(
      {"shape", "instead B", "saved B", "saved", fmt::format("B/{}", rows[0]->unit), "launches"});
  std::string_view what;
  for (const Row *row : rows) {
    const auto &[demand, measured] = row->outcome;
    if (!demand.replaced)
      continue;
    what = demand.replaced->what;
    const int64_t saved = savedBytes(row->outcome);
    table.add(
        {shapeText(row->shape), fmt::to_string(demand.replaced->bytes), fmt::to_string(saved),
         fmt::format("{:.1f} %", 100 * static_cast<double>(saved) /
                                     static_cast<double>(demand.replaced->bytes)),
         fmt::format("{:.1f}", static_cast<double>(saved) / static_cast<double>(demand.units)),
         fmt::format("{} -> 1", demand.replaced->launches)});
  }
  if (what.empty())
    return {};
  return fmt::format("\na layer saves against {}:\n{}", what, table.text());
}

std::vector<std::string_view> familiesOf(const Report &report) {
  std::vector<std::string_view> families;
  for (const Row &row : report.rows)
    if (std::find(families.begin(), families.end(), row.family) == families.end())
      families.push_back(row.family);
  return families;
}

nlohmann::json shapeJson(const Shape &shape) {
  nlohmann::json json{{"name", shape.name},           {"what", shape.what},
                      {"phase", shape.phase},         {"query_len", shape.queryLen},
                      {"requests", shape.requests()}, {"rows", shape.rows()}};
  if (shape.isPrefill())
    json["sample"] = {{"rows", shape.chunk}, {"of", shape.fullChunk}};
  return json;
}

nlohmann::json costJson(const count::Cost &cost) {
  nlohmann::json limits = nlohmann::json::array();
  for (const count::Limit &limit : cost.limits)
    limits.push_back({{"name", limit.name},
                      {"what", limit.what},
                      {"cycles", limit.cycles},
                      {"binding", limit.binding}});
  return {
      {"cycles", cost.cycles}, {"microseconds", cost.microseconds}, {"limits", std::move(limits)}};
}

nlohmann::json rowJson(const Row &row) {
  nlohmann::json json{{"family", row.family}, {"unit", row.unit}, {"shape", shapeJson(row.shape)}};
  if (row.skipped || row.failed) {
    json[row.skipped ? "skipped" : "failed"] = row.skipped ? *row.skipped : *row.failed;
    return json;
  }
  const auto &[demand, measured] = row.outcome;
  const count::Counts &counts = measured.counts;
  nlohmann::json buffers = nlohmann::json::array();
  for (const BufferTraffic &buffer : measured.buffers)
    buffers.push_back({{"name", buffer.name},
                       {"size", buffer.size},
                       {"read", buffer.read},
                       {"written", buffer.written}});
  json["variant"] = measured.variant;
  json["kernel"] = measured.symbol;
  json["units"] = demand.units;
  json["bytes"] = {
      {"read", measured.bytesRead()},
      {"written", measured.bytesWritten()},
      {"floor_read", demand.floorRead},
      {"floor_written", demand.floorWritten},
      {"floor", demand.floorBytes()},
      {"ratio", ratioOf(row.outcome)},
      {"per_unit", perUnit(row.outcome, measured.bytesRead() + measured.bytesWritten())},
      {"floor_per_unit", perUnit(row.outcome, demand.floorBytes())},
      {"kernel_arguments", measured.argumentBytes},
      {"distinct_lines", counts.linesTouched * count::lineBytes},
      {"buffers", std::move(buffers)}};
  json["instructions"] = {{"total", counts.total.instructions},
                          {"per_unit", perUnit(row.outcome, counts.total.instructions)},
                          {"mfma", counts.of(count::InstClass::Mfma).instructions},
                          {"mfma_share", mfmaShare(counts)},
                          {"longest_wave", counts.longestWave}};
  if (demand.floorInstructions)
    json["instructions"]["floor_per_unit"] = *demand.floorInstructions;
  for (unsigned i = 0; i < count::instClasses; ++i)
    json["instructions"]["classes"][count::className(count::InstClass(i)).str()] =
        counts.classes[i].instructions;
  json["workgroups"] = counts.workgroups;
  json["waves"] = counts.waves;
  json["waves_per_simd"] = wavesPerSimd(measured.cost);
  json["lds_conflict_share"] = ldsConflictShare(counts);
  if (demand.imbalance)
    json["imbalance"] = *demand.imbalance;
  if (demand.readingWaves)
    json["reading_waves"] = *demand.readingWaves;
  if (demand.replaced)
    json["saving"] = {{"against", demand.replaced->what},
                      {"bytes", savedBytes(row.outcome)},
                      {"launches", demand.replaced->launches - 1}};
  json["estimate"] = costJson(measured.cost);
  json["seconds"] = measured.seconds;
  return json;
}

} // namespace

std::string_view definitions() {
  return "Emulated on a CPU, nothing measured. Bytes and instructions are counts of the emulated\n"
         "run; cycles are the estimate of a model without latencies (gfx950emu run --cost).\n"
         "bytes          distinct bytes that the lanes of a wave instruction name, summed over "
         "the\n"
         "               instructions; kernel arguments are not among them\n"
         "ratio          bytes read and written / floor, the bytes that no implementation avoids\n"
         "instructions   wave instructions of every kind\n"
         "MFMA share     MFMA passes x 4 cycles / (those + 4 cycles for each other VALU\n"
         "               instruction)\n"
         "LDS conflicts  cycles lost to bank conflicts / all cycles of the LDS\n"
         "waves/SIMD     that registers and LDS allow\n"
         "imbalance      pages of the workgroup with the most less those of the one with the "
         "fewest;\n"
         "               of attention: of the waves that read pages, a part of one as a whole one\n"
         "reading        waves that read any page\n";
}

std::string reportTable(const Report &report) {
  std::string text = fmt::format("bundle {}\nspec   {}, build {}\n\n{}\n", report.bundle,
                                 report.specName, report.buildId, definitions());
  for (std::string_view family : familiesOf(report)) {
    std::vector<const Row *> rows;
    std::string without;
    const Row *any = nullptr;
    for (const Row &row : report.rows) {
      if (row.family != family)
        continue;
      any = &row;
      if (row.skipped)
        without += fmt::format("{}: not served: {}\n", row.shape.name, *row.skipped);
      else if (row.failed)
        without += fmt::format("{}: FAILED: {}\n", row.shape.name, *row.failed);
      else
        rows.push_back(&row);
    }
    text += fmt::format("{} [emulated]; floor: {}\n", family, any->floor);
    text += kernelLines(report, family);
    if (!rows.empty())
      text += "\n" + bytesTable(rows) + "\n" + instructionTable(rows) + savingTable(rows);
    text += without + "\n";
  }
  return text + fmt::format("{:.1f} s\n", report.seconds);
}

nlohmann::json reportJson(const Report &report) {
  nlohmann::json kernels = nlohmann::json::array(), rows = nlohmann::json::array();
  for (const nvfp4rt::Kernel &kernel : report.kernels)
    kernels.push_back({{"symbol", kernel.symbol},
                       {"family", kernel.family},
                       {"block", {kernel.block[0], kernel.block[1], kernel.block[2]}},
                       {"vgprs", kernel.resources.vgprs},
                       {"agprs", kernel.resources.agprs},
                       {"sgprs", kernel.resources.sgprs},
                       {"lds_bytes", kernel.resources.ldsBytes},
                       {"scratch_bytes", kernel.resources.scratchBytes},
                       {"code_bytes", kernel.resources.codeBytes}});
  for (const Row &row : report.rows)
    rows.push_back(rowJson(row));
  return {{"emulated", true},
          {"definitions", definitions()},
          {"bundle", report.bundle},
          {"build_id", report.buildId},
          {"spec", report.specName},
          {"arch", report.arch},
          {"kernels", std::move(kernels)},
          {"rows", std::move(rows)},
          {"seconds", report.seconds}};
}

} // namespace bench
