#include "codegen/kernel.h"

#include "codegen/fold.h"
#include "codegen/helpers.h"
#include "codegen/loops.h"
#include "codegen/vector_math.h"

#include <sstream>

namespace repro_minify {
namespace {

constexpr int64_t block = 1024; // partial sums of this many elements keep a long sum accurate

constexpr const char *bfloat16_type = R"(struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) {
    uint32_t word;
    memcpy(&word, &value, 4);
    const uint32_t rounded = (word + 0x7fff + ((word >> 16) & 1)) >> 16;  // to nearest, ties to even
    bits = static_cast<uint16_t>((word & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
  }
  explicit operator float() const {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &word, 4);
    return value;
  }
};
)";

class KernelWriter {
public:
  explicit KernelWriter(const Kernel &kernel) : kernel_(kernel), loops_({}, "") {
    auto [loops, body] = merged_loops(Loops(kernel.sizes, "i"), [&](const Loops &over) { return make_body(over); });
    loops_ = std::move(loops);
    body_ = std::move(body);
  }

  const Body &body() const { return body_; }

  std::string function(const std::string &name, std::vector<BufferRef> &arguments) const {
    std::ostringstream out;
    out << "extern \"C\" void " << name << "(void *const *p, [[maybe_unused]] int threads) {\n";
    const auto argument = [&](int id, Element element, const char *constness) {
      out << "  " << constness << storage_type(element) << " *__restrict b" << id << " = static_cast<" << constness
          << storage_type(element) << " *>(p[" << arguments.size() << "]);\n";
      arguments.push_back({id, element});
    };
    for (const auto &[id, element] : body_.loaded())
      argument(id, element, "const ");
    for (const auto &[id, element] : body_.stored())
      argument(id, element, "");
    int open = 0;
    for (const auto &group : loops_.groups)
      open_loop(out, loops_.name(group), group.extent, open++);
    const std::string indent(2 * static_cast<size_t>(open) + 2, ' ');
    for (const auto &statement : body_.statements())
      out << indent << statement << "\n";
    while (open > 0)
      out << std::string(2 * static_cast<size_t>(open--), ' ') << "}\n";
    out << "}\n";
    return out.str();
  }

private:
  void open_loop(std::ostringstream &out, const std::string &name, int64_t extent, int depth) const {
    if (depth == 0 && product(kernel_.sizes) > 4096)
      out << "#pragma omp parallel for num_threads(threads) if (threads > 1)\n";
    out << std::string(2 * static_cast<size_t>(depth) + 2, ' ') << "for (int64_t " << name << " = 0; " << name << " < "
        << extent << "; ++" << name << ") {\n";
  }

  Body make_body(const Loops &loops) const {
    Body body;
    const auto at = loops.indices();
    const Index place = flat_index(at, contiguous_strides(kernel_.sizes));
    for (const auto &output : kernel_.outputs)
      if (output.fold == Fold::None)
        body.store(output.buffer, place, output.value(body, at));
      else
        reduce(body, output, at, place);
    return body;
  }

  static void reduce(Body &body, const KernelOutput &output, std::vector<Index> at, const Index &place) {
    if (output.fold == Fold::Mean || output.fold == Fold::Squares) {
      moments(body, output, std::move(at), place);
      return;
    }
    const std::string sum = body.sum_name();
    const Loops loops(output.folded, sum + "r");
    const auto inside = loops.indices();
    at.insert(at.end(), inside.begin(), inside.end());
    Body inner = body.nested();
    const std::string value =
        inner.local(storage_type(output.accumulator), "static_cast<" + std::string(storage_type(output.accumulator)) +
                                                          ">(" + output.value(inner, at) + ")");
    // Partial results are many: in float32 their sum would lose what each of them is accurate to.
    const bool wide = output.fold == Fold::Sum && output.accumulator == Element::Float32;
    const std::string type = wide ? "double" : storage_type(output.accumulator);
    body.add(type + " " + sum + " = " + start_value(output.fold, output.accumulator) + ";");
    const size_t loop_count = loops.groups.size();
    for (size_t k = 0; k + 1 < loop_count; ++k) {
      const std::string name = loops.name(loops.groups[k]);
      body.add("for (int64_t " + name + " = 0; " + name + " < " + std::to_string(loops.groups[k].extent) + "; ++" +
               name + ") {");
    }
    innermost(body, inner, output, loops, sum, value);
    for (size_t k = 0; k + 1 < loop_count; ++k)
      body.add("}");
    body.absorb(inner);
    std::string total = sum;
    if (wide) {
      total += "t";
      body.add("const float " + total + " = static_cast<float>(" + sum + ");");
    }
    body.store(output.buffer, place, total);
  }

