#include "backends/inductor_like/stages.h"

#include "backends/inductor_like/capture.h"
#include "backends/inductor_like/kernel_math.h"
#include "core/escape.h"
#include "core/number_text.h"
#include "core/text.h"

#include <set>
#include <sstream>

namespace repro_minify::inductor_like {
namespace {

const char *const aten_helper = R"(
// An operator as ATen has it: what is on the stack, and its results.
static std::vector<c10::IValue> aten(const char* name, const char* overload, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(stack);
  return stack;
}
)";

const char *const layout_helper = R"(
// A kernel reads its operands in this layout.
static at::Tensor laid_out(const at::Tensor& tensor, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return tensor.strides() == strides ? tensor : at::empty_strided(sizes, strides, tensor.options()).copy_(tensor);
}
)";

const char *const kernel_helper = R"(
static void launch(void (*kernel)(void* const*, int), const std::vector<at::Tensor>& tensors) {
  std::vector<void*> pointers;
  for (const at::Tensor& tensor : tensors)
    pointers.push_back(tensor.data_ptr());
  kernel(pointers.data(), 1);
}
)";

std::string sizes_text(const std::vector<int64_t> &sizes) {
  return "{" + joined(sizes, ", ", integer_literal) + "}";
}

std::string dtype_text(at::ScalarType type) {
  return std::string("at::k") + c10::toString(type);
}

std::string cpp_number(double value) {
  if (std::isnan(value))
    return "std::nan(\"\")";
  if (std::isinf(value))
    return value < 0 ? "-HUGE_VAL" : "HUGE_VAL";
  return double_literal(value);
}

/// A constant operand as a c10::IValue.
std::string constant_text(const c10::IValue &value) {
  if (value.isNone())
    return "c10::IValue()";
  if (value.isBool())
    return value.toBool() ? "true" : "false";
  if (value.isInt())
    return "int64_t{" + integer_literal(value.toInt()) + "}";
  if (value.isDouble())
    return cpp_number(value.toDouble());
  if (value.isString())
    return "std::string(" + raw_string(value.toStringRef()) + ")";
  if (value.isIntList())
    return "std::vector<int64_t>" + sizes_text(value.toIntVector());
  if (value.isDoubleList())
    return "std::vector<double>{" + joined(value.toDoubleVector(), ", ", cpp_number) + "}";
  if (value.isDevice() && value.toDevice().is_cpu())
    return "at::Device(at::kCPU)";
  if (value.isDevice() && value.toDevice().is_cuda())
    return "at::Device(\"" + value.toDevice().str() + "\")";
  throw NotCovered("a constant of type " + value.tagKind() + " has no C++ literal here");
}

/// A tensor that the program itself makes of numbers.
std::string tensor_text(const at::Tensor &tensor) {
  constexpr int64_t most_elements = 1000;
  const bool is_plain = tensor.layout() == at::kStrided && !tensor.is_quantized() && !tensor.is_complex();
  if (!is_plain || tensor.numel() > most_elements)
    throw NotCovered("an input of the compiled program has no name");
  const bool floating = tensor.is_floating_point();
  const at::Tensor numbers = tensor.cpu().to(floating ? at::kDouble : at::kLong).contiguous().flatten();
  std::string text;
  for (int64_t k = 0; k < numbers.numel(); ++k)
    text += (k ? ", " : "") +
            (floating ? cpp_number(numbers[k].item<double>()) : integer_literal(numbers[k].item<int64_t>()));
  return std::string("at::tensor(std::vector<") + (floating ? "double" : "int64_t") + ">{" + text + "}).to(" +
         (tensor.is_cuda() ? "at::Device(\"" + tensor.device().str() + "\"), " : "") +
         dtype_text(tensor.scalar_type()) + ").reshape(" + sizes_text(tensor.sizes().vec()) + ")";
}

const char *const run_time_compiler = R"(
// What the compiler has against the kernels; empty if nothing.
static std::string compile(const char* source) {
  const char* place = std::getenv("TMPDIR");
  std::string folder = std::string(place ? place : "/tmp") + "/repro-XXXXXX";
  if (!mkdtemp(folder.data()))
    return "";
  const std::string base = folder + "/kernels";
  std::ofstream(base + ".cpp") << source;
  const std::string command = "c++ -fopenmp -w -c " + base + ".cpp -o " + base + ".o 2> " + base + ".txt";
  std::string error;
  if (std::system(command.c_str()) != 0) {
    std::ifstream output(base + ".txt");
    for (std::string line; error.empty() && std::getline(output, line);)
      if (const size_t at = line.find("error: "); at != std::string::npos)
        error = line.substr(at + 7);
  }
  std::filesystem::remove_all(folder);
  return error;
}
)";

/// The C library's functions, of those that the kernels call.
std::string mathematics(const std::string &kernels) {
  std::string text;
  std::string function;
  for (const std::string &line : split_lines(plain_math())) {
    function += line + "\n";
    if (line.empty() || line.back() != '}')
      continue; // all of a function
    const size_t at = function.find("math_"), end = function.find('(', at);
    if (kernels.find(function.substr(at, end - at) + "(") != std::string::npos)
      text += function;
    function.clear();
  }
  return text;
}

