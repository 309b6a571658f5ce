#include "backends/inductor_like/kernel.h"

#include "backends/inductor_like/kernel_body.h"
#include "backends/inductor_like/kernel_index.h"
#include "backends/inductor_like/kernel_math.h"
#include "backends/inductor_like/kernel_strips.h"
#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

constexpr int64_t block = 1024; // partial sums of this many elements keep a long sum accurate

constexpr const char *exported = "extern \"C\" ";

/// GCC would take half of what the processor has.
constexpr const char *wide_vectors = "WIDE_VECTORS";
constexpr const char *wide_vectors_macro = R"(#if defined(__AVX512F__) && !defined(__clang__)
#define WIDE_VECTORS __attribute__((target("prefer-vector-width=512")))
#else
#define WIDE_VECTORS
#endif
)";

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

/// Indents each line by the number of brackets that are open.
std::string indented(const std::string &text) {
  std::string result;
  size_t depth = 0;
  for (std::string line : split_lines(text)) {
    line.erase(0, line.find_first_not_of(' '));
    const auto opened = static_cast<size_t>(std::count(line.begin(), line.end(), '{'));
    const auto closed = static_cast<size_t>(std::count(line.begin(), line.end(), '}'));
    const size_t before = line.front() == '}' ? 1 : 0;
    result += std::string(2 * (depth - before), ' ') + line + "\n";
    depth = depth + opened - closed;
  }
  return result;
}

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
    out << exported << (has_free_order() ? wide_vectors + std::string(" ") : "") << "void " << name
        << "(void *const *p, [[maybe_unused]] int threads) {\n";
    const auto argument = [&](int id, Element element, const char *constness) {
      out << constness << storage_type(element) << " *__restrict b" << id << " = static_cast<" << constness
          << storage_type(element) << " *>(p[" << arguments.size() << "]);\n";
      arguments.push_back({id, element});
    };
    for (const auto &[id, element] : body_.loaded())
      argument(id, element, "const ");
    for (const auto &[id, element] : body_.stored())
      argument(id, element, "");
    write_loops(out);
    out << "}\n";
    return indented(out.str());
  }

