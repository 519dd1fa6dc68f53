//===- Overhead.cpp - what the runtime adds to a step -----------------------===//
//
// Google Benchmark: a launch against a bare hipModuleLaunchKernel of the same
// arguments, on the emulator's HIP with an empty kernel and with none at all (a stream
// that captures), and on a fake HIP that does nothing; looking up the plans of a
// bundle; opening and loading it. Ends with the ratios of this run; exits with 1 when
// one is over its limit.
//
//   runtime_overhead [BUNDLE] [--benchmark_...]
//
// Without a BUNDLE it takes one of 336 variants, as many as MiniMax-M3.1 at TP4 has.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"
#include "tests/runtime/FakeHip.h"
#include "tests/runtime/TestBundle.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <random>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

constexpr double kMaxLaunchRatio = 1.15, kMaxLookUpNs = 200, kMaxOpenLoadMs = 20;

[[noreturn]] void die(const std::string &what) {
  std::fprintf(stderr, "runtime_overhead: %s\n", what.c_str());
  std::exit(1);
}

void require(nvfp4rt_status status) {
  if (status != NVFP4RT_OK)
    die(nvfp4rt_last_error());
}

/// The runtime's bundles use this HIP library from now on.
HipApi useHip(const char *path) {
  setenv("NVFP4RT_HIP_LIBRARY", path, 1);
  Result<HipApi> hip = HipApi::load();
  if (!hip)
    die(hip.error().message);
  return std::move(*hip);
}

/// 7 query lengths in 48 buckets of requests.
ByteVector bundleOfManyVariants() {
  Manifest manifest = testManifest(testObject("good"));
  const Variant model = manifest.variants[0];
  manifest.variants.clear();
  for (int64_t queryLen = 1; queryLen <= 7; ++queryLen)
    for (int64_t requests = 1; requests <= 48; ++requests) {
      Variant variant = model;
      variant.name = "q" + std::to_string(queryLen) + "_b" + std::to_string(requests);
      variant.guard.terms[0].values = {queryLen > 1};
      variant.guard.terms[1].values = {queryLen};
      variant.guard.terms[2].values = {requests, requests};
      manifest.variants.push_back(std::move(variant));
    }
  return bundleWith(manifest);
}

/// The fake library records launches unless it is told not to.
void makeLaunchesEmpty() {
  void *library = dlopen(FAKE_HIP_R0600_PATH, RTLD_NOW | RTLD_LOCAL);
  auto *state = reinterpret_cast<FakeHipState *(*)()>(dlsym(library, kFakeHipState))();
  state->recordLaunches = false;
}

nvfp4rt_bundle *openAndLoad(const ByteVector &bytes) {
  nvfp4rt_bundle *bundle = nullptr;
  require(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle));
  require(nvfp4rt_bundle_load(bundle, 0));
  require(nvfp4rt_bundle_freeze(bundle));
  return bundle;
}

//===- launches -------------------------------------------------------------===//

/// Where launches go. A captured one is recorded, and never run.
struct Place {
  const char *library;
  bool capturing;
};

/// One kernel of the test bundle, whose code ends at once.
class LaunchCase {
public:
  explicit LaunchCase(const Place &place)
      : hip(useHip(place.library)), library(dlopen(place.library, RTLD_NOW | RTLD_LOCAL)),
        capturing(place.capturing), bytes(goodBundle()), bundle(openAndLoad(bytes)) {
    const nvfp4rt_field fields[] = {{"phase", "decode", 0},
                                    {"query_len", nullptr, 1},
                                    {"requests", nullptr, 1},
                                    {"dtype", "bf16", 0}};
    require(nvfp4rt_plan_create(bundle, 0, "kv_store", fields, 4, &plan));
    if (hip.hipModuleLoadData(&module, bytes.data()) != 0 ||
        hip.hipModuleGetFunction(&function, module, nvfp4rt_plan_symbol(plan)) != 0)
      die(hip.library + ": the bundle's kernel cannot be loaded");
    args.rows = 1;
    if (hip.hipStreamCreate(&stream) != 0 ||
        (capturing && clientFunction<int(void *, int)>("hipStreamBeginCapture")(stream, 0) != 0))
      die(hip.library + ": no stream");
  }
  ~LaunchCase() {
    void *graph = nullptr;
    if (capturing && (clientFunction<int(void *, void **)>("hipStreamEndCapture")(stream, &graph) ||
                      clientFunction<int(void *)>("hipGraphDestroy")(graph)))
      die(hip.library + ": the capture broke");
    (void)hip.hipDeviceSynchronize();
    (void)hip.hipStreamDestroy(stream);
    nvfp4rt_plan_destroy(plan);
    require(nvfp4rt_bundle_close(bundle));
    (void)hip.hipModuleUnload(module);
  }
  LaunchCase(const LaunchCase &) = delete;

