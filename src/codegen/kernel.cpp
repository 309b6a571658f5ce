#include "codegen/kernel.h"

#include "codegen/vector_math.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace repro_minify {
namespace {

constexpr int64_t block = 1024; // partial sums of this many elements keep a long sum accurate

int64_t product(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Loops over a row of dimensions. Neighbouring ones may be merged: their last one then runs over all of them.
struct Loops {
  std::vector<int64_t> sizes;
  std::string letter;
  struct Group {
    size_t last = 0;
    int64_t extent = 1;
  };
  std::vector<Group> groups; ///< dimensions of size 1 have no loop

  Loops(const std::vector<int64_t> &of, std::string named) : sizes(of), letter(std::move(named)) {
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != 1)
        groups.push_back({d, sizes[d]});
  }
  std::string name(const Group &group) const { return letter + std::to_string(group.last); }
  std::vector<Index> indices() const {
    std::vector<Index> result(sizes.size());
    for (const Group &group : groups)
      result[group.last] = Index::variable(name(group), group.extent);
    return result;
  }
  Loops merged(size_t inner) const {
    Loops result = *this;
    result.groups[inner].extent *= groups[inner - 1].extent;
    result.groups.erase(result.groups.begin() + static_cast<std::ptrdiff_t>(inner) - 1);
    return result;
  }
};

/// Two neighbouring loops are one where every place moves by the same step when the inner one wraps around.
bool can_merge(const Body &body, const Loops &loops, size_t inner) {
  const std::string a = loops.name(loops.groups[inner - 1]), b = loops.name(loops.groups[inner]);
  return std::all_of(body.places().begin(), body.places().end(), [&](const Index &place) {
    return !place.is_divided(a) && !place.is_divided(b) &&
           place.coefficient(a) == place.coefficient(b) * loops.groups[inner].extent;
  });
}

std::string start_value(Fold fold, Element element) {
  const bool floating = is_floating(element);
  const std::string type = storage_type(element);
  switch (fold) {
  case Fold::Product:
  case Fold::All:
    return "1";
  case Fold::Largest:
    return floating ? "-__builtin_inf()" : "lowest<" + type + ">()";
  case Fold::Smallest:
    return floating ? "__builtin_inf()" : "highest<" + type + ">()";
  default:
    return "0";
  }
}

std::string folded(Fold fold, const std::string &sum, const std::string &value) {
  switch (fold) {
  case Fold::Sum:
    return sum + " += " + value;
  case Fold::Product:
    return sum + " *= " + value;
  case Fold::Largest: // NaN wins
    return sum + " = " + sum + " >= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Smallest:
    return sum + " = " + sum + " <= " + value + " || " + sum + " != " + sum + " ? " + sum + " : " + value;
  case Fold::Any:
    return sum + " = " + sum + " || " + value;
  default:
    return sum + " = " + sum + " && " + value;
  }
}

/// What kernels call, by name; each may call those before it.
struct Helper {
  const char *name;
  const char *text;
};
constexpr Helper helpers[] = {
    {"bfloat16", R"(struct bfloat16 {
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
)"},
    {"smaller", R"(template <typename T> static inline T smaller(T a, T b) { return a < b ? a : b; }
)"},
    {"highest", R"(template <typename T> static inline T highest() {
  return sizeof(T) == 1 && T(-1) > T(0) ? T(-1) : sizeof(T) == 1 ? T(0x7f) : sizeof(T) == 2 ? T(0x7fff)
         : sizeof(T) == 4 ? T(0x7fffffff) : T(0x7fffffffffffffff);
}
template <> inline bool highest<bool>() { return true; }
)"},
    {"lowest", R"(template <typename T> static inline T lowest() { return T(T(-1) > T(0) ? 0 : -highest<T>() - 1); }
template <> inline bool lowest<bool>() { return false; }
)"},
    {"chosen", R"(// Both are computed, so that the loop can be vectorised: a branch around a call could not be.
template <typename T> struct Bits { typedef uint32_t type; };
template <> struct Bits<double> { typedef uint64_t type; };
template <typename T> static inline T chosen(bool first, T a, T b) {
  typename Bits<T>::type x, y;
  memcpy(&x, &a, sizeof(T));
  memcpy(&y, &b, sizeof(T));
  const auto mask = static_cast<typename Bits<T>::type>(-static_cast<int64_t>(first));
  x = (x & mask) | (y & ~mask);
  memcpy(&a, &x, sizeof(T));
  return a;
}
)"},
    {"largest_of", R"(// As torch.maximum and minimum: NaN wins.
template <typename T> static inline T largest_of(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
)"},
    {"smallest_of",
     R"(template <typename T> static inline T smallest_of(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
)"},
    {"sign_of", R"(template <typename T> static inline T sign_of(T a) { return T((a > T(0)) - (a < T(0))); }
)"},
    {"absolute", R"(template <typename T> static inline T absolute(T a) { return a < T(0) ? T(-a) : a; }
)"},
    {"floor_quotient", R"(// Integer division and remainder that round towards minus infinity.
template <typename T> static inline T floor_quotient(T a, T b) { return T(a / b - ((a % b != 0) && ((a < 0) != (b < 0)))); }
)"},
    {"floor_remainder",
     R"(template <typename T> static inline T floor_remainder(T a, T b) { const T r = T(a % b); return T(r != 0 && ((r < 0) != (b < 0)) ? r + b : r); }
)"},
    {"float_remainder", R"(// The remainder with the divisor's sign, from the one with the dividend's.
template <typename T> static inline T float_remainder(T b, T r) {
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
)"},
    {"float_floor_quotient", R"(// As torch.floor_divide: (a - a mod b) / b, made exact; r is a mod b.
template <typename T> static inline T float_floor_quotient(T a, T b, T r) {
  if (b == 0)
    return a / b;
  T quotient = (a - r) / b;
  if (r != 0 && ((b < 0) != (r < 0)))
    quotient -= T(1);
  if (quotient == 0)
    return T(__builtin_copysign(0.0, a / b));
  const T down = T(__builtin_floor(quotient));
  return quotient - down > T(0.5) ? down + T(1) : down;
}
)"},
    {"integer_power", R"(template <typename T> static inline T integer_power(T base, T exponent) {
  if (exponent < 0)
    return T(base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? -1 : 1) : 0);
  T result = 1;
  for (; exponent; exponent = T(exponent / 2), base = T(base * base))
    if (exponent % 2)
      result = T(result * base);
  return result;
}
)"},
    {"moments_of",
     R"(// Mean and squared differences of many numbers, as ATen's normalisations have them: Welford's algorithm in lanes of
// 32 bytes, sixteen steps in a row, what they give joined in pairs, and then the lanes one by one with the numbers that
// do not fill all lanes. Where a product is added in one rounding (fma), ATen's compiler has made it so.
template <typename T> static inline T fused(T a, T b, T c) { return sizeof(T) == 4 ? T(__builtin_fmaf(a, b, c)) : T(__builtin_fma(a, b, c)); }
template <typename T> struct Moments {
  static constexpr int lanes = 32 / sizeof(T), row = 16;
  int64_t count = 0;
  T mean[lanes] = {}, squares[lanes] = {};
  void join(const Moments &more) {
    const int64_t all = count + more.count;
    const T share = all ? T(more.count) / T(all) : T(0), old = T(count);
    for (int k = 0; k < lanes; ++k) {
      const T away = more.mean[k] - mean[k], part = away * share;
      mean[k] += part;
      squares[k] = fused<T>(part, away * old, squares[k] + more.squares[k]);
    }
    count = all;
  }
  template <typename Value> void take(Value value, int64_t first, int64_t steps) {
    count = steps;
    for (int64_t step = 0; step < steps; ++step) {
      T x[lanes];
      for (int k = 0; k < lanes; ++k)
        x[k] = value(first + step * lanes + k);
      const T share = T(1) / T(step + 1);
      for (int k = 0; k < lanes; ++k) {
        const T away = x[k] - mean[k];
        mean[k] = fused<T>(away, share, mean[k]);
        squares[k] = fused<T>(away, x[k] - mean[k], squares[k]);
      }
    }
  }
};
constexpr int depth_of(int64_t rows, int depth = 1) { return int64_t(1) << depth < rows ? depth_of(rows, depth + 1) : depth; }
template <typename T, int64_t count, typename Value> static inline void moments_of(Value value, T &mean, T &squares) {
  using M = Moments<T>;
  constexpr int64_t steps = count / M::lanes, rows = (steps + M::row - 1) / M::row;
  constexpr int depth = depth_of(rows);
  M stack[depth];
  for (int64_t k = 0; k < rows; ++k) {
    const int64_t begin = k * M::row;
    M next;
    next.take(value, begin * M::lanes, smaller<int64_t>(M::row, steps - begin));
    stack[0].join(next);
    for (int level = 1; level < depth && ((k + 1) >> (level - 1)) % 2 == 0; ++level) {
      stack[level].join(stack[level - 1]);
      stack[level - 1] = M();
    }
  }
  for (int level = 1; level < depth; ++level)
    stack[0].join(stack[level]);
  int64_t seen = 0;
  mean = squares = 0;
  for (int64_t k = steps * M::lanes; k < count; ++k) {
    const T x = value(k), away = x - mean;
    mean += away / T(++seen);
    squares += away * (x - mean);
  }
  for (int k = 0; k < M::lanes; ++k) {
    const int64_t all = seen + steps;
    const T share = all ? T(steps) / T(all) : T(0), away = stack[0].mean[k] - mean;
    mean = fused<T>(share, away, mean);
    squares += fused<T>(away * away * share, T(seen), stack[0].squares[k]);
    seen = all;
  }
}
)"},
};

