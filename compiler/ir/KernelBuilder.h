//===- KernelBuilder.h - a thin layer over MLIR builders --------------------===//
//
// Values with operators, structured control flow and typed memory access, so that
// a template reads like the kernel it emits. Every operation carries the template's
// file, line and column as its MLIR location.
//
// Integers are signless; operations that care name their signedness (ult, slt,
// lshr, ashr, udiv). Pointers are byte-addressed: global memory, LDS (32-bit) or
// buffer resources.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_IR_KERNELBUILDER_H
#define NVFP4GEN_COMPILER_IR_KERNELBUILDER_H

#include "compiler/ir/Mlir.h"
#include "compiler/variants/Family.h"
#include "runtime/args/ArgLayout.h"

#include <source_location>
#include <string_view>
#include <utility>

namespace nvfp4gen {

class KernelBuilder;

/// A value of the kernel under construction.
class Val {
public:
  Val() = default;
  Val(KernelBuilder &builder, mlir::Value value) : builder(&builder), value(value) {}
  mlir::Value get() const { return value; }
  mlir::Type type() const { return value.getType(); }
  KernelBuilder &kb() const { return *builder; }

private:
  KernelBuilder *builder = nullptr;
  mlir::Value value;
};

/// The right operand of an operator: a value, or a literal that takes the left operand's type. It
/// captures the place in the template where the operator was written.
struct Operand {
  Operand(Val value, std::source_location where = std::source_location::current())
      : value(value), where(where) {}
  Operand(int64_t literal, std::source_location where = std::source_location::current())
      : integer(literal), where(where) {}
  Operand(int literal, std::source_location where = std::source_location::current())
      : integer(literal), where(where) {}
  Operand(uint32_t literal, std::source_location where = std::source_location::current())
      : integer(literal), where(where) {}
  Operand(double literal, std::source_location where = std::source_location::current())
      : real(literal), isReal(true), where(where) {}

  Val value;
  int64_t integer = 0;
  double real = 0;
  bool isReal = false;
  std::source_location where;
};

// Integer or floating point by the left operand's type.
Val operator+(Val a, Operand b);
Val operator-(Val a, Operand b);
Val operator*(Val a, Operand b);
Val operator&(Val a, Operand b);
Val operator|(Val a, Operand b);
Val operator^(Val a, Operand b);
Val operator<<(Val a, Operand b);
Val lshr(Val a, Operand b);
Val ashr(Val a, Operand b);
Val udiv(Val a, Operand b);
Val urem(Val a, Operand b);
// Integer comparisons.
Val eq(Val a, Operand b);
Val ne(Val a, Operand b);
Val ult(Val a, Operand b);
Val slt(Val a, Operand b);
Val sle(Val a, Operand b);
// Floating-point comparisons, false when an operand is NaN.
Val flt(Val a, Operand b);
// Booleans and integers.
Val smin(Val a, Operand b);
Val smax(Val a, Operand b);
Val umin(Val a, Operand b);

/// Lane exchange inside a row of 16 lanes (the DPP controls of the ISA).
enum class Dpp : uint32_t {
  QuadXor1 = 0xB1,       ///< quad_perm [1,0,3,2]
  QuadXor2 = 0x4E,       ///< quad_perm [2,3,0,1]
  QuadXor3 = 0x1B,       ///< quad_perm [3,2,1,0]
  RowRotate8 = 0x128,    ///< row_ror 8: lane i of each 16 takes lane i ^ 8
  RowMirror = 0x140,     ///< lane i of each 16 takes lane 15 - i
  RowHalfMirror = 0x141, ///< lane i of each 8 takes lane 7 - i
};

class KernelBuilder {
public:
  /// Begin kernel `plan` whose arguments are laid out as `layout`. The module is owned by the
  /// builder until takeModule(); `plan` and `layout` must outlive the builder.
  KernelBuilder(mlir::MLIRContext &context, const KernelPlan &plan,
                const nvfp4rt::ArgLayout &layout);

  /// The finished module; call once, after the body is complete.
  mlir::OwningOpRef<mlir::ModuleOp> takeModule();

  using Where = std::source_location;

  /// A kernel argument by its path in the argument struct, e.g. "k_payload.page_stride"; a name
  /// that the layout lacks is a template's fault and is fatal.
  Val arg(std::string_view path);
  /// The same, loaded where it is asked for: LLVM loads what arg() gives at the kernel's entry, so
  /// arguments that one of several branches needs would be live in all of them.
  Val argHere(std::string_view path, std::source_location where = std::source_location::current());

