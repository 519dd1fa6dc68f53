//===- dump_layouts.cpp - the structs of nvfp4rt_args.h as text -------------===//
//
// Prints what the Python package's ctypes structures must equal: for each struct a line
// "struct NAME SIZE", then "OFFSET TYPE MEMBER" lines. Families come from the runtime's
// own field tables; the structs of device memory are listed here.
//
//===------------------------------------------------------------------------===//
#include "runtime/args/ArgLayout.h"
#include "runtime/include/nvfp4rt_args.h"

#include <cstdio>

namespace {

void printFamily(const char *family, size_t size) {
  const nvfp4rt::ArgLayout &layout = *nvfp4rt::argLayout(family);
  std::printf("struct %s %zu\n0 u64 struct_size\n", family, size);
  for (const nvfp4rt::ArgField &field : layout.fields)
    std::printf("%u %s %s\n", nvfp4rt::kStructSizeBytes + field.offset,
                std::string(argTypeName(field.type)).c_str(), std::string(field.name).c_str());
}

} // namespace

#define MEMBER(Struct, type, name) std::printf("%zu " type " " #name "\n", offsetof(Struct, name))

int main() {
#define NVFP4_FAMILY(name, CamelName) printFamily(#name, sizeof(nvfp4rt_##name##_args));
#include "templates/Families.def"

  std::printf("struct StepRow %zu\n", sizeof(nvfp4rt_step_row));
  MEMBER(nvfp4rt_step_row, "i32", request);
  MEMBER(nvfp4rt_step_row, "i32", causal_len);
  MEMBER(nvfp4rt_step_row, "i32", segment);
  MEMBER(nvfp4rt_step_row, "i32", row_in_segment);
  std::printf("struct Segment %zu\n", sizeof(nvfp4rt_segment));
  MEMBER(nvfp4rt_segment, "i32", request);
  MEMBER(nvfp4rt_segment, "i32", first_row);
  MEMBER(nvfp4rt_segment, "i32", rows);
  MEMBER(nvfp4rt_segment, "i32", blocks);
  MEMBER(nvfp4rt_segment, "i32", first_block);
  MEMBER(nvfp4rt_segment, "i32", min_causal_len);
  MEMBER(nvfp4rt_segment, "i32", first_worker);
  MEMBER(nvfp4rt_segment, "i32", worker_count);
  std::printf("struct Work %zu\n", sizeof(nvfp4rt_work));
  MEMBER(nvfp4rt_work, "i32", segment);
  MEMBER(nvfp4rt_work, "i32", block);

  std::printf("constant PREFILL_SEGMENT_ROWS %d\n", NVFP4RT_PREFILL_SEGMENT_ROWS);
  std::printf("constant ATTENTION_PART %d\n", NVFP4RT_ATTENTION_PART);
  return 0;
}
