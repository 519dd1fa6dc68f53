//===- CommandsTest.cpp - list, explain, diff, disasm, extract, documents ---===//

#include "compiler/bundle/Build.h"
#include "compiler/ir/KernelBuilder.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/plan/Select.h"
#include "tests/SpecFixture.h"
#include "tests/tools/nvfp4gen/CliFixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kTiny = kSpecs + "tiny.toml";

/// A spec changed in one place.
std::string edited(const fs::path &path, const std::string &from, const std::string &to) {
  std::ifstream in(kTiny);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  std::ofstream(path) << text.replace(at, from.size(), to);
  return path;
}

// G2 for a list of models: each request count of each cell once, in one table.
TEST_F(Cli, CoverageTableOfSeveralSpecs) {
  std::vector<std::string> specs = {kTiny, kSpecs + "minimax_m3_1_tp8_bf16.toml"};
  Outcome csv = run({"list", specs[0], specs[1], "--coverage=csv"});
  ASSERT_EQ(csv.exitCode, 0) << csv.err;
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "spec,family,phase,query_len,requests_from,requests_to,variant,kernel");
  std::map<std::string, std::set<int>> served;
  size_t rows = 0;
  for (; std::getline(lines, line); ++rows) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');)
      fields.push_back(field);
    ASSERT_EQ(fields.size(), 8u) << line;
    for (int n = std::stoi(fields[4]); n <= std::stoi(fields[5]); ++n)
      EXPECT_TRUE(served[fields[0] + fields[1] + fields[2] + fields[3]].insert(n).second) << line;
  }
  for (const auto &[cell, counts] : served)
    EXPECT_EQ(counts.size(), size_t(*counts.rbegin())) << cell; // from 1, without a gap
  json table = json::parse(run({"list", specs[0], specs[1], "--coverage=json"}).out);
  ASSERT_EQ(table.size(), rows);
  EXPECT_EQ(table[0].at("spec"), "tiny");
  EXPECT_EQ(table[rows - 1].at("spec"), "minimax_m3_1_tp8_bf16");
  json both = json::parse(run({"list", specs[0], specs[1], "--json"}).out);
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(run({"list", specs[0], folder / "missing.toml", "--coverage=csv"}).exitCode, 1);
}

// The words of the runtime, without a bundle.
TEST_F(Cli, ExplainSaysWhatTheRuntimeSays) {
  auto bundle = nvfp4rt::Bundle::openFile(buildTiny());
  ASSERT_TRUE(bundle) << bundle.error().message;
  llvm::Expected<nvfp4gen::Spec> spec = nvfp4gen::loadSpec(kTiny);
  ASSERT_TRUE(bool(spec));
  std::set<std::string> families;
  for (const nvfp4rt::Kernel &kernel : bundle->manifest().kernels)
    families.insert(kernel.family);
  for (const std::string &family : families) {
    nvfp4rt::Request request;
    for (const nvfp4rt::Variant &variant : bundle->manifest().variants)
      if (variant.family == family)
        for (const nvfp4rt::Term &term : variant.guard.terms)
          if (auto value = nvfp4gen::configValue(*spec, term.field))
            request.set(term.field, *value);
    request.set(nvfp4rt::Field::phase, int64_t(nvfp4gen::Phase::Verify));
    request.set(nvfp4rt::Field::query_len, 2);
    request.set(nvfp4rt::Field::requests, 3);
    Outcome outcome = run({"explain", kTiny, "--family", family, "--requests=3", "--q=2"});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    EXPECT_EQ(outcome.out, *nvfp4rt::explainRequest(*bundle, family, request)) << family;
    json asJson = json::parse(
        run({"explain", kTiny, "--family", family, "--requests=3", "--q=2", "--json"}).out);
    const nvfp4rt::Variant *variant = *nvfp4rt::selectVariant(*bundle, family, request);
    EXPECT_EQ(asJson.at("serves"), variant->name);
    EXPECT_EQ(asJson.at("kernel"), variant->symbol);
  }
}

