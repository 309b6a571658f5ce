// repro.cpp and its CMakeLists.txt: one file that needs LibTorch alone, written as an engineer would write it for a bug
// report.
#include "check/unwritten_memory.h"
#include "emit/atomic_file.h"
#include "emit/repro_differs.h"
#include "emit/repro_py.h"
#include "emit/repro_words.h"
#include "emit/tensor_literal.h"
#include "emit/torchscript_source.h"
#include "program/objects.h"
#include "program/values.h"
#include "repro_minify/record.h"
#include "repro_minify/repro.h"
#include "support/cpp_string.h"
#include "support/escape.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

constexpr size_t most_literal_bytes = size_t{64} * 1024;

bool ends_the_process(FailureKind kind) {
  return kind == FailureKind::Crash || kind == FailureKind::Hang || kind == FailureKind::Memory;
}

/// What repro.cpp is made of, worked out before anything is written.
struct Parts {
  std::string script;                                          ///< TorchScript source; empty: reduced.pt is loaded
  std::vector<std::pair<std::string, std::string>> attributes; ///< statements that make the module's attributes
  std::vector<std::pair<std::string, std::string>> inputs;     ///< name, expression
  bool attributes_share = false;                               ///< memory: an expression names another attribute
  bool has_constants = false;
  ReproFiles files;
};

/// Views whose memory nobody else shares become tensors of their own: nobody wants to read the rest of that memory.
Program compacted(const Program &program) {
  std::map<void *, int> sharers;
  for (const auto &input : program.inputs)
    ++sharers[storage_of(input.value.toTensor())];
  Program result = program;
  for (auto &input : result.inputs) {
    const auto tensor = input.value.toTensor();
    if (!storage_of(tensor) || sharers[storage_of(tensor)] > 1 || !tensor.is_contiguous() || !input.formula.empty())
      continue; // a sparse one has no storage
    input.value = tensor.detach().clone().set_requires_grad(tensor.requires_grad());
  }
  return result;
}

/// A model that is handed back as it was given is in the files, all of it.
Parts parts_as_given() {
  Parts parts;
  parts.files = {.inputs_from_file = true, .module_from_file = true};
  return parts;
}

bool reads_objects(const Program &program) {
  const auto nodes = all_nodes(*program.graph);
  return std::any_of(nodes.begin(), nodes.end(), [](const torch::jit::Node *node) {
    return node->kind() == torch::jit::prim::Constant && is_opaque_class(node->output()->type());
  });
}

Parts make_parts(const Program &given, bool grad) {
  const Program program = compacted(given);
  Parts parts;
  try {
    parts.script = torchscript_source(program);
  } catch (const std::exception &) {
  }
  parts.files.module_from_file = !source_is_faithful(program, parts.script);
  // Packed weights have no source, but how they are used has one.
  if (parts.files.module_from_file && !reads_objects(program))
    parts.script.clear();
  TensorLiterals of_inputs(grad), of_attributes(grad); // each in a function of its own
  size_t bytes = 0;
  try {
    for (const auto &input : program.inputs) {
      const std::string expression = (input.role == Role::Input ? of_inputs : of_attributes).expression(input);
      bytes += expression.size();
      (input.role == Role::Input ? parts.inputs : parts.attributes).emplace_back(input.name, expression);
      parts.has_constants |= input.role == Role::Constant;
    }
  } catch (const std::exception &) {
    bytes = most_literal_bytes + 1; // a type that has no literal travels in the files
  }
  parts.attributes_share = of_attributes.shares();
  if (bytes > most_literal_bytes) {
    parts.files.inputs_from_file = true;
    parts.files.module_from_file |= !parts.attributes.empty();
  }
  return parts;
}

class Writer {
public:
  Writer(const Program &program, const ReproFacts &facts, const Parts &parts)
      : program_(program), facts_(facts), parts_(parts), source_(facts.backend->source_for(program, facts.check)),
        marker_(reproduction_marker(program, facts.signature)) {}

  const BackendSource &source() const { return source_; }

