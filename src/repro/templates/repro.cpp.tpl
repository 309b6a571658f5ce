// {{headline:x-cpp-comment}}
//
{{#not_reduced}}
{{not_reduced:x-cpp-comment-lines}}
//
{{/not_reduced}}
{{#guilty_step}}
{{guilty_step:x-cpp-comment-lines}}
//
{{/guilty_step}}
// Expected: what the TorchScript interpreter computes without optimisation.
{{found:x-cpp-comment-lines}}
{{#failing_call}}
// Right on the first call, wrong on call {{failing_call:x-source}}.
{{/failing_call}}
{{#rate}}
// Does not show in every run: the original model failed in {{failed:x-source}} of {{runs:x-source}}.
{{/rate}}
//
// Seen with PyTorch {{torch_version:x-cpp-comment}}; {{how_made:x-cpp-comment}} by repro-minify {{version:x-cpp-comment}}.
//
{{#operators}}
// Its operators are no part of PyTorch: {{value:x-source}}, beside this file, has them.
{{/operators}}
// Build and run:
//   cmake -S . -B build -DCMAKE_PREFIX_PATH="$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')"
//   cmake --build build && ./build/repro
// Exit code: 1 the failure reproduces (and the last line is "REPRODUCED ..."), 0 it no longer does, 2 it could not be
// tried.
#include <torch/script.h>

{{#torch_includes}}
#include <{{value:x-source}}>
{{/torch_includes}}
{{#perturb}}

#include <malloc.h>
{{/perturb}}

#include <algorithm>
#include <cmath>
#include <cstdio>
{{#uses_environment}}
#include <cstdlib>
{{/uses_environment}}
#include <exception>
#include <iostream>
#include <string>
#include <vector>
{{#reads_files}}
#include <filesystem>
#include <fstream>
{{/reads_files}}
{{#memory_limit}}
#include <fstream>
{{/memory_limit}}
{{#has_operators}}
#include <dlfcn.h>
{{/has_operators}}
{{#ends_the_process}}
#include <csignal>
{{#memory_limit}}
#include <sys/resource.h>
{{/memory_limit}}
#include <sys/wait.h>
#include <unistd.h>
{{/ends_the_process}}

{{#dtype_view}}
// x.view(dtype), which TorchScript has no name for. Python registers this operator when it imports torch.
TORCH_LIBRARY_FRAGMENT(prims, library) {
  library.def("view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)",
              torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd,
                              [](const at::Tensor& tensor, at::ScalarType dtype) { return tensor.view(dtype); }));
}

{{/dtype_view}}
{{#cuda}}
static const at::Device device("{{device:x-source}}");

{{/cuda}}
{{#program_in_file}}
// The program is in reduced.pt:
{{program_in_file:x-cpp-comment-lines}}

{{/program_in_file}}
{{#program}}
static const char* const program = {{program:x-cpp-raw-string}};

{{/program}}
{{#reads_files}}
static std::string beside(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / name).string();
}

{{/reads_files}}
{{#has_operators}}
[[maybe_unused]] static const bool has_operators = [] {
{{#operators}}
  if (!dlopen(beside("{{value:x-source}}").c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    std::printf("cannot be tried: %s\n", dlerror());
    std::exit(2);
  }
{{/operators}}
  return true;
}();

{{/has_operators}}
static torch::jit::Module make_module() {
{{#as_given}}
  at::manual_seed({{seed:x-source}});  // loading may draw random numbers
  torch::jit::Module module = torch::jit::load(beside("reduced.pt"){{#cuda}}, device{{/cuda}});
{{#no_train}}
  module.eval();
{{/no_train}}
{{#no_grad}}
  for (at::Tensor parameter : module.parameters())
    parameter.set_requires_grad(false);
{{/no_grad}}
  return module;
{{/as_given}}
{{#module_from_file}}
  return torch::jit::load(beside("reduced.pt"){{#cuda}}, device{{/cuda}});
{{/module_from_file}}
{{#module_from_source}}
  torch::jit::Module module("__torch__.Repro");
  module.register_attribute("training", c10::BoolType::get(), false);
{{#attributes_share}}
{{#attributes}}
  at::Tensor {{name:x-source}} = {{tensor:x-source}};
{{/attributes}}
{{/attributes_share}}
{{#attributes}}
  module.register_{{#is_parameter}}parameter{{/is_parameter}}{{#no_is_parameter}}buffer{{/no_is_parameter}}("{{name:x-source}}", {{held:x-source}}{{#is_parameter}}, /*is_buffer=*/false{{/is_parameter}});
{{/attributes}}
  module.define(program);
{{#constant_list}}
  // These are constants of the graph, not attributes.
  auto graph = module.get_method("forward").graph();
  const std::vector<std::string> constants = {{constant_list:x-source}};
  for (auto it = graph->nodes().begin(); it != graph->nodes().end();) {
    torch::jit::Node* node = *it++;
    if (node->kind() != torch::jit::prim::GetAttr ||
        std::find(constants.begin(), constants.end(), node->s(torch::jit::attr::name)) == constants.end())
      continue;
    torch::jit::WithInsertPoint guard(node);
    at::Tensor value = module.attr(node->s(torch::jit::attr::name)).toTensor().detach(){{#cuda}}.to(device){{/cuda}};
    node->output()->replaceAllUsesWith(graph->insertConstant(value));
    node->destroy();
  }
{{/constant_list}}
{{#cuda}}
  module.to(device);
{{/cuda}}
  return module;
{{/module_from_source}}
}

static std::vector<c10::IValue> make_inputs{{#cuda}}_on_cpu{{/cuda}}() {
{{#inputs_from_file}}
  std::ifstream file(beside("inputs.pt"), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  return torch::jit::pickle_load(bytes).toTupleRef().elements().vec();
{{/inputs_from_file}}
{{#no_inputs_from_file}}
{{#inputs}}
  at::Tensor {{name:x-source}} = {{tensor:x-source}};
{{/inputs}}
  return {{input_list:x-source}};
{{/no_inputs_from_file}}
}

{{#cuda}}
static std::vector<c10::IValue> make_inputs() {
  std::vector<c10::IValue> inputs = make_inputs_on_cpu();
{{#stay_on_cpu}}
  const std::vector<size_t> stay = {{stay_on_cpu:x-source}};  // on the CPU: an operator wants them there
{{/stay_on_cpu}}
  for (auto& input : inputs) {
{{#stay_on_cpu}}
    if (std::count(stay.begin(), stay.end(), static_cast<size_t>(&input - inputs.data())))
      continue;
{{/stay_on_cpu}}
{{#as_given}}
    if (!input.isTensor())
      continue;
{{/as_given}}
    const at::Tensor made = input.toTensor();
    input = made.detach().to(device).set_requires_grad(made.requires_grad());
  }
  return inputs;
}

{{/cuda}}
{{#compares}}
static bool differs(const c10::IValue& expected, const c10::IValue& found);
{{/compares}}
template <typename Call>
static std::vector<c10::IValue> run(Call& call, const torch::jit::Module& module);

{{#file_scope}}
{{file_scope:x-statements}}

{{/file_scope}}
// {{backend_title:x-cpp-comment}}, as its user would call it. {{#ends_the_process}}When the failure shows, it does not return.{{/ends_the_process}}{{#no_ends_the_process}}Returns true when the failure shows.{{/no_ends_the_process}}
static bool fails(const std::vector<{{expected_type:x-source}}>&{{#expected_name}} {{expected_name:x-source}}{{/expected_name}}) {
  torch::jit::Module module = make_module();
{{prepare:x-statements}}
{{#loops}}
  for (int i = 1; i <= {{calls:x-source}}; ++i) {
{{#per_call}}
    const std::vector<c10::IValue>& expected = expected_of_call[i - 1];
{{/per_call}}
    const std::vector<c10::IValue> found = run(call, module);
{{#compares}}
{{#structure}}
    if (found.size() != expected.size()) {
      std::printf("FAIL structure: %zu results expected, %zu found\n", expected.size(), found.size());
      return true;
    }
{{/structure}}
    for (size_t k = 0; k < expected.size() && k < found.size(); ++k)
      if (differs(expected[k], found[k])) {
        std::cout << "FAIL {{kind:x-source}}: result " << k << " of call " << i << "\nexpected\n" << expected[k] << "\nfound\n" << found[k] << std::endl;
        return true;
      }
{{/compares}}
{{#no_compares}}
    (void)found;
{{/no_compares}}
  }
{{/loops}}
{{#no_loops}}
  const std::vector<c10::IValue> found = run(call, module);
{{#compares}}
{{#structure}}
  if (found.size() != expected.size()) {
    std::printf("FAIL structure: %zu results expected, %zu found\n", expected.size(), found.size());
    return true;
  }
{{/structure}}
  for (size_t k = 0; k < expected.size() && k < found.size(); ++k)
    if (differs(expected[k], found[k])) {
      std::cout << "FAIL {{kind:x-source}}: result " << k << "\nexpected\n" << expected[k] << "\nfound\n" << found[k] << std::endl;
      return true;
    }
{{/compares}}
{{#no_compares}}
  (void)found;
{{/no_compares}}
{{/no_loops}}
{{#cuda}}
{{#no_compares}}
  torch::cuda::synchronize();  // an error of the device shows when it is waited for
{{/no_compares}}
{{/cuda}}
  return false;
}

static int reproduced() {
  std::fflush(stdout);
  std::cout << {{marker:x-cpp-string}} << std::endl;
  return 1;
}

{{#ends_the_process}}
// Says how the child process ended that makes both runs; it writes to the pipe once eager is done.
static int judge(pid_t child, int through) {
  char byte = 0;
  const bool eager_is_done = read(through, &byte, 1) == 1;
  int status = 0;
  waitpid(child, &status, 0);
  const bool signalled = WIFSIGNALED(status);
  const int number = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  if (!signalled && number == 2)
    return 2;
  if (!eager_is_done) {
    std::printf("cannot be tried, eager itself ends: %s %d\n", signalled ? "signal" : "exit code", number);
    return 2;
  }
  if (!signalled && number == 0) {
    std::printf("PASS: the failure no longer reproduces\n");
    return 0;
  }
{{#hang}}
  if (!signalled || number != SIGALRM) {
    std::printf("cannot be tried, another failure: %s %d\n", signalled ? "signal" : "exit code", number);
    return 2;
  }
{{/hang}}
  std::printf("FAIL {{kind:x-source}}: %s %d\n", signalled ? "signal" : "exit code", number);
  return reproduced();
}

{{/ends_the_process}}
int main() {
{{#ends_the_process}}
  // The optimised run takes its process with it. Eager is in the same: a device that was used here could not be there.
  int through[2];
  if (pipe(through) != 0)
    return 2;
  const pid_t child = fork();
  if (child != 0) {
    close(through[1]);
    return judge(child, through[0]);
  }
{{/ends_the_process}}
{{#perturb}}
  mallopt(M_PERTURB, {{perturb:x-source}});  // uninitialised memory is read: it holds the same each time
{{/perturb}}
{{#cublas_workspace}}
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);  // without it cuBLAS is not deterministic
{{/cublas_workspace}}
  at::set_num_threads({{threads:x-source}});
  c10::AutoGradMode grad_mode({{#grad}}true{{/grad}}{{#no_grad}}false{{/no_grad}});
{{#autocast}}
  at::autocast::set_autocast_dtype({{device_type:x-source}}, {{autocast_dtype:x-source}});
{{/autocast}}
{{#deterministic}}
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/{{warn_only:x-source}});
  at::globalContext().setDeterministicFillUninitializedMemory(false);
{{/deterministic}}
{{#cuda}}
  at::globalContext().setDeterministicCuDNN({{#deterministic}}true{{/deterministic}}{{#no_deterministic}}false{{/no_deterministic}});
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setAllowTF32CuBLAS({{#tf32}}true{{/tf32}}{{#no_tf32}}false{{/no_tf32}});
  at::globalContext().setAllowTF32CuDNN({{#tf32}}true{{/tf32}}{{#no_tf32}}false{{/no_tf32}});
{{/cuda}}
  std::vector<{{expected_type:x-source}}> expected;
  try {
    torch::jit::setGraphExecutorOptimize(false);
    torch::jit::Module module = make_module();
    auto eager = [&module](std::vector<c10::IValue> inputs) { return module.forward(std::move(inputs)); };
{{#per_call}}
    for (int i = 1; i <= {{calls:x-source}}; ++i)
      expected.push_back(run(eager, module));  // it keeps state
{{/per_call}}
{{#no_per_call}}
    expected = run(eager, module);
{{/no_per_call}}
  } catch (const std::exception& error) {
    std::printf("cannot be tried, eager itself raises: %s\n", error.what());
    return 2;
  }
{{#no_ends_the_process}}
  try {
    if (fails(expected))
      return reproduced();
  } catch (const std::exception& error) {
{{#exception}}
    std::printf("FAIL {{kind:x-source}}: %s\n", error.what());
    return reproduced();
{{/exception}}
{{#no_exception}}
    std::printf("cannot be tried, another failure: %s\n", error.what());
    return 2;
{{/no_exception}}
  }
  std::printf("PASS: the failure no longer reproduces\n");
  return 0;
{{/no_ends_the_process}}
{{#ends_the_process}}
  if (write(through[1], "", 1) != 1)
    return 2;
{{#hang}}
  alarm({{hang_seconds:x-source}});  // it hangs; eager is done in no time
{{/hang}}
{{#memory_limit}}
  // The limit is the one of the minimisation, in bytes, on top of what this process has already.
  rlim_t pages[6] = {};
  std::ifstream statm("/proc/self/statm");
  for (auto& count : pages)
    statm >> count;
  const rlim_t most = pages[5] * sysconf(_SC_PAGESIZE) + {{memory_limit:x-source}}ull;
  const rlimit limit = {most, most};
  setrlimit(RLIMIT_DATA, &limit);
{{/memory_limit}}
  try {
    fails(expected);
  } catch (const std::exception& error) {
    std::printf("{{#no_memory}}cannot be tried, another failure: {{/no_memory}}%s\n", error.what());
    std::fflush(stdout);
    _exit({{#memory}}1{{/memory}}{{#no_memory}}2{{/no_memory}});
  }
  _exit(0);
{{/ends_the_process}}
}

static void flatten(const c10::IValue& value, std::vector<c10::IValue>& leaves) {
  if (value.isTuple()) {
    for (const auto& element : value.toTupleRef().elements())
      flatten(element, leaves);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef())
      flatten(element, leaves);
{{#returns_dict}}
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict())
      flatten(entry.value(), leaves);
{{/returns_dict}}
{{#as_given}}
  } else if (value.isObject()) {
    for (const auto& attribute : value.toObjectRef().slots())
      flatten(attribute, leaves);
{{/as_given}}
  } else {
    leaves.push_back(value);
  }
}

{{#differs}}
{{differs:x-statements}}

{{/differs}}
// One run: everything it returns{{#grad}}, then the gradients of all that require one{{/grad}}{{#state}}, then its inputs and buffers as it leaves them{{/state}}.
template <typename Call>
static std::vector<c10::IValue> run(Call& call, const torch::jit::Module&{{#run_needs_module}} module{{/run_needs_module}}) {
{{#grad}}
  c10::AutoGradMode grad_mode(true);  // whatever an earlier call has left behind
{{/grad}}
  at::manual_seed({{seed:x-source}});
  std::vector<c10::IValue> inputs = make_inputs();
  std::vector<c10::IValue> results;
{{#autocast}}
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled({{device_type:x-source}}, true);
{{/autocast}}
  flatten(call(inputs), results);
{{#autocast}}
  at::autocast::set_autocast_enabled({{device_type:x-source}}, false);
{{/autocast}}
{{#grad}}
  at::Tensor loss;
  const auto is_tensor = [](const c10::IValue& result) { return result.isTensor() && result.toTensor().defined(); };
  const auto tensors = std::count_if(results.begin(), results.end(), is_tensor);
  for (const auto& result : results)
    if (result.isTensor() && result.toTensor().requires_grad()) {
      at::Tensor part = result.toTensor();
      part = (part.is_complex() ? at::view_as_real(part) : part).sum() / (double)(part.numel() * tensors);
      loss = loss.defined() ? loss + part : part;
    }
  std::vector<at::Tensor> leaves;
{{#parameter_gradients}}
  for (const auto& parameter : module.parameters())
    if (parameter.requires_grad())
      leaves.push_back(parameter);
{{/parameter_gradients}}
{{#no_parameter_gradients}}
  (void)module; // its parameters are constants on the other side
{{/no_parameter_gradients}}
  for (const auto& input : inputs)
    if (input.isTensor() && input.toTensor().requires_grad())
      leaves.push_back(input.toTensor());
  std::vector<at::Tensor> gradients(leaves.size());
  if (loss.defined() && !leaves.empty())
    gradients = torch::autograd::grad({loss}, leaves, {}, std::nullopt, /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t k = 0; k < leaves.size(); ++k)
    results.emplace_back(gradients[k].defined() ? gradients[k] : at::zeros_like(leaves[k]));  // none counts as zero
{{/grad}}
{{#state}}
  for (const auto& input : inputs)
    flatten(input, results);
  for (const at::Tensor& buffer : module.buffers())
    results.emplace_back(buffer);
{{/state}}
  for (auto& result : results)
    if (result.isTensor() && result.toTensor().defined())
      result = result.toTensor().detach().clone();  // the next call may reuse the memory
  return results;
}