class Writer {
public:
  Writer(const CompiledProgram &program, const std::vector<std::string> &names) : program_(program), names_(names) {}

  BackendSource source() {
    if (on_cuda())
      body_ << "  compiled_kernels();\n";
    body_ << "  // What inductor-like makes of the program: the kernels above, and the rest as ATen has it.\n"
             "  auto call = [module](std::vector<c10::IValue> inputs) -> c10::IValue {\n"
             "    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);\n"
             "    const at::NoGradGuard no_grad;\n";
    if (program_.plan.raises)
      body_ << "    throw std::runtime_error(\"" << injected_message << "\");\n";
    inputs();
    for (const auto &step : program_.plan.steps)
      if (const auto *kernel = std::get_if<KernelStep>(&step))
        launch(*kernel);
      else
        aten(std::get<AtenStep>(step));
    results();
    body_ << "  };\n";
    std::vector<std::string> includes = {"ATen/core/dispatch/Dispatcher.h", "ATen/core/grad_mode.h",
                                         "c10/core/impl/LocalDispatchKeySet.h"};
    if (on_cuda())
      includes.insert(includes.end(), cuda_repro_includes().begin(), cuda_repro_includes().end());
    return {includes, body_.str(), file_scope(),
            on_cuda() ? std::vector<std::string>{"dl"} : std::vector<std::string>{}};
  }

private:
  /// True if there are kernels, and they are CUDA's.
  bool on_cuda() const { return program_.plan.device.is_cuda() && !program_.plan.source.empty(); }

  static std::string name(int slot) { return "t" + std::to_string(slot); }

  std::string input(size_t k) const {
    const auto &line = program_.line;
    if (k < line.arguments)
      return "inputs[" + std::to_string(k) + "].toTensor()";
    if (k - line.arguments < names_.size())
      return "module.attr(\"" + names_[k - line.arguments] + "\").toTensor()";
    return tensor_text(line.inputs[k].toTensor());
  }

  void inputs() {
    const auto &line = program_.line;
    for (size_t k = 0; k < line.inputs.size(); ++k)
      body_ << "    [[maybe_unused]] at::Tensor " << name(program_.plan.inputs[k]) << " = " << input(k) << ";\n";
  }

  std::string operand(int slot) {
    const c10::IValue &constant = program_.plan.slots[static_cast<size_t>(slot)];
    return lists_.count(slot)   ? lists_.at(slot)
           : known_.count(slot) ? name(slot)
           : is_input(slot)     ? name(slot)
                                : constant_text(constant);
  }

  bool is_input(int slot) const {
    const auto &inputs = program_.plan.inputs;
    return std::find(inputs.begin(), inputs.end(), slot) != inputs.end();
  }

  void aten(const AtenStep &step) {
    const Node *node = step.node;
    if (node->kind() == prim::ListConstruct) {
      lists_[step.outputs[0]] = list(step);
      return;
    }
    if (node->kind() == prim::ListUnpack) {
      for (size_t k = 0; k < step.outputs.size(); ++k)
        body_ << "    at::Tensor " << name(step.outputs[k]) << " = " << name(step.inputs[0]) << ".toTensorVector()["
              << k << "];\n";
      known_.insert(step.outputs.begin(), step.outputs.end());
      return;
    }
    if (!node->maybeSchema() || !node->kind().is_aten())
      throw NotCovered(std::string(node->kind().toQualString()) + " cannot be called through the dispatcher");
    const std::string operands = joined(step.inputs, ", ", [this](int slot) { return operand(slot); });
    calls_aten_ = true;
    const std::string call = "aten(\"" + std::string(node->kind().toQualString()) + "\", \"" +
                             node->schema().overload_name() + "\", {" + operands + "})";
    known_.insert(step.outputs.begin(), step.outputs.end());
    if (step.outputs.size() == 1) {
      const bool tensor = node->output()->type()->isSubtypeOf(c10::TensorType::get());
      body_ << "    " << (tensor ? "at::Tensor " : "c10::IValue ") << name(step.outputs[0]) << " = " << call << "[0]"
            << (tensor ? ".toTensor()" : "") << ";\n";
      return;
    }
    const std::string all = "r" + std::to_string(step.outputs.at(0));
    body_ << "    const std::vector<c10::IValue> " << all << " = " << call << ";\n";
    for (size_t k = 0; k < step.outputs.size(); ++k)
      body_ << "    [[maybe_unused]] at::Tensor " << name(step.outputs[k]) << " = " << all << "[" << k
            << "].toTensor();\n";
  }