  std::string file() {
    header();
    includes();
    device();
    script();
    paths();
    module();
    inputs();
    move_inputs();
    flatten();
    out_ << differs_function(facts_, mentions_complex());
    run();
    main_function();
    return out_.str();
  }

private:
  void header() {
    out_ << "// " << comment_text(headline(facts_)) << "\n//\n";
    if (facts_.not_reduced)
      out_ << comment_block("NOT REDUCED: this is the model as it was given. " + *facts_.not_reduced + ".") << "//\n";
    if (facts_.bisection && facts_.bisection->guilty)
      out_ << comment_block(bisection_sentence(facts_)) << "//\n";
    out_ << "// Expected: what the TorchScript interpreter computes without optimisation.\n"
         << comment_block("Found:    " + facts_.reduced.message);
    if (facts_.reduced.failing_call > 1)
      out_ << "// Right on the first call, wrong on call " << facts_.reduced.failing_call << ".\n";
    if (facts_.original_runs > 1)
      out_ << "// Does not show in every run: the original model failed in " << facts_.original_failed << " of "
           << facts_.original_runs << ".\n";
    out_ << "//\n// Seen with PyTorch " << facts_.torch_version << "; "
         << (facts_.not_reduced ? "handed back"
                                : "minimised from " + std::to_string(facts_.before.operators) + " operators to " +
                                      std::to_string(facts_.after.operators))
         << " by repro-minify " << facts_.version << ".\n//\n"
         << "// Build and run:\n"
         << "//   cmake -S . -B build -DCMAKE_PREFIX_PATH=\"$(python3 -c 'import torch; "
            "print(torch.utils.cmake_prefix_path)')\"\n"
         << "//   cmake --build build && ./build/repro\n"
         << "// Exit code: 1 the failure reproduces (and the last line is \"REPRODUCED ...\"), 0 it no longer does, 2 "
            "it "
            "could not be\n// tried.\n";
  }

  void includes() {
    std::set<std::string> torch;
    for (const auto &include : source_.includes)
      torch.insert(include);
    torch.insert("torch/csrc/jit/runtime/graph_executor.h");
    if (facts_.check.grad)
      torch.insert("torch/csrc/autograd/autograd.h");
    if (facts_.check.autocast)
      torch.insert("ATen/autocast_mode.h");
    if (sets_determinism() || on_cuda())
      torch.insert("ATen/Context.h");
    if (parts_.files.inputs_from_file)
      torch.insert("torch/csrc/jit/serialization/pickle.h");
    torch.insert("ATen/Parallel.h");
    out_ << "#include <torch/script.h>\n\n";
    for (const auto &include : torch)
      out_ << "#include <" << include << ">\n";
    if (facts_.reads_unwritten.value_or(false))
      out_ << "\n#include <malloc.h>\n";
    out_ << "\n#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <exception>\n#include "
            "<iostream>\n#include <string>\n#include <vector>\n";
    if (parts_.files.inputs_from_file || parts_.files.module_from_file)
      out_ << "#include <filesystem>\n#include <fstream>\n";
    if (ends_the_process(facts_.signature.kind))
      out_ << "#include <csignal>\n#include <sys/wait.h>\n#include <unistd.h>\n";
    out_ << "\n";
  }

  bool on_cuda() const { return facts_.check.device.is_cuda(); }
  bool sets_determinism() const { return facts_.needs_determinism && facts_.check.determinism != Determinism::Off; }

  void device() {
    if (on_cuda())
      out_ << "static const at::Device device(\"" << facts_.check.device.str() << "\");\n\n";
  }

  void script() {
    if (facts_.not_reduced)
      return;
    if (parts_.files.module_from_file) {
      out_ << "// The program is in reduced.pt:\n"
           << comment_block(parts_.script.empty() ? program_.graph->toString(false) : parts_.script) << "\n";
      return;
    }
    out_ << "static const char* const program = " << raw_string("\n" + parts_.script) << ";\n\n";
  }