  Val i1(bool value, Where where = Where::current());
  Val i32(int64_t value, Where where = Where::current());
  Val i64(int64_t value, Where where = Where::current());
  Val f32(double value, Where where = Where::current());
  Val f64(double value, Where where = Where::current());
  /// Zero of any scalar or vector type.
  Val zero(mlir::Type type, Where where = Where::current());
  mlir::Type i1Type() { return b.getI1Type(); }
  mlir::Type i8Type() { return b.getI8Type(); }
  mlir::Type i16Type() { return b.getI16Type(); }
  mlir::Type i32Type() { return b.getI32Type(); }
  mlir::Type i64Type() { return b.getI64Type(); }
  mlir::Type f16Type() { return b.getF16Type(); }
  mlir::Type f32Type() { return b.getF32Type(); }
  mlir::Type f64Type() { return b.getF64Type(); }
  mlir::Type vectorType(unsigned count, mlir::Type element) {
    return mlir::VectorType::get({count}, element);
  }

  /// Workgroup and work-item index along an axis (0 = x), i32.
  Val workgroupId(unsigned axis, Where where = Where::current());
  Val workitemId(unsigned axis, Where where = Where::current());

  Val zext(Val value, mlir::Type to, Where where = Where::current());
  Val trunc(Val value, mlir::Type to, Where where = Where::current());
  Val bitcast(Val value, mlir::Type to, Where where = Where::current());
  /// i16 to i32 with anything in the high half.
  Val anyext(Val value, Where where = Where::current());
  Val sext(Val value, mlir::Type to, Where where = Where::current());
  /// fp16 to fp32, exact.
  Val fpext(Val value, Where where = Where::current());
  /// fp32 to fp16, RNE.
  Val toF16(Val value, Where where = Where::current());
  /// fp32 to bf16, RNE.
  Val toBF16(Val value, Where where = Where::current());
  Val select(Val condition, Val ifTrue, Val ifFalse, Where where = Where::current());
  /// Elements of a vector value.
  llvm::SmallVector<Val> elements(Val vector, Where where = Where::current());
  /// A vector of values of one type.
  Val pack(llvm::ArrayRef<Val> values, Where where = Where::current());
  /// The elements of vectors of one type, one after the other.
  Val concat(llvm::ArrayRef<Val> vectors, Where where = Where::current());
  /// Two dwords as one 64-bit value.
  Val bits64(Val low, Val high, mlir::Type type, Where where = Where::current());
  /// A vector with element `index` of `vector` in all `count` places.
  Val splat(Val vector, unsigned index, unsigned count, Where where = Where::current());

  Val isNull(Val pointer, Where where = Where::current());
  /// pointer + bytes: 64-bit arithmetic in global memory (P1), 32-bit in LDS.
  Val offset(Val pointer, Operand bytes);
  /// Access of `type` at a pointer that is a multiple of `alignment` bytes.
  Val load(mlir::Type type, Val pointer, unsigned alignment, Where where = Where::current());
  void store(Val value, Val pointer, unsigned alignment, Where where = Where::current());
  /// A load from global memory that nothing writes while the kernel runs; of a uniform address it
  /// goes through the scalar cache.
  Val loadConstant(mlir::Type type, Val pointer, unsigned alignment,
                   Where where = Where::current());

  /// `bytes` of LDS of the workgroup, a multiple of 16 bytes aligned to 16; contents undefined.
  Val shared(uint32_t bytes, Where where = Where::current());

  /// A buffer resource over [base, base + bytes): loads outside it return 0 and touch no memory.
  /// `base` (global) and `bytes` (i32) are uniform.
  Val bufferResource(Val base, Val bytes, Where where = Where::current());
  /// Load at laneOffset + uniformOffset (i32 each) of a resource.
  Val bufferLoad(mlir::Type type, Val resource, Val laneOffset, Val uniformOffset,
                 Where where = Where::current());

  using Vals = llvm::SmallVector<Val>;
  void ifThen(Val condition, llvm::function_ref<void()> body, Where where = Where::current());
  /// Values of one of two branches.
  Vals ifElse(Val condition, llvm::function_ref<Vals()> ifTrue, llvm::function_ref<Vals()> ifFalse,
              Where where = Where::current());
  /// for (i = low; i < high; i += step), i32 and signed; `body` maps the carried values of one
  /// iteration to those of the next. Returns those after the last.
  Vals loop(Val low, Val high, Operand step, llvm::ArrayRef<Val> init,
            llvm::function_ref<Vals(Val i, llvm::ArrayRef<Val> carried)> body,
            Where where = Where::current());
  /// while (condition(values)) values = body(values). Returns the last values.
  Vals whileLoop(llvm::ArrayRef<Val> init, llvm::function_ref<Val(llvm::ArrayRef<Val>)> condition,
                 llvm::function_ref<Vals(llvm::ArrayRef<Val>)> body,
                 Where where = Where::current());