TEST_F(Cli, ExplainRefusesStepsThatNothingServes) {
  Outcome many = run({"explain", kTiny, "--family=topk", "--requests=5"});
  EXPECT_EQ(many.exitCode, 1);
  EXPECT_THAT(many.out, HasSubstr("expected requests in [3, 4], found 5"));
  EXPECT_THAT(many.err, HasSubstr("no variant of topk serves the step (phase = decode, "
                                  "query_len = 1, requests = 5"));
  // Its first line names the nearest variant (G4).
  EXPECT_THAT(many.err.substr(0, many.err.find('\n')),
              testing::EndsWith("; nearest is topk__hi2_b128_k16__decode_q1_b4: expected requests "
                                "in [3, 4], found 5"));
  json asJson = json::parse(run({"explain", kTiny, "--family=topk", "--requests=5", "--json"}).out);
  EXPECT_EQ(asJson.at("serves"), nullptr);
  EXPECT_EQ(asJson.at("nearest"), "topk__hi2_b128_k16__decode_q1_b4");
  // Every phase, named or implied.
  EXPECT_EQ(run({"explain", kTiny, "--family=topk", "--requests=4", "--q=0"}).exitCode, 0);
  EXPECT_EQ(
      run({"explain", kTiny, "--family=topk", "--requests=4", "--phase=verify", "--q=1"}).exitCode,
      1);
  Outcome family = run({"explain", kTiny, "--family=nosuch", "--requests=1"});
  EXPECT_EQ(family.exitCode, 1);
  EXPECT_THAT(family.err, HasSubstr("family: expected one of index_score, "));
  EXPECT_EQ(run({"explain", kTiny, "--family=topk"}).exitCode, 2);
}