  void paths() {
    if (parts_.files.inputs_from_file || parts_.files.module_from_file)
      out_ << "static std::string beside(const std::string& name) {\n"
              "  return (std::filesystem::path(__FILE__).parent_path() / name).string();\n}\n\n";
  }

  void module() {
    out_ << "static torch::jit::Module make_module() {\n";
    if (facts_.not_reduced) {
      module_as_given();
      return;
    }
    if (parts_.files.module_from_file) {
      out_ << "  return torch::jit::load(beside(\"reduced.pt\")" << (on_cuda() ? ", device" : "") << ");\n}\n\n";
      return;
    }
    out_ << "  torch::jit::Module module(\"__torch__.Repro\");\n  module.register_attribute(\"training\", "
            "c10::BoolType::get(), "
            "false);\n";
    if (parts_.attributes_share)
      for (const auto &[name, expression] : parts_.attributes)
        out_ << "  at::Tensor " << name << " = " << expression << ";\n";
    for (const auto &[name, expression] : parts_.attributes) {
      const bool parameter = is_parameter(name);
      out_ << "  module.register_" << (parameter ? "parameter" : "buffer") << "(\"" << name << "\", "
           << (parts_.attributes_share ? name : expression) << (parameter ? ", /*is_buffer=*/false" : "") << ");\n";
    }
    out_ << "  module.define(program);\n";
    if (parts_.has_constants)
      constants();
    if (on_cuda())
      out_ << "  module.to(device);\n";
    out_ << "  return module;\n}\n\n";
  }

  /// As the check has it: in eval mode, and asking for gradients only where they are compared.
  void module_as_given() {
    out_ << "  at::manual_seed(" << facts_.check.seed << ");  // loading may draw random numbers\n"
         << "  torch::jit::Module module = torch::jit::load(beside(\"reduced.pt\")" << (on_cuda() ? ", device" : "")
         << ");\n"
         << (facts_.train ? "" : "  module.eval();\n")
         << (facts_.check.grad ? ""
                               : "  for (at::Tensor parameter : module.parameters())\n"
                                 "    parameter.set_requires_grad(false);\n")
         << "  return module;\n}\n\n";
  }

  bool is_parameter(const std::string &name) const {
    for (const auto &input : program_.inputs)
      if (input.name == name)
        return input.role == Role::Parameter;
    return false;
  }

  void constants() {
    std::string names;
    for (const auto &input : program_.inputs)
      if (input.role == Role::Constant)
        names += (names.empty() ? "\"" : ", \"") + input.name + "\"";
    out_ << "  // These are constants of the graph, not attributes.\n"
            "  auto graph = module.get_method(\"forward\").graph();\n"
            "  const std::vector<std::string> constants = {"
         << names
         << "};\n"
            "  for (auto it = graph->nodes().begin(); it != graph->nodes().end();) {\n"
            "    torch::jit::Node* node = *it++;\n"
            "    if (node->kind() != torch::jit::prim::GetAttr ||\n"
            "        std::find(constants.begin(), constants.end(), node->s(torch::jit::attr::name)) == "
            "constants.end())\n"
            "      continue;\n"
            "    torch::jit::WithInsertPoint guard(node);\n"
            "    at::Tensor value = module.attr(node->s(torch::jit::attr::name)).toTensor().detach()"
         << (on_cuda() ? ".to(device)" : "")
         << ";\n"
            "    node->output()->replaceAllUsesWith(graph->insertConstant(value));\n"
            "    node->destroy();\n"
            "  }\n";
  }

  void inputs() {
    out_ << "static std::vector<c10::IValue> " << (on_cuda() ? "make_inputs_on_cpu" : "make_inputs") << "() {\n";
    if (parts_.files.inputs_from_file) {
      out_ << "  std::ifstream file(beside(\"inputs.pt\"), std::ios::binary);\n"
              "  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});\n"
              "  return torch::jit::pickle_load(bytes).toTupleRef().elements().vec();\n}\n\n";
      return;
    }
    std::string names;
    for (const auto &[name, expression] : parts_.inputs) {
      out_ << "  at::Tensor " << name << " = " << expression << ";\n";
      names += (names.empty() ? "" : ", ") + name;
    }
    out_ << "  return {" << names << "};\n}\n\n";
  }

