// Where a helper process of a backend is met.
#pragma once

#include <stdexcept>
#include <string>

namespace repro_minify {

/// Returns the same as listening_socket(). Throws a UserError that begins with the backend's name on the command line.
int listening_socket_of(const std::string &backend, const std::string &path);

// A program that a backend has no way to take: neither its failure nor its success.

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
