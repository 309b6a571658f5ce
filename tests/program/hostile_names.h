// Names that a model may have, and that some language, header or text of ours has a use for.
#pragma once
#include <string>
#include <vector>

namespace repro_minify::testing_support {

inline std::vector<std::string> hostile_names() {
  std::vector<std::string> names = {
      // C++
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
      "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
      "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "final", "override", "import", "module", "restrict",
      "typeof", "_Bool", "_Complex", "__int128", "__attribute__", "__FILE__", "__LINE__", "__func__",
      // macros, and types that look like names
      "errno", "assert", "stdin", "stdout", "stderr", "NULL", "EOF", "NAN", "INFINITY", "HUGE_VAL", "M_PI", "M_E",
      "INT_MAX", "INT64_MIN", "SIGALRM", "linux", "unix", "i386", "major", "minor", "makedev", "isnan", "isinf", "I",
      "alloca", "offsetof", "LOG", "CHECK", "VLOG", "TORCH_CHECK", "AT_ERROR", "C10_API", "SYS_read", "L_tmpnam",
      "si_pid", "sa_handler", "st_atime", "int64_t", "size_t", "CUDA_HOST", "B0", "TRUE", "FALSE", "DEBUG", "OVERFLOW",
      "DOMAIN", "log", "exp", "abs", "signal", "time", "index", "read", "write", "exit", "fork", "wait", "alarm",
      // Python
      "None", "True", "False", "as", "async", "await", "def", "del", "elif", "except", "finally", "from", "global",
      "in", "is", "lambda", "nonlocal", "pass", "raise", "with", "yield", "match", "type", "_", "__", "self", "cls",
      "print", "len", "sum", "zip", "range", "isinstance", "super", "list", "dict", "tuple", "str", "set", "math",
      "sys", "Exception", "Path", "here", "config", "subprocess", "leaves", "compile_fx", "Repro", "__init__",
      "__class__", "__dict__", "__call__", "input", "id", "map", "filter", "object", "open", "iter",
      // TorchScript
      "Tensor", "Optional", "List", "Dict", "Tuple", "Union", "Any", "Future", "NoneType", "Device", "number", "ops",
      "torch", "aten", "prim", "annotate", "uninitialized", "unchecked_cast", "unchecked_unwrap_optional", "training",
      "forward", "device", "dtype", "layout", "inf", "nan", "infj", "min", "max", "all", "any", "round", "getattr",
      "hasattr", "CONSTANTS", "CONSTANTS.c0", "__torch__", "fork", "rangelist", "is_scripting", "ord", "hash", "v",
      "_0", "_1", "call_type_as", "call_add_",
      // torch.nn.Module
      "parameters", "buffers", "modules", "children", "train", "eval", "to", "cpu", "cuda", "half", "type", "apply",
      "state_dict", "register_buffer", "register_parameter", "requires_grad_", "zero_grad", "named_parameters",
      "_parameters", "_buffers", "_c", "T_destination", "extra_repr", "share_memory", "get_parameter", "bfloat16",
      // the repro's own
      "main", "program", "inputs", "run", "differs", "flatten", "call", "at", "c10", "std", "expected", "found",
      "fails", "make_module", "make_inputs", "make_inputs_on_cpu", "beside", "reproduced", "graph", "constants", "node",
      "it", "value", "error", "status", "child", "results", "result", "leaf", "loss", "kind", "names", "frozen",
      "runtime", "model", "compiled", "here", "saved", "made_1",
      // no names at all
      "", " ", "1", "12ab", "_x", "_X", "__x", "x__", "a__b", "a.b", "a..b", "a-b", "a b", "\xc3\xa9", "na\xc3\xafve",
      "\xe5\x8f\x98\xe9\x87\x8f", "x\ny", "x\\", "\"", "'", "%", "{}", "\"); abort(); //", "R\"(", ")torchscript\"",
      "<script>", "x\xe2\x80\xae", std::string("a\0b", 3), "x'''", "${x}", "$<x>", "x;y", "#define x"};
  // The same once they are cut, or once more than letters and digits is gone.
  const std::string stem(80, 'a');
  for (const char *end : {"", "b", "_b", "1", "_1", ".1"})
    names.push_back(stem + end);
  names.push_back("first." + stem);
  names.push_back("second." + stem);
  names.push_back("12345678901234567890" + std::string(59, '9'));
  names.push_back(std::string(70, '_'));
  names.push_back(std::string(30, 'x') + "." + std::string(57, '_') + "int");
  names.push_back("new_0");
  names.push_back("new_1");
  names.push_back("new_0_1");
  return names;
}

} // namespace repro_minify::testing_support
