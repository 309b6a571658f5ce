// The system calls that a confined child may not make: those for sockets, and what goes round the rules on files.
#pragma once

namespace repro_minify {

enum class UnixSockets {
  None,
  WithoutPeers, ///< may be made and bound, as CUDA's driver does, and reach no other program
  All,
};

/// True if this kernel takes filters.
bool has_system_call_filters();
/// The parent's part: the filters are compiled once.
void prepare_system_call_filters();
/// Binds this process for ever, without root: new privileges are given up first. Throws std::system_error.
void filter_system_calls(UnixSockets unix_sockets);

} // namespace repro_minify