  /// Mean and squared differences need the numbers in a row: they are given as a function of their position in it. Both
  /// come together; whoever asks second finds them there.
  static void moments(Body &body, const KernelOutput &output, std::vector<Index> at, const Index &place) {
    const std::string type = storage_type(output.accumulator), position = "r";
    const int64_t count = product(output.folded);
    const auto inside = unflatten(Index::variable(position, count), output.folded);
    at.insert(at.end(), inside.begin(), inside.end());
    Body alone;
    std::string key = "moments " + type + std::to_string(count) + output.value(alone, at);
    for (const auto &statement : alone.statements())
      key += statement;
    const auto [name, is_new] = body.name_of(key);
    if (is_new) {
      Body inner = body.nested();
      const std::string value = output.value(inner, at);
      body.add("const auto " + name + "x = [&]([[maybe_unused]] int64_t " + position + ") -> " + type + " {");
      for (const auto &statement : inner.statements())
        body.add("  " + statement);
      body.add("  return static_cast<" + type + ">(" + value + ");");
      body.add("};");
      body.absorb(inner);
      body.add(type + " " + name + "m, " + name + "d;");
      body.add("moments_of<" + type + ", " + std::to_string(count) + ">(" + name + "x, " + name + "m, " + name + "d);");
    }
    body.store(output.buffer, place, name + (output.fold == Fold::Mean ? "m" : "d"));
  }

  /// What the loop may be vectorised over; `nan` is empty where it is not looked for.
  static std::string simd_reduction(Fold fold, const std::string &part, const std::string &nan) {
    if (fold == Fold::Sum || fold == Fold::Product)
      return "reduction(" + std::string(fold == Fold::Sum ? "+" : "*") + ":" + part + ")";
    if (nan.empty())
      return "";
    return "reduction(" + std::string(fold == Fold::Largest ? "max" : "min") + ":" + part + ") reduction(|:" + nan +
           ")";
  }

  /// The last of the loops, in blocks whose partial results are folded in turn.
  static void innermost(Body &body, const Body &inner, const KernelOutput &output, const Loops &loops,
                        const std::string &sum, const std::string &value) {
    const std::string type = storage_type(output.accumulator);
    const std::string name = loops.groups.empty() ? sum + "r" : loops.name(loops.groups.back());
    const int64_t extent = loops.groups.empty() ? 1 : loops.groups.back().extent;
    const std::string end = std::to_string(extent), part = sum + "p";
    const bool blocks = extent > block;
    if (blocks)
      body.add("for (int64_t " + sum + "b = 0; " + sum + "b < " + end + "; " + sum + "b += " + std::to_string(block) +
               ") {");
    body.add(type + " " + part + " = " + start_value(output.fold, output.accumulator) + ";");
    // An extreme number is found lane by lane where NaN, which wins, is seen apart from it.
    const bool extreme =
        (output.fold == Fold::Largest || output.fold == Fold::Smallest) && is_floating(output.accumulator);
    const std::string nan = sum + "n";
    if (extreme)
      body.add("int " + nan + " = 0;");
    if (const std::string clauses = simd_reduction(output.fold, part, extreme ? nan : ""); !clauses.empty())
      body.add("#pragma omp simd " + clauses);
    body.add("for (int64_t " + name + " = " + (blocks ? sum + "b" : "0") + "; " + name + " < " +
             (blocks ? "smaller<int64_t>(" + sum + "b + " + std::to_string(block) + ", " + end + ")" : end) + "; ++" +
             name + ") {");
    for (const auto &statement : inner.statements())
      body.add("  " + statement);
    if (extreme)
      body.add("  " + nan + " |= " + value + " != " + value + "; " + part + " = " + value +
               (output.fold == Fold::Largest ? " > " : " < ") + part + " ? " + value + " : " + part + ";");
    else
      body.add("  " + folded(output.fold, part, value) + ";");
    body.add("}");
    if (extreme)
      body.add("if (" + nan + ") " + part + " = __builtin_nanf(\"\");");
    body.add(folded(output.fold, sum, part) + ";");
    if (blocks)
      body.add("}");
  }

  const Kernel &kernel_;
  Loops loops_;
  Body body_;
};

} // namespace

KernelSource write_kernel(const std::string &name, const Kernel &kernel) {
  KernelSource source;
  source.text = KernelWriter(kernel).function(name, source.arguments);
  return source;
}

bool is_one_loop(const Kernel &kernel) {
  return !KernelWriter(kernel).body().conflicts();
}

std::set<int> reads(const Kernel &kernel) {
  std::set<int> ids;
  const KernelWriter writer(kernel);
  for (const auto &[id, element] : writer.body().loaded())
    ids.insert(id);
  return ids;
}

size_t cost(const std::vector<int64_t> &sizes, const Loader &value) {
  Body body;
  value(body, Loops(sizes, "i").indices());
  return body.statements().size();
}

std::string kernel_helpers(const std::string &kernels) {
  const std::string helpers = helpers_of(kernels);
  return std::string(mentions(kernels, "bfloat16") ? bfloat16_type : "") +
         (mentions(kernels, "float16") ? "using float16 = _Float16;\n" : "") + helpers;
}

std::string kernel_file(const std::string &kernels) {
  std::string mathematics;
  if (kernels.find("math_") != std::string::npos)
    mathematics = "#ifdef REPRO_MINIFY_SLEEF\n" + vector_math_declarations() + "#else\n" + plain_math() + "#endif\n";
  return "#include <stdint.h>\n#include <string.h>\n\n" + mathematics + kernel_helpers(kernels) + kernels;
}

} // namespace repro_minify