  void move_inputs() {
    if (on_cuda())
      out_ << "static std::vector<c10::IValue> make_inputs() {\n"
              "  std::vector<c10::IValue> inputs = make_inputs_on_cpu();\n"
              "  for (auto& input : inputs) {\n"
           << (facts_.not_reduced ? "    if (!input.isTensor())\n      continue;\n" : "")
           << "    const at::Tensor made = input.toTensor();\n"
              "    input = made.detach().to(device).set_requires_grad(made.requires_grad());\n"
              "  }\n"
              "  return inputs;\n}\n\n";
  }

  bool returns_dict() const {
    for (const auto *output : program_.graph->outputs())
      if (output->type()->kind() == c10::TypeKind::DictType)
        return true;
    return false;
  }

  void flatten() {
    out_ << "static void flatten(const c10::IValue& value, std::vector<c10::IValue>& leaves) {\n"
            "  if (value.isTuple()) {\n"
            "    for (const auto& element : value.toTupleRef().elements())\n"
            "      flatten(element, leaves);\n"
            "  } else if (value.isTensorList()) {\n"
            "    for (const at::Tensor& element : value.toTensorVector())\n"
            "      leaves.emplace_back(element);\n"
         << (returns_dict() ? "  } else if (value.isGenericDict()) {\n"
                              "    for (const auto& entry : value.toGenericDict())\n"
                              "      flatten(entry.value(), leaves);\n"
                            : "")
         << (facts_.not_reduced ? "  } else if (value.isObject()) {\n"
                                  "    for (const auto& attribute : value.toObjectRef().slots())\n"
                                  "      flatten(attribute, leaves);\n"
                                : "")
         << "  } else {\n"
            "    leaves.push_back(value);\n"
            "  }\n"
            "}\n\n";
  }

  bool mentions_complex() const {
    if (facts_.not_reduced)
      return true; // who knows
    for (const auto &input : program_.inputs)
      if (input.value.toTensor().is_complex())
        return true;
    return facts_.reduced.message.find("complex") != std::string::npos;
  }

  void run() {
    out_ << "// One run: everything it returns"
         << (facts_.check.grad ? ", then the gradients of all that require one" : "")
         << (facts_.signature.where == "state" ? ", then its inputs and buffers as it leaves them" : "") << ".\n"
         << "template <typename Call>\nstatic std::vector<c10::IValue> run(Call& call, "
         << (facts_.check.grad || facts_.signature.where == "state" ? "const torch::jit::Module& module"
                                                                    : "const torch::jit::Module&")
         << ") {\n"
         << "  at::manual_seed(" << facts_.check.seed << ");\n"
         << "  std::vector<c10::IValue> inputs = make_inputs();\n"
         << "  std::vector<c10::IValue> results;\n"
         << autocast(true) << "  flatten(call(inputs), results);\n"
         << autocast(false);
    if (facts_.check.grad)
      gradients();
    if (facts_.signature.where == "state")
      out_ << "  for (const auto& input : inputs)\n    flatten(input, results);\n"
              "  for (const at::Tensor& buffer : module.buffers())\n    results.emplace_back(buffer);\n";
    out_ << "  for (auto& result : results)\n"
            "    if (result.isTensor() && result.toTensor().defined())\n"
            "      result = result.toTensor().detach().clone();  // the next call may reuse the memory\n"
            "  return results;\n}\n\n";
  }