TEST_F(Cli, DiffOfABundleWithItself) {
  std::string bundle = buildTiny();
  Outcome outcome = run({"diff", bundle, bundle, "--max-growth=0"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("kernels: [0-9]+ with the same code, 0 with other code "
                                         "and the same figures, 0 changed, 0 added, 0 removed"));
  EXPECT_EQ(run({"diff", bundle, folder / "missing"}).exitCode, 1);
  EXPECT_EQ(run({"diff", bundle}).exitCode, 2);
  for (const char *growth : {"--max-growth=-1", "--max-growth=x", "--max-growth=2%%"})
    EXPECT_EQ(run({"diff", bundle, bundle, growth}).exitCode, 2) << growth;
}

TEST_F(Cli, DiffFindsVariantsThatComeAndGo) {
  std::string few = buildTiny();
  std::string many = build(edited(folder / "more.toml", "[1, 2, 4]", "[1, 2, 3, 4]"), "more.hsaco");
  json difference = json::parse(run({"diff", few, many, "--json"}).out);
  EXPECT_GT(difference.at("variants_added").size(), 0u);
  EXPECT_EQ(difference.at("variants_removed").size(), 0u);
  // The range of the bucket above is another.
  EXPECT_EQ(difference.at("variants_changed").size(), difference.at("variants_added").size());
  EXPECT_EQ(difference.at("kernels_changed").size(), 0u);
  EXPECT_EQ(run({"diff", few, many, "--max-growth=2%"}).exitCode, 0);
  // What is gone is no growth, and no less of a regression.
  Outcome gone = run({"diff", many, few, "--max-growth=2%"});
  EXPECT_EQ(gone.exitCode, 3);
  EXPECT_THAT(gone.err, ContainsRegex("beyond --max-growth: variant .*_b3 is gone"));
  EXPECT_EQ(run({"diff", many, few}).exitCode, 0); // without a limit it only reports
}

// The same kernel with more in it: each figure that grows, against the limit.
TEST_F(Cli, DiffMeasuresGrowth) {
  nvfp4gen::Spec spec = nvfp4gen::test::specOf("tiny");
  nvfp4gen::VariantList list = nvfp4gen::test::variantsOf(spec, "kv_store");
  auto write = [&](const char *name) {
    std::string bytes = llvm::cantFail(nvfp4gen::buildBundle(spec, list, {})).bytes;
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  };
  std::string before = write("before.hsaco");
  list.kernels[0].emit = [emit = list.kernels[0].emit](nvfp4gen::KernelBuilder &kb) {
    emit(kb);
    nvfp4gen::Val lane = kb.workitemId(0), place = kb.shared(1024);
    kb.store(lane, kb.offset(place, lane << 2), 4);
    kb.barrier();
    nvfp4gen::Val mirrored = kb.load(kb.i32Type(), kb.offset(place, (lane ^ 255) << 2), 4);
    kb.store(mirrored, kb.offset(kb.arg("k_scale.base"), kb.zext(lane << 2, kb.i64Type())), 4);
  };
  std::string after = write("after.hsaco");
  json difference = json::parse(run({"diff", before, after, "--json"}).out);
  ASSERT_EQ(difference.at("kernels_changed").size(), 1u);
  const json &kernel = difference.at("kernels_changed")[0];
  EXPECT_EQ(kernel.at("symbol"), list.kernels[0].symbol);
  EXPECT_EQ(kernel.at("lds_bytes")[0], 0);
  EXPECT_GT(kernel.at("lds_bytes")[1], 0);
  for (const char *figure : {"instructions", "code_bytes", "lds", "memory"})
    EXPECT_GT(kernel.at(figure)[1], kernel.at(figure)[0]) << figure;

  Outcome strict = run({"diff", before, after, "--max-growth=2%"});
  EXPECT_EQ(strict.exitCode, 3);
  EXPECT_THAT(strict.err, ContainsRegex("lds_bytes of kv_store__.* grows by inf %"));
  EXPECT_EQ(run({"diff", before, after}).exitCode, 0);
  EXPECT_EQ(run({"diff", after, before, "--max-growth=0"}).exitCode, 0); // less is no growth
}

TEST_F(Cli, DisasmPrintsEveryInstruction) {
  std::string path = buildTiny();
  auto bundle = nvfp4rt::Bundle::openFile(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  const nvfp4rt::Variant &variant = bundle->manifest().variants.front();
  Outcome outcome = run({"disasm", path, "--variant", variant.name});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith(variant.symbol + ": "));
  EXPECT_THAT(outcome.out, HasSubstr("s_endpgm"));
  EXPECT_EQ(run({"disasm", path, "--variant", variant.symbol}).out, outcome.out);
  json kernels = json::parse(run({"disasm", path, "--json"}).out);
  ASSERT_EQ(kernels.size(), bundle->manifest().kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const json &code = kernels[i].at("instructions");
    uint64_t bytes = 0; // nothing between two instructions, nothing left out
    for (const json &instruction : code) {
      EXPECT_EQ(instruction.at("offset"), bytes);
      bytes += (instruction.at("words").get<std::string>().size() + 1) / 9 * 4;
    }
    EXPECT_EQ(bytes, bundle->manifest().kernels[i].resources.codeBytes);
  }
  Outcome unknown = run({"disasm", path, "--variant=nosuch"});
  EXPECT_EQ(unknown.exitCode, 1);
  EXPECT_THAT(unknown.err, HasSubstr("found 'nosuch'"));
  Outcome lines = run({"disasm", path, "--source"});
  EXPECT_EQ(lines.exitCode, 1);
  EXPECT_THAT(lines.err, HasSubstr("build it with --debug-lines"));
}

TEST_F(Cli, DisasmShowsTheTemplatesLines) {
  std::string path = build(kTiny, "lines.hsaco", {"--debug-lines"});
  std::string kernel = "kv_store__nvfp4_bf16_hkv2_d128_id128_p128_kvi";
  Outcome outcome =
      run({"disasm", path, "--variant", kernel, "--source", "--source-root", SOURCE_DIR});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  // The template, and a fragment in its own file; each with the text of the line.
  EXPECT_THAT(outcome.out, ContainsRegex("\ntemplates/kv_store/KvStore.cpp:[0-9]+: +[A-Za-z]"));
  EXPECT_THAT(outcome.out, ContainsRegex("\ntemplates/fragments/Quantize.cpp:[0-9]+: +[A-Za-z]"));
  // Without the sources there are lines, and word of what is not there.
  Outcome bare = run({"disasm", path, "--variant", kernel, "--source", "--source-root", folder});
  EXPECT_EQ(bare.exitCode, 0);
  EXPECT_THAT(bare.err, HasSubstr("warning: cannot read '" + folder.string() +
                                  "/templates/kv_store/KvStore.cpp': No such file or directory"));
  std::string path2 = build(kTiny, "plain.hsaco");
  EXPECT_THAT(run({"diff", path, path2}).out, HasSubstr(" 0 with other code"));
  EXPECT_EQ(run({"verify", path, "--family=kv_store", "--no-check"}).exitCode, 0);
}

TEST_F(Cli, ExtractWritesCodeObjectsThatRun) {
  std::string path = buildTiny();
  auto bundle = nvfp4rt::Bundle::openFile(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  Outcome outcome = run({"extract", path, "-o", folder / "parts", "--json"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  json files = json::parse(outcome.out);
  ASSERT_EQ(files.size(), bundle->manifest().kernels.size());
  size_t variants = 0;
  for (const json &file : files) {
    auto part = nvfp4rt::Bundle::openFile(file.at("file"));
    ASSERT_TRUE(part) << part.error().message;
    ASSERT_EQ(part->manifest().kernels.size(), 1u);
    EXPECT_EQ(part->manifest().kernels[0].symbol, file.at("symbol").get<std::string>());
    EXPECT_EQ(part->manifest().buildId, bundle->manifest().buildId);
    variants += part->manifest().variants.size();
  }
  EXPECT_EQ(variants, bundle->manifest().variants.size());
  // The emulator runs one of them against the oracle.
  Outcome verify = run({"verify", folder / "parts/topk__hi2_b128_k16.hsaco"});
  EXPECT_EQ(verify.exitCode, 0) << verify.err << verify.out;
  EXPECT_THAT(verify.out, HasSubstr(" 0 failed"));

  Outcome one = run({"extract", path, "-o", folder / "one", "--variant",
                     bundle->manifest().variants.front().name});
  EXPECT_EQ(one.exitCode, 0) << one.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "one"), fs::directory_iterator()), 1);
  EXPECT_EQ(run({"extract", path, "-o", folder / "none", "--variant=nosuch"}).exitCode, 1);
  EXPECT_FALSE(fs::exists(folder / "none"));
}

// Every option of every command is in the manual, and in both completions.
TEST_F(Cli, DocumentsKnowEveryOption) {
  std::string manual = run({"man"}).out, bash = run({"completion", "bash"}).out,
              zsh = run({"completion", "zsh"}).out;
  for (std::vector<std::string> command : std::vector<std::vector<std::string>>{{"build"},
                                                                                {"list"},
                                                                                {"explain"},
                                                                                {"inspect"},
                                                                                {"diff"},
                                                                                {"disasm"},
                                                                                {"extract"},
                                                                                {"lint"},
                                                                                {"verify"},
                                                                                {"bench"},
                                                                                {"cache", "stat"},
                                                                                {"cache", "clear"},
                                                                                {"completion"},
                                                                                {"man"}}) {
    command.push_back("--help");
    Outcome help = run(command);
    ASSERT_EQ(help.exitCode, 0);
    EXPECT_THAT(help.out, HasSubstr("Exit codes"));
    // From "Options:" to the empty line in front of what follows.
    size_t begin = help.out.find("Options:");
    std::istringstream words(help.out.substr(begin, help.out.find("\n\n", begin) - begin));
    for (std::string word; words >> word;) {
      word = word.substr(word.find("--") == std::string::npos ? 0 : word.find("--"));
      if (word.rfind("--", 0) != 0)
        continue;
      std::string option = word.substr(0, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
      std::string escaped;
      for (char c : option)
        escaped += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_THAT(manual, HasSubstr(escaped)) << command[0];
      EXPECT_THAT(bash, HasSubstr(option)) << command[0];
      EXPECT_THAT(zsh, HasSubstr(option)) << command[0];
    }
  }
  for (const char *text : {".SH EXIT STATUS", "NVFP4GEN_CACHE_DIR", ".SS nvfp4gen cache stat"})
    EXPECT_THAT(manual, HasSubstr(text));
  EXPECT_EQ(run({"completion", "fish"}).exitCode, 2);
}

// Bash itself, with the script loaded.
TEST_F(Cli, BashCompletes) {
  run({"completion", "bash"});
  fs::copy_file(folder / "stdout", folder / "completion");
  auto complete = [&](const std::string &words) {
    std::string script = "source " + (folder / "completion").string() + "; COMP_WORDS=(" + words +
                         "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _nvfp4gen; "
                         "echo \"${COMPREPLY[@]}\"";
    return run({"-c", script}, "/bin/bash").out;
  };
  EXPECT_EQ(complete("nvfp4gen bui"), "build\n");
  EXPECT_EQ(complete("nvfp4gen cache ''"), "stat clear\n");
  EXPECT_EQ(complete("nvfp4gen build x.toml --no-"), "--no-cache\n");
  EXPECT_EQ(complete("nvfp4gen build --emit = a"), "asm\n");
  EXPECT_EQ(complete("nvfp4gen build --emit l"), "llvm\n");
  EXPECT_EQ(complete("nvfp4gen completion z"), "zsh\n");
  EXPECT_THAT(complete("nvfp4gen inspect " + (folder / "compl").string()),
              HasSubstr((folder / "completion").string()));
}

} // namespace
