// A machine that has too little memory for a check.
#pragma once
#include "repro_minify/check.h"

#include <cstdint>

namespace repro_minify {

/// `limit`: what the check could take, three quarters of the machine's free memory, as no other limit was given. Where
/// the model is so large that eager alone takes a third of it, a check that goes past it says nothing of the backend:
/// that has the model too, and what it makes of it.
Verdict unless_memory_is_short(const Verdict &verdict, std::uint64_t limit);

} // namespace repro_minify