  void gradients() {
    out_ << "  at::Tensor loss;\n"
            "  for (const auto& result : results)\n"
            "    if (result.isTensor() && result.toTensor().requires_grad()) {\n"
            "      at::Tensor part = result.toTensor();\n"
            "      part = (part.is_complex() ? at::view_as_real(part) : part).sum() / (double)part.numel();\n"
            "      loss = loss.defined() ? loss + part : part;\n"
            "    }\n"
            "  std::vector<at::Tensor> leaves;\n"
         << (facts_.backend->gradients() == Gradients::All
                 ? "  for (const auto& parameter : module.parameters())\n"
                   "    if (parameter.requires_grad())\n      leaves.push_back(parameter);\n"
                 : "  (void)module; // its parameters are constants on the other side\n")
         << "  for (const auto& input : inputs)\n"
            "    if (input.isTensor() && input.toTensor().requires_grad())\n      leaves.push_back(input.toTensor());\n"
            "  if (loss.defined() && !leaves.empty())\n"
            "    for (const at::Tensor& gradient :\n"
            "         torch::autograd::grad({loss}, leaves, {}, std::nullopt, /*create_graph=*/false, "
            "/*allow_unused=*/true))\n"
            "      results.emplace_back(gradient.defined() ? gradient : at::zeros({}));  // none counts as zero\n";
  }

  std::string settings() const {
    std::string text;
    if (facts_.reads_unwritten.value_or(false)) // what is allocated then holds the complement
      text += "  mallopt(M_PERTURB, " + std::to_string(usual_perturbation) +
              ");  // memory that nobody has written is read: it holds the same each time\n";
    text += "  at::set_num_threads(" + std::to_string(facts_.check.threads) + ");\n";
    text += std::string("  c10::AutoGradMode grad_mode(") + (facts_.check.grad ? "true" : "false") + ");\n";
    if (facts_.check.autocast)
      text += "  at::autocast::set_autocast_dtype(" + device_type() + ", " +
              (facts_.check.autocast_dtype == at::kHalf ? "at::kHalf" : "at::kBFloat16") + ");\n";
    if (sets_determinism())
      text += "  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/" +
              std::string(facts_.check.determinism == Determinism::On ? "false" : "true") +
              ");\n  at::globalContext().setDeterministicFillUninitializedMemory(false);\n";
    if (on_cuda())
      text += std::string("  at::globalContext().setDeterministicCuDNN(") + (sets_determinism() ? "true" : "false") +
              ");\n  at::globalContext().setBenchmarkCuDNN(false);\n  at::globalContext().setAllowTF32CuBLAS(" +
              (facts_.check.tf32 ? "true" : "false") + ");\n  at::globalContext().setAllowTF32CuDNN(" +
              (facts_.check.tf32 ? "true" : "false") + ");\n";
    return text;
  }

  std::string device_type() const { return on_cuda() ? "at::kCUDA" : "at::kCPU"; }

  /// Around each run, never around compiling.
  std::string autocast(bool on) const {
    if (!facts_.check.autocast)
      return "";
    return std::string(on ? "  at::autocast::clear_cache();\n" : "") + "  at::autocast::set_autocast_enabled(" +
           device_type() + (on ? ", true" : ", false") + ");\n";
  }

  /// A program that keeps state answers each call differently, eager too.
  bool per_call() const { return facts_.reduced.stateful && compares_values(); }

  bool compares_values() const { return is_comparison(facts_.signature.kind); }

  int calls() const {
    const FailureKind kind = facts_.signature.kind;
    if (!facts_.backend->needs_several_calls())
      return 1;
    // Which call raises is not known.
    const bool any_call = ends_the_process(kind) || kind == FailureKind::Exception;
    return std::max(facts_.reduced.failing_call, any_call ? facts_.check.calls : 1);
  }