  // Instructions with a meaning of their own.
  Val fma(Val a, Val c, Val d, Where where = Where::current());
  Val fabs(Val value, Where where = Where::current());
  Val isNaN(Val value, Where where = Where::current());
  /// !(a < c): true when an operand is NaN.
  Val notLess(Val a, Val c, Where where = Where::current());
  Val fneg(Val value, Where where = Where::current());
  Val copysign(Val magnitude, Val sign, Where where = Where::current());
  /// Larger operand; the one that is not NaN if one is.
  Val fmax(Val a, Val c, Where where = Where::current());
  /// Larger and smaller operand of two that are not NaN.
  Val fmaxNumber(Val a, Val c, Where where = Where::current());
  Val fminNumber(Val a, Val c, Where where = Where::current());
  /// v_med3_f32: the median; the smallest of the others when one is NaN.
  Val fmed3(Val a, Val low, Val high, Where where = Where::current());
  /// v_exp_f32: 2^value, about 1 ulp; results below 2^-126 are 0.
  Val exp2(Val value, Where where = Where::current());
  /// ds_read_b64_tr_b16 of an LDS address a lane: of the 16 x 4 fp16 that 16 lanes point at, as
  /// rows of 16, lane l takes column l % 16; a vector of 4 fp16.
  Val loadTransposed16(Val pointer, Where where = Where::current());
  /// v_rcp_f32: about 1 ulp.
  Val rcp(Val value, Where where = Where::current());
  /// v_rsq_f32: about 1 ulp; 0 of infinity.
  Val rsq(Val value, Where where = Where::current());
  /// Two fp32 rounded to `dtype` (RNE, a NaN stays one), `low` in the low half; i32.
  Val packRounded(DType dtype, Val low, Val high, Where where = Where::current());
  /// v_cvt_pk_fp8_f32 of (value, value), low byte: E4M3FN, RNE; i32.
  Val toE4M3(Val value, Where where = Where::current());
  /// v_cvt_f32_fp8 of byte 0.
  Val fromE4M3(Val byte, Where where = Where::current());
  /// v_cvt_scalef32_pk_fp4_f32 with scale 1: e2m1 codes of (low, high), RNE, saturating, into byte
  /// `index` of `old`.
  Val packE2M1(Val old, Val low, Val high, unsigned index, Where where = Where::current());
  /// Two e2m1 codes, byte `index` of `codes`, as a vector of two fp16 (exact).
  Val unpackE2M1(Val codes, unsigned index, Where where = Where::current());
  /// Two E4M3 bytes, the low half of `bytes`, as a vector of two fp16 (exact).
  Val unpackE4M3(Val bytes, Where where = Where::current());
  /// v_mfma_f32_16x16x32_f16: a (8 fp16 a lane) times c (8 fp16) plus `sum` (4 fp32).
  Val mfma16x16x32(Val a, Val c, Val sum, Where where = Where::current());
  /// Bits of `high`:`low` from `shift` (0..31) upwards, i32.
  Val funnelShiftRight(Val high, Val low, Operand shift);

  // Across lanes. Values are i32, fp32 or, where said, 64-bit.
  /// The first active lane's value, uniform.
  Val readFirstLane(Val value, Where where = Where::current());
  /// Value of lane `lane` (uniform), uniform.
  Val readLane(Val value, Operand lane);
  /// Bit l: `condition` of lane l; i64, uniform.
  Val ballot(Val condition, Where where = Where::current());
  /// Value of another lane, also 64-bit; every lane of the row must be active.
  Val dpp(Val value, Dpp control, Where where = Where::current());
  /// Value of the lane `lane` (i32), every lane its own.
  Val shuffle(Val value, Val lane, Where where = Where::current());
  // The two exchanges between rows of 16 lanes take values of 64 bits as well.
  /// (a, c) with the odd rows of 16 lanes of a and the even rows of c exchanged.
  std::pair<Val, Val> swapRows16(Val a, Val c, Where where = Where::current());
  /// (a, c) with lanes 32..63 of a and lanes 0..31 of c exchanged.
  std::pair<Val, Val> swapHalves(Val a, Val c, Where where = Where::current());
  /// Wait for every wave of the workgroup; LDS accesses before it happen before those after it.
  void barrier(Where where = Where::current());
  /// The scheduler moves nothing across.
  void schedulingFence(Where where = Where::current());

  // For the operators.
  mlir::Value materialize(const Operand &operand, mlir::Type type);
  mlir::OpBuilder &at(const std::source_location &where);
  mlir::Location loc();

private:
  size_t argIndex(std::string_view path);
  Val wrap(mlir::Value value) { return Val(*this, value); }
  Vals wrapAll(mlir::ValueRange values);
  Val callIntrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands,
                    const Where &where);
  std::pair<Val, Val> swap(llvm::StringRef name, Val a, Val c, const Where &where);
  Vals dwords(Val value, const Where &where);
  Val ofDwords(llvm::ArrayRef<Val> words, mlir::Type type, const Where &where);
  /// `value` taken apart into dwords, each mapped, and put together again.
  Val mapDwords(Val value, llvm::function_ref<Val(Val)> map, const Where &where);

  mlir::OpBuilder b;
  mlir::Location location;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::gpu::GPUModuleOp gpuModule;
  mlir::gpu::GPUFuncOp function;
  unsigned sharedCount = 0;
  const nvfp4rt::ArgLayout &layout;
  const uint32_t (&block)[3]; ///< work-items of a workgroup
};

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_IR_KERNELBUILDER_H
