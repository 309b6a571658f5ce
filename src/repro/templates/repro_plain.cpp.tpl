// {{headline:x-cpp-comment}}
{{#guilty_step}}
{{guilty_step:x-cpp-comment-lines}}
{{/guilty_step}}
{{#failing_call}}
// Right on the first call, wrong on call {{failing_call:x-source}}.
{{/failing_call}}
{{#found_in_words}}
{{found_in_words:x-cpp-comment-lines}}
{{/found_in_words}}
// Seen with PyTorch {{torch_version:x-cpp-comment}}; {{how_made:x-cpp-comment}} by repro-minify {{version:x-cpp-comment}}. Build and run:
//   cmake -S . -B build -DCMAKE_PREFIX_PATH="$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')"
//   cmake --build build && ./build/repro  # 1: the failure reproduces ("REPRODUCED ..."), 0: not, 2: cannot be tried
#include <torch/script.h>
{{#own_includes}}
#include <{{value:x-source}}>
{{/own_includes}}
#include <iostream>

static const char* const program = {{program:x-cpp-raw-string}};

static torch::jit::Module make_module() {
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
  return module;
}

{{#no_few_inputs}}
static std::vector<c10::IValue> make_inputs() {
{{#inputs}}
  at::Tensor {{name:x-source}} = {{tensor:x-source}};
{{/inputs}}
  return {{input_list:x-source}};
}

{{/no_few_inputs}}
int main() try {
  const at::NoGradGuard no_grad;
{{#may_use_threads}}
  at::set_num_threads({{threads:x-source}});
{{/may_use_threads}}
{{#few_inputs}}
  const auto make_inputs = [] { return std::vector<c10::IValue>{{few_inputs:x-source}}; };
{{/few_inputs}}
  torch::jit::setGraphExecutorOptimize(false);
{{#exception}}
  make_module().forward(make_inputs());  // eager does not raise
  try {  // {{backend_title:x-cpp-comment}}, as its user would call it:
    torch::jit::Module module = make_module();
{{prepare:x-statements}}
{{#loops}}
    for (int i = 1; i <= {{calls:x-source}}; ++i)
{{/loops}}
    call(make_inputs());
  } catch (const std::exception& error) {
    std::cout << "FAIL exception: " << error.what() << "\n" << "{{marker:x-source}}" << std::endl;
    return 1;
  }
  std::cout << "PASS: the failure no longer reproduces" << std::endl;
  return 0;
{{/exception}}
{{#no_exception}}
  const at::Tensor expected = make_module().forward(make_inputs()).toTensor();
  torch::jit::Module module = make_module();  // {{backend_title:x-cpp-comment}}, as its user would call it:
{{prepare:x-statements}}
{{#loops}}
  for (int i = 1; i < {{calls:x-source}}; ++i)
    call(make_inputs());
{{/loops}}
  const at::Tensor found = call(make_inputs()).toTensor();
{{#why_same}}
  // {{why_same:x-cpp-comment}}
{{/why_same}}
  const bool same = {{same:x-source}};
  std::cout << "expected\n" << expected << "\nfound\n" << found << "\n"
            << (same ? "PASS: the failure no longer reproduces" : "FAIL {{kind:x-source}}: another result\n{{marker:x-source}}") << std::endl;
  return same ? 0 : 1;
{{/no_exception}}
} catch (const std::exception& error) {
  std::cout << "cannot be tried, another failure: " << error.what() << std::endl;
  return 2;
}
