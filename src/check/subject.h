// What is checked, as the backend that checks it takes it.
#pragma once
#include "repro_minify/check.h"

namespace repro_minify {

/// As subject_of(), in parts (see program/parts.h) where the backend allows it.
Subject subject_for(std::shared_ptr<const Program> program, const Backend &backend);

} // namespace repro_minify
