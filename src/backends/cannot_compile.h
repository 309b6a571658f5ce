// A program that a backend has no way to take: neither its failure nor its success.
#pragma once
#include <stdexcept>

namespace repro_minify {

/// Thrown by Backend::compile or what it returns; the check is then Unresolved, and the message says why.
class CannotCompile : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Thrown there where repro-minify itself has gone wrong: it says nothing of the program.
class OwnBug : public CannotCompile {
public:
  using CannotCompile::CannotCompile;
};

} // namespace repro_minify