  void optimised() {
    const FailureKind kind = facts_.signature.kind;
    if (!source_.file_scope.empty())
      out_ << source_.file_scope << "\n";
    out_ << "// " << comment_text(facts_.backend->title()) << ", as its user would call it. "
         << (ends_the_process(kind) ? "When the failure shows, it does not return.\n"
                                    : "Returns true when the failure shows.\n")
         << "static bool fails(const std::vector<" << (per_call() ? "std::vector<c10::IValue>" : "c10::IValue") << ">&"
         << (per_call()          ? " expected_of_call"
             : compares_values() ? " expected"
                                 : "")
         << ") {\n"
         << "  torch::jit::Module module = make_module();\n"
         << source_.prepare;
    const bool loops = calls() > 1 || per_call();
    const std::string indent = loops ? "    " : "  ";
    if (loops)
      out_ << "  for (int i = 1; i <= " << calls() << "; ++i) {\n";
    if (per_call())
      out_ << indent << "const std::vector<c10::IValue>& expected = expected_of_call[i - 1];\n";
    out_ << indent << "const std::vector<c10::IValue> found = run(call, module);\n";
    if (kind == FailureKind::Exception || ends_the_process(kind)) {
      out_ << indent << "(void)found;\n";
    } else {
      if (kind == FailureKind::Structure)
        out_ << indent << "if (found.size() != expected.size()) {\n"
             << indent << "  std::printf(\"FAIL " << to_string(kind)
             << ": %zu results expected, %zu found\\n\", expected.size(), found.size());\n"
             << indent << "  return true;\n"
             << indent << "}\n";
      out_ << indent << "for (size_t k = 0; k < expected.size() && k < found.size(); ++k)\n"
           << indent << "  if (differs(expected[k], found[k])) {\n"
           << indent << "    std::cout << \"FAIL " << to_string(kind) << ": result \" << k"
           << (loops ? " << \" of call \" << i" : "")
           << " << \"\\nexpected\\n\" << expected[k] << \"\\nfound\\n\" << found[k] << std::endl;\n"
           << indent << "    return true;\n"
           << indent << "  }\n";
    }
    if (loops)
      out_ << "  }\n";
    out_ << "  return false;\n}\n\n";
  }

  void main_function() {
    optimised();
    reproduced();
    out_ << "int main() {\n"
         << settings() << "  std::vector<" << (per_call() ? "std::vector<c10::IValue>" : "c10::IValue")
         << "> expected;\n"
         << "  try {\n"
            "    torch::jit::setGraphExecutorOptimize(false);\n"
            "    torch::jit::Module module = make_module();\n"
            "    auto eager = [&module](std::vector<c10::IValue> inputs) { return module.forward(std::move(inputs)); "
            "};\n"
         << (per_call() ? "    for (int i = 1; i <= " + std::to_string(calls()) +
                              "; ++i)\n      expected.push_back(run(eager, module));  // it keeps state\n"
                        : "    expected = run(eager, module);\n")
         << "  } catch (const std::exception& error) {\n"
            "    std::printf(\"cannot be tried, eager itself raises: %s\\n\", error.what());\n"
            "    return 2;\n"
            "  }\n";
    if (ends_the_process(facts_.signature.kind))
      in_a_child();
    else
      in_this_process();
    out_ << "}\n";
  }

  /// What is looked for when this file is run by a program: it may exit with 1 for another reason.
  void reproduced() {
    out_ << "static int reproduced() {\n"
            "  std::fflush(stdout);\n"
            "  std::cout << "
         << cpp_string(marker_)
         << " << std::endl;\n"
            "  return 1;\n"
            "}\n\n";
  }

  void in_this_process() {
    const bool exception = facts_.signature.kind == FailureKind::Exception;
    out_ << "  try {\n"
            "    if (fails(expected))\n"
            "      return reproduced();\n"
            "  } catch (const std::exception& error) {\n";
    if (exception)
      out_ << "    std::printf(\"FAIL exception: %s\\n\", error.what());\n    return reproduced();\n";
    else
      out_ << "    std::printf(\"cannot be tried, another failure: %s\\n\", error.what());\n    return 2;\n";
    out_ << "  }\n  std::printf(\"PASS: the failure no longer reproduces\\n\");\n  return 0;\n";
  }