class KernelWriter {
public:
  explicit KernelWriter(const Kernel &kernel) : kernel_(kernel), loops_(kernel.sizes, "i"), body_(make_body(loops_)) {
    for (size_t inner = loops_.groups.size(); inner-- > 1;) {
      if (!can_merge(body_, loops_, inner))
        continue;
      const Loops merged = loops_.merged(inner);
      Body body = make_body(merged);
      const std::string name = merged.name(merged.groups[inner - 1]);
      if (std::any_of(body.places().begin(), body.places().end(),
                      [&](const Index &place) { return place.is_divided(name); }))
        continue;
      loops_ = merged;
      body_ = std::move(body);
    }
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
    if (output.fold == Fold::Sum || output.fold == Fold::Product)
      body.add("#pragma omp simd reduction(" + std::string(output.fold == Fold::Sum ? "+" : "*") + ":" + part + ")");
    body.add("for (int64_t " + name + " = " + (blocks ? sum + "b" : "0") + "; " + name + " < " +
             (blocks ? "smaller<int64_t>(" + sum + "b + " + std::to_string(block) + ", " + end + ")" : end) + "; ++" +
             name + ") {");
    for (const auto &statement : inner.statements())
      body.add("  " + statement);
    body.add("  " + folded(output.fold, part, value) + ";");
    body.add("}");
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
  std::string text;
  for (size_t k = std::size(helpers); k-- > 0;)
    if ((kernels + text).find(helpers[k].name) != std::string::npos)
      text = helpers[k].text + text;
  return text;
}

std::string kernel_file(const std::string &kernels) {
  std::string mathematics;
  if (kernels.find("math_") != std::string::npos)
    mathematics = "#ifdef REPRO_MINIFY_SLEEF\n" + vector_math_declarations() + "#else\n" + plain_math() + "#endif\n";
  return "#include <stdint.h>\n#include <string.h>\n\n" + mathematics + kernel_helpers(kernels) + kernels;
}

} // namespace repro_minify