  bool bare() {
    size_t size = sizeof(args) - sizeof(args.struct_size);
    void *extra[] = {reinterpret_cast<void *>(hip::kLaunchParamBufferPointer), &args.k,
                     reinterpret_cast<void *>(hip::kLaunchParamBufferSize), &size,
                     reinterpret_cast<void *>(hip::kLaunchParamEnd)};
    return hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, nullptr, extra) == 0;
  }
  bool planned() { return nvfp4rt_launch(plan, &args, stream) == NVFP4RT_OK; }

private:
  /// A HIP function that the runtime has no use for.
  template <typename Signature> Signature *clientFunction(const char *name) {
    void *address = dlsym(library, name);
    if (!address)
      die(hip.library + ": no " + name);
    return reinterpret_cast<Signature *>(address);
  }

  HipApi hip;
  void *library;
  bool capturing;
  void *stream = nullptr;
  ByteVector bytes;
  nvfp4rt_bundle *bundle;
  nvfp4rt_plan *plan = nullptr;
  nvfp4rt_kv_store_args args{};
  void *module = nullptr, *function = nullptr;
};

template <bool (LaunchCase::*Launch)()> void launchAt(benchmark::State &state, const Place &place) {
  LaunchCase kernel(place);
  for (auto step : state)
    if (!(kernel.*Launch)())
      die("a launch failed");
}

//===- look-ups -------------------------------------------------------------===//

/// Requests of every variant of a bundle, in random order.
class LookUpCase {
public:
  explicit LookUpCase(const ByteVector &bytes) : bundle(openAndLoad(bytes)) {
    const Result<Bundle> parsed = Bundle::open(bytes, "bundle");
    std::mt19937 random(5);
    for (const Variant &variant : parsed->manifest().variants)
      for (int i = 0; i < 4; ++i)
        add(variant, random);
    std::ranges::shuffle(requests, random);
  }
  ~LookUpCase() {
    for (const auto &[family, selector] : selectors)
      nvfp4rt_selector_destroy(selector);
    require(nvfp4rt_bundle_close(bundle));
  }
  LookUpCase(const LookUpCase &) = delete;

  void create() {
    const One &one = next();
    nvfp4rt_plan *plan = nullptr;
    if (nvfp4rt_plan_create(bundle, 0, one.family.c_str(), one.fields.data(), one.fields.size(),
                            &plan) != NVFP4RT_OK)
      die(nvfp4rt_last_error());
    nvfp4rt_plan_destroy(plan);
  }
  void select() {
    const One &one = next();
    nvfp4rt_plan *plan = nullptr;
    if (nvfp4rt_selector_plan(one.selector, 0, one.values, &plan) != NVFP4RT_OK)
      die(nvfp4rt_last_error());
    nvfp4rt_plan_destroy(plan);
  }

private:
  struct One {
    std::string family;
    std::vector<nvfp4rt_field> fields;
    const nvfp4rt_selector *selector = nullptr;
    int64_t values[3] = {};
  };

  const One &next() {
    at = at + 1 == requests.size() ? 0 : at + 1;
    return requests[at];
  }

  void add(const Variant &variant, std::mt19937 &random) {
    static constexpr const char *kNames[] = {"phase", "query_len", "requests"};
    One one{.family = variant.family, .fields = {}};
    std::vector<nvfp4rt_field> fixed;
    for (const Term &term : variant.guard.terms) {
      int64_t value = term.values[random() % term.values.size()];
      if (term.relation == Relation::Range)
        value = std::uniform_int_distribution<int64_t>(term.values[0], term.values[1])(random);
      const std::string_view name = fieldName(term.field); // literals, so they end in a NUL
      const auto symbols = fieldSymbols(term.field);
      const nvfp4rt_field field = {
          name.data(), symbols.empty() ? nullptr : symbols[static_cast<size_t>(value)].data(),
          value};
      one.fields.push_back(field);
      const auto varying = std::ranges::find(kNames, name);
      if (varying == std::end(kNames))
        fixed.push_back(field);
      else
        one.values[varying - std::begin(kNames)] = value;
    }
    // The deployment's fields are the same in every variant of a family.
    nvfp4rt_selector *&selector = selectors[variant.family];
    if (!selector)
      require(nvfp4rt_selector_create(bundle, variant.family.c_str(), fixed.data(), fixed.size(),
                                      kNames, 3, &selector));
    one.selector = selector;
    requests.push_back(std::move(one));
  }