private:
  /// True if no result depends on how many elements are computed at a time. (A sum along a row does.)
  bool has_free_order() const {
    const auto folds = std::count_if(kernel_.outputs.begin(), kernel_.outputs.end(),
                                     [](const Kernel::Output &output) { return output.fold != Fold::None; });
    const auto columns = std::count_if(body_.statements().begin(), body_.statements().end(),
                                       [](const Statement &statement) { return statement.columns != nullptr; });
    return folds == columns;
  }

  void write_loops(std::ostream &out) const {
    if (product(kernel_.sizes) > 4096)
      out << "#pragma omp parallel for num_threads(threads) if (threads > 1)\n";
    const bool strips =
        !loops_.groups.empty() && loops_.groups.back().extent >= shortest_strip && want_strips(body_.statements());
    const size_t loops = loops_.groups.size() - (strips ? 1 : 0);
    for (size_t k = 0; k < loops; ++k)
      out << loop(loops_.name(loops_.groups[k]), "0", std::to_string(loops_.groups[k].extent), 1);
    if (strips)
      write_strips(out);
    else
      for (const auto &statement : body_.statements())
        out << statement.text << "\n";
    for (size_t k = 0; k < loops; ++k)
      out << "}\n";
  }

  static std::string loop(const std::string &variable, const std::string &first, const std::string &end, int64_t step) {
    return loop_head(variable, first, end, step) + " {\n";
  }

  void write_strips(std::ostream &out) const {
    const auto &group = loops_.groups.back();
    const std::string variable = loops_.name(group), first = variable + "b", end = variable + "e";
    const int64_t strip = longest_strip(body_.statements());
    const std::string extent = std::to_string(group.extent), size = std::to_string(strip);
    if (group.extent <= strip) {
      out << "{\n" << over_strip(body_.statements(), {variable, "0", extent, group.extent}) << "}\n";
      return;
    }
    out << loop(first, "0", extent, strip) << "const int64_t " << end << " = "
        << (group.extent % strip == 0 ? first + " + " + size
                                      : "smaller<int64_t>(" + first + " + " + size + ", " + extent + ")")
        << ";\n"
        << over_strip(body_.statements(), {variable, first, end, strip}) << "}\n";
  }

  Body make_body(const Loops &loops) const {
    Body body;
    const auto at = loops.indices();
    const Index place = flat_index(at, contiguous_strides(kernel_.sizes));
    for (const auto &output : kernel_.outputs)
      body.put(output.buffer, place,
               output.fold == Fold::None ? output.value(body, at) : reduced(body, output, at, loops), output.is_read);
    return body;
  }

  static std::string reduced(Body &body, const Kernel::Output &output, const std::vector<Index> &at,
                             const Loops &columns) {
    if (output.fold == Fold::Mean || output.fold == Fold::Squares)
      return moments(body, output, at);
    std::string sum = body.sum_name();
    const auto make_inner = [&](const Loops &rows, std::string &value) {
      std::vector<Index> all = at;
      const auto inside = rows.indices();
      all.insert(all.end(), inside.begin(), inside.end());
      Body inner = body.nested();
      value =
          inner.local(storage_type(output.accumulator), "static_cast<" + std::string(storage_type(output.accumulator)) +
                                                            ">(" + output.value(inner, all) + ")");
      return inner;
    };
    const Loops rows(output.folded, sum + "r");
    std::string value;
    Body inner = make_inner(rows, value);
    if (is_by_columns(body, inner, rows, columns))
      inner = fold_columns(body, output, rows, sum, make_inner);
    else
      fold_row(body, inner, output, rows, sum, value);
    body.absorb(inner);
    if (!is_wide(output))
      return sum;
    // Partial results are many: in float32 their sum would lose what each of them is accurate to.
    const std::string total = sum + "t";
    body.add({"const float " + total + " = static_cast<float>(" + sum + ");", {{"float", total}}});
    return total;
  }

  static bool is_wide(const Kernel::Output &output) {
    return output.fold == Fold::Sum && output.accumulator == Element::Float32;
  }

  static std::string sum_type(const Kernel::Output &output) {
    return is_wide(output) ? "double" : storage_type(output.accumulator);
  }

  /// True if columns lie side by side in memory, and the numbers of one column do not.
  static bool is_by_columns(const Body &body, const Body &inner, const Loops &rows, const Loops &columns) {
    if (rows.groups.empty() || columns.groups.empty() || columns.groups.back().extent < shortest_strip)
      return false;
    const std::string row = rows.name(rows.groups.back()), column = columns.name(columns.groups.back());
    bool along_row = true, along_columns = true;
    for (size_t k = body.places().size(); k < inner.places().size(); ++k) {
      const Index &place = inner.places()[k];
      along_row &= !place.is_divided(row) && place.coefficient(row) <= 1;
      along_columns &= !place.is_divided(column) && place.coefficient(column) <= 1;
    }
    return along_columns && !along_row;
  }

  /// Row by row; gives the body of the loop over a row.
  static Body fold_columns(Body &body, const Kernel::Output &output, const Loops &rows, const std::string &sum,
                           const std::function<Body(const Loops &, std::string &)> &make_inner) {
    auto columns = std::make_shared<ColumnFold>();
    const Loops merged =
        merged_loops(rows, [&](const Loops &loops) { return make_inner(loops, columns->result); }).first;
    Body inner = make_inner(merged, columns->result);
    columns->value = inner.statements();
    for (const auto &group : merged.groups)
      columns->rows.push_back({merged.name(group), group.extent});
    columns->fold = output.fold;
    columns->accumulator = output.accumulator;
    Statement statement{"", {{sum_type(output), sum}}};
    statement.columns = std::move(columns);
    body.add(std::move(statement));
    return inner;
  }

  /// One number after the other; the loop over the last of the folded dimensions is vectorised.
  static void fold_row(Body &body, const Body &inner, const Kernel::Output &output, const Loops &rows,
                       const std::string &sum, const std::string &value) {
    const std::string type = sum_type(output);
    std::ostringstream out;
    out << type << " " << sum << " = " << start_value(output.fold, output.accumulator) << ";\n";
    for (size_t k = 0; k + 1 < rows.groups.size(); ++k)
      out << loop(rows.name(rows.groups[k]), "0", std::to_string(rows.groups[k].extent), 1);
    innermost(out, inner, output, rows, sum, value);
    for (size_t k = 0; k + 1 < rows.groups.size(); ++k)
      out << "}\n";
    std::string text = out.str();
    text.pop_back();
    body.add({std::move(text), {{type, sum}}});
  }

  /// Mean and squared differences need the numbers in a row: they are given as a function of their position in it. Both
  /// are computed together; the second call finds them there.
  static std::string moments(Body &body, const Kernel::Output &output, std::vector<Index> at) {
    const std::string type = storage_type(output.accumulator), position = "r";
    const int64_t count = product(output.folded);
    const auto inside = unflatten(Index::variable(position, count), output.folded);
    at.insert(at.end(), inside.begin(), inside.end());
    Body alone;
    std::string key = "moments " + type + std::to_string(count) + output.value(alone, at);
    for (const auto &statement : alone.statements())
      key += statement.text;
    const auto [name, is_new] = body.name_of(key);
    const std::string mean = name + "m", squares = name + "d";
    if (is_new) {
      Body inner = body.nested();
      const std::string value = output.value(inner, at);
      std::string text =
          "const auto " + name + "x = [&]([[maybe_unused]] int64_t " + position + ") -> " + type + " {\n";
      for (const auto &statement : inner.statements())
        text += statement.text + "\n";
      text += "return static_cast<" + type + ">(" + value + ");\n};\n";
      text += type + " " + mean + ", " + squares + ";\n";
      text += "moments_of<" + type + ", " + std::to_string(count) + ">(" + name + "x, " + mean + ", " + squares + ");";
      body.absorb(inner);
      body.add({std::move(text), {{type, mean}, {type, squares}}});
    }
    return output.fold == Fold::Mean ? mean : squares;
  }

  /// Returns the pragma that vectorises the loop, or "" where none may; `nan` is empty where it is not looked for.
  static std::string simd_reduction(Fold fold, const std::string &part, const std::string &nan) {
    if (fold == Fold::Sum || fold == Fold::Product)
      return "#pragma omp simd reduction(" + std::string(fold == Fold::Sum ? "+" : "*") + ":" + part + ")";
    if (nan.empty())
      return "";
    return "#pragma omp simd reduction(" + std::string(fold == Fold::Largest ? "max" : "min") + ":" + part +
           ") reduction(|:" + nan + ")";
  }

  /// The last of the loops, in blocks whose partial results are folded in turn.
  static void innermost(std::ostream &out, const Body &inner, const Kernel::Output &output, const Loops &loops,
                        const std::string &sum, const std::string &value) {
    const std::string type = storage_type(output.accumulator);
    const std::string name = loops.groups.empty() ? sum + "r" : loops.name(loops.groups.back());
    const int64_t extent = loops.groups.empty() ? 1 : loops.groups.back().extent;
    const std::string count = std::to_string(extent), part = sum + "p";
    const bool blocks = extent > block;
    const std::string first = blocks ? sum + "b" : "0", end = blocks ? sum + "e" : count;
    if (blocks)
      out << loop(first, "0", count, block) << "const int64_t " << end << " = smaller<int64_t>(" << first << " + "
          << block << ", " << count << ");\n";
    out << type << " " << part << " = " << start_value(output.fold, output.accumulator) << ";\n";
    // An extreme number is found lane by lane where NaN, which wins, is seen apart from it.
    const bool extreme =
        (output.fold == Fold::Largest || output.fold == Fold::Smallest) && is_floating(output.accumulator);
    const std::string nan = sum + "n";
    if (extreme)
      out << "int " << nan << " = 0;\n";
    const Collected collected = {extreme ? nan + " |= " + value + " != " + value + "; " + part + " = " + value +
                                               (output.fold == Fold::Largest ? " > " : " < ") + part + " ? " + value +
                                               " : " + part + ";"
                                         : folded(output.fold, part, value) + ";",
                                 simd_reduction(output.fold, part, extreme ? nan : "")};
    if (extent >= shortest_strip && want_strips(inner.statements())) {
      out << "{\n" << over_strip(inner.statements(), {name, first, end, blocks ? block : extent}, collected) << "}\n";
    } else {
      out << collected.pragma << (collected.pragma.empty() ? "" : "\n") << loop(name, first, end, 1);
      for (const auto &statement : inner.statements())
        out << statement.text << "\n";
      out << collected.statement << "\n}\n";
    }
    if (extreme)
      out << "if (" << nan << ") " << part << " = __builtin_nanf(\"\");\n";
    out << folded(output.fold, sum, part) << ";\n" << (blocks ? "}\n" : "");
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

std::string static_kernels(std::string kernels) {
  for (const std::string &prefix : {exported + std::string(wide_vectors) + " void ", exported + std::string("void ")})
    for (size_t at = 0; (at = kernels.find(prefix, at)) != std::string::npos;)
      kernels.replace(at, prefix.size(), "static void ");
  return kernels;
}

std::string kernel_helpers(const std::string &kernels) {
  const std::string helpers = helpers_of(kernels);
  return std::string(mentions(kernels, wide_vectors) ? wide_vectors_macro : "") +
         (mentions(kernels, "bfloat16") ? bfloat16_type : "") +
         (mentions(kernels, "float16") ? "using float16 = _Float16;\n" : "") + helpers;
}

std::string kernel_file(const std::string &kernels) {
  std::string mathematics;
  if (kernels.find("math_") != std::string::npos)
    mathematics = "#ifdef REPRO_MINIFY_SLEEF\n" + vector_math_declarations() + "#else\n" + plain_math() + "#endif\n";
  return "#include <stdint.h>\n#include <string.h>\n\n" + mathematics + kernel_helpers(kernels) + kernels;
}

} // namespace repro_minify
