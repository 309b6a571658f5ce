// The torch headers nearly every LibTorch-using file needs, precompiled once (15 s a file otherwise).
#pragma once
#include <torch/script.h>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>