  nvfp4rt_bundle *bundle;
  std::map<std::string, nvfp4rt_selector *> selectors;
  std::vector<One> requests;
  size_t at = 0;
};

template <void (LookUpCase::*LookUp)()>
void lookUp(benchmark::State &state, const ByteVector &bytes) {
  useHip(FAKE_HIP_R0600_PATH);
  LookUpCase requests(bytes);
  for (auto step : state)
    (requests.*LookUp)();
}

void openLoad(benchmark::State &state, const ByteVector &bytes) {
  useHip(FAKE_HIP_R0600_PATH);
  for (auto step : state)
    require(nvfp4rt_bundle_close(openAndLoad(bytes)));
}

//===- report ---------------------------------------------------------------===//

/// Keeps the CPU time of each benchmark, in ns: of repetitions the least.
class Keep : public benchmark::ConsoleReporter {
public:
  Keep() : ConsoleReporter(OO_Tabular) {}
  std::map<std::string, double> ns;
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs) {
      if (run.run_type != Run::RT_Iteration)
        continue;
      const double time = run.cpu_accumulated_time / static_cast<double>(run.iterations) * 1e9;
      double &least = ns.try_emplace(run.run_name.function_name, time).first->second;
      least = std::min(least, time);
    }
    ConsoleReporter::ReportRuns(runs);
  }
};

bool within(const char *what, double found, double most, const char *unit) {
  const bool good = found <= most;
  std::printf("%-58s %9.3f %s (at most %g)%s\n", what, found, unit, most, good ? "" : "  OVER");
  return good;
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 2)
    die("expected at most one argument, a bundle");
  const ByteVector bytes = argc == 2 ? readBytes(argv[1]) : bundleOfManyVariants();
  if (bytes.empty())
    die("expected a bundle that can be read and is not empty");
  makeLaunchesEmpty();
  const auto add = [](const char *name, auto function) {
    return benchmark::RegisterBenchmark(name, function)->Repetitions(5);
  };
  const auto both = [&](const std::string &name, const Place &place) {
    // As many launches of either kind: a capture grows with them.
    for (auto *benchmark : {add((name + "_bare").c_str(),
                                [=](auto &state) { launchAt<&LaunchCase::bare>(state, place); }),
                            add((name + "_launch").c_str(), [=](auto &state) {
                              launchAt<&LaunchCase::planned>(state, place);
                            })})
      if (place.capturing)
        benchmark->Iterations(50000);
  };
  both("emulator", {EMULATOR_LIBRARY, false});
  both("captured", {EMULATOR_LIBRARY, true});
  both("fake", {FAKE_HIP_R0600_PATH, false});
  add("plan_create", [&](auto &state) { lookUp<&LookUpCase::create>(state, bytes); });
  add("selector_plan", [&](auto &state) { lookUp<&LookUpCase::select>(state, bytes); });
  add("open_load", [&](auto &state) { openLoad(state, bytes); });
  Keep report;
  benchmark::RunSpecifiedBenchmarks(&report);

  std::map<std::string, double> &ns = report.ns;
  std::printf("\n%-58s %9.3f ns on top of %.3f ns\n", "launch on the fake HIP",
              ns["fake_launch"] - ns["fake_bare"], ns["fake_bare"]);
  bool good = within("launch of an empty kernel on the emulator, over a bare one",
                     ns["emulator_launch"] / ns["emulator_bare"], kMaxLaunchRatio, "");
  good &= within("launch that is captured on the emulator, over a bare one",
                 ns["captured_launch"] / ns["captured_bare"], kMaxLaunchRatio, "");
  good &= within("plan look-up by field names", ns["plan_create"], kMaxLookUpNs, "ns");
  good &= within("plan look-up by selector", ns["selector_plan"], kMaxLookUpNs, "ns");
  good &= within("open, load and freeze without HIP's time", ns["open_load"] / 1e6, kMaxOpenLoadMs,
                 "ms");
  return good ? 0 : 1;
}