  std::string list(const AtenStep &step) {
    const auto &type = step.node->output()->type()->expectRef<c10::ListType>();
    const auto element = type.getElementType();
    const std::string cpp = element->isSubtypeOf(c10::TensorType::get())     ? "at::Tensor"
                            : element->kind() == c10::TypeKind::OptionalType ? "std::optional<at::Tensor>"
                            : element->kind() == c10::TypeKind::IntType      ? "int64_t"
                                                                             : "";
    if (cpp.empty())
      throw NotCovered("a list of " + element->str());
    std::string elements;
    for (const int slot : step.inputs) {
      const bool none =
          !known_.count(slot) && !is_input(slot) && program_.plan.slots[static_cast<size_t>(slot)].isNone();
      elements += (elements.empty() ? "" : ", ") + (none ? "std::nullopt" : operand(slot));
    }
    return "c10::List<" + cpp + ">({" + elements + "})";
  }

  void launch(const KernelStep &step) {
    std::set<int> made;
    for (const auto &output : step.kernel.outputs) {
      if (!output.is_read)
        continue;
      const Plan::Layout &layout = program_.plan.layouts[static_cast<size_t>(output.buffer.id)];
      body_ << "    at::Tensor " << name(output.buffer.id) << " = at::empty(" << sizes_text(layout.sizes) << ", "
            << (on_cuda() ? "at::TensorOptions(" + dtype_text(layout.dtype) + ").device(kernels_device)"
                          : dtype_text(layout.dtype))
            << ");\n";
      made.insert(output.buffer.id);
    }
    known_.insert(made.begin(), made.end());
    std::string tensors;
    for (const auto &argument : step.arguments) {
      const Plan::Layout &layout = program_.plan.layouts[static_cast<size_t>(argument.id)];
      tensors += (tensors.empty() ? "" : ", ") +
                 (made.count(argument.id) ? name(argument.id)
                                          : "laid_out(" + name(argument.id) + ", " + sizes_text(layout.sizes) + ", " +
                                                sizes_text(layout.strides) + ")");
    }
    const std::string kernel = on_cuda() ? "\"" + step.name + "\", " + std::to_string(step.blocks) : step.name;
    body_ << "    launch(" << kernel << ", {" << tensors << "});\n";
    for (const int id : made)
      if (const auto strides = program_.plan.strides_of_eager.find(id); strides != program_.plan.strides_of_eager.end())
        body_ << "    " << name(id) << " = laid_out(" << name(id) << ", "
              << sizes_text(program_.plan.layouts[static_cast<size_t>(id)].sizes) << ", " << sizes_text(strides->second)
              << ");\n";
  }

  void results() {
    const auto &outputs = program_.plan.outputs;
    for (const Functional::Update &update : program_.updates)
      body_ << "    " << name(program_.plan.inputs[update.input]) << ".copy_(" << operand(outputs[update.output])
            << ");\n";
    size_t next = 0;
    body_ << "    return " << packed(program_.result, next) << ";\n";
  }

  std::string packed(const c10::IValue &value, size_t &next) {
    if (value.isTensor())
      return value.toTensor().defined() ? operand(program_.plan.outputs.at(next++)) : "at::Tensor()";
    if (value.isTuple()) {
      std::string elements;
      for (const auto &element : value.toTupleRef().elements())
        elements += (elements.empty() ? "" : ", ") + packed(element, next);
      return "c10::ivalue::Tuple::create(std::vector<c10::IValue>{" + elements + "})";
    }
    if (value.isTensorList()) {
      std::string elements;
      for (const at::Tensor &element : value.toTensorVector())
        elements += (elements.empty() ? "" : ", ") + packed(element, next);
      return "c10::List<at::Tensor>({" + elements + "})";
    }
    return constant_text(value);
  }

  std::string file_scope() const {
    const bool has_kernels = !program_.plan.source.empty();
    return (on_cuda() ? cuda_repro_kernels(program_.plan) : kernels_here()) + (calls_aten_ ? aten_helper : "") +
           (has_kernels ? layout_helper : "") + (has_kernels && !on_cuda() ? kernel_helper : "");
  }

  std::string kernels_here() const {
    const std::string kernels = static_kernels(program_.plan.source);
    return "// ---- The kernels that inductor-like generated.\n" + mathematics(kernels) + kernel_helpers(kernels) +
           kernels + "// ---- End of the kernels.\n";
  }

  const CompiledProgram &program_;
  const std::vector<std::string> &names_;
  std::ostringstream body_;
  bool calls_aten_ = false;
  std::set<int> known_; ///< slots that have a variable
  std::map<int, std::string> lists_;
};

} // namespace

BackendSource repro_source(const CompiledProgram &program, const std::vector<std::string> &names) {
  return Writer(program, names).source();
}

BackendSource uncompilable_source(const CompiledProgram &program) {
  return {{"cstdlib", "filesystem", "fstream", "stdexcept", "stdlib.h"},
          R"(  if (const std::string error = compile(kernels); !error.empty())
    throw std::runtime_error("C++ compile error: " + error);
  auto call = [module](std::vector<c10::IValue> inputs) mutable { return module.forward(std::move(inputs)); };
)",
          "// The kernels that inductor-like generated.\nstatic const char* const kernels = " +
              raw_string("\n" + kernel_file(program.plan.source)) + ";\n" + run_time_compiler};
}

} // namespace repro_minify::inductor_like