  void in_a_child() {
    out_ << "  // The optimised run takes its process with it: give it one of its own.\n"
            "  const pid_t child = fork();\n"
            "  if (child == 0) {\n";
    if (facts_.signature.kind == FailureKind::Hang)
      out_ << "    alarm(" << facts_.hang_seconds << ");  // it hangs; eager is done in no time\n";
    // An exception is not a crash, and a program that is refused memory may well say so with one.
    const bool memory = facts_.signature.kind == FailureKind::Memory;
    out_ << "    try {\n"
            "      fails(expected);\n"
            "    } catch (const std::exception& error) {\n"
            "      std::printf(\""
         << (memory ? "" : "cannot be tried, another failure: ")
         << "%s\\n\", error.what());\n"
            "      std::fflush(stdout);\n"
            "      _exit("
         << (memory ? 1 : 2)
         << ");\n"
            "    }\n"
            "    _exit(0);\n"
            "  }\n"
            "  int status = 0;\n"
            "  waitpid(child, &status, 0);\n"
            "  const bool signalled = WIFSIGNALED(status);\n"
            "  const int number = signalled ? WTERMSIG(status) : WEXITSTATUS(status);\n"
            "  if (!signalled && number == 2)\n"
            "    return 2;\n"
            "  if (!signalled && number == 0) {\n"
            "    std::printf(\"PASS: the failure no longer reproduces\\n\");\n"
            "    return 0;\n"
            "  }\n";
    if (facts_.signature.kind == FailureKind::Hang)
      out_ << "  if (!signalled || number != SIGALRM) {\n"
              "    std::printf(\"cannot be tried, another failure: %s %d\\n\", signalled ? \"signal\" : \"exit code\", "
              "number);\n"
              "    return 2;\n"
              "  }\n";
    out_ << "  std::printf(\"FAIL " << to_string(facts_.signature.kind)
         << ": %s %d\\n\", signalled ? \"signal\" : \"exit code\", number);\n"
            "  return reproduced();\n";
  }

  const Program &program_;
  const ReproFacts &facts_;
  const Parts &parts_;
  const BackendSource source_;
  const std::string marker_;
  std::ostringstream out_;
};

constexpr const char *cmake_lists = R"(cmake_minimum_required(VERSION 3.18)
project(repro LANGUAGES CXX)
find_package(Torch REQUIRED)
add_executable(repro repro.cpp)
target_link_libraries(repro ${TORCH_LIBRARIES})
set_target_properties(repro PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
)";

constexpr const char *cmake_lists_for_cuda = R"(cmake_minimum_required(VERSION 3.18)
project(repro LANGUAGES CXX)
# The TorchConfig.cmake of a LibTorch with CUDA asks for a CUDA toolkit, compiler included; repro.cpp needs none.
find_path(TORCH_INCLUDE torch/script.h PATH_SUFFIXES include ../../include REQUIRED)
get_filename_component(TORCH_LIB "${TORCH_INCLUDE}/../lib" ABSOLUTE)
add_executable(repro repro.cpp)
target_include_directories(repro SYSTEM PRIVATE ${TORCH_INCLUDE} ${TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(repro -L${TORCH_LIB} -Wl,-rpath,${TORCH_LIB} -Wl,--unresolved-symbols=ignore-in-shared-libs
                      -Wl,--no-as-needed stdc++ torch torch_cpu torch_cuda c10 c10_cuda)
set_target_properties(repro PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
)";

} // namespace

ReproFiles write_repro(const Program &program, const ReproFacts &facts, const std::string &folder) {
  if (!write_repro_py(program, facts, folder))
    return {};
  const Parts parts = facts.not_reduced ? parts_as_given() : make_parts(program, facts.check.grad);
  Writer writer(program, facts, parts);
  write_atomically(folder + "/repro.cpp", writer.file());
  std::string cmake = REPRO_MINIFY_TORCH_HAS_CUDA ? cmake_lists_for_cuda : cmake_lists;
  for (const auto &library : writer.source().libraries)
    cmake += "target_link_libraries(repro " + library + ")\n";
  write_atomically(folder + "/CMakeLists.txt", cmake);
  for (const auto &[name, text] : writer.source().files)
    write_atomically(folder + "/" + name, text);
  return parts.files;
}

} // namespace repro_minify
