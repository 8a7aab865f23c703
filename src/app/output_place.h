// Whether a result can be written where an option says, asked before the work whose result it is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

// "-" and an empty place will always do. What is found is true now: a folder can still go before
// the end. Makes a file in the place's folder for a moment, which alone tells whether one can be.
//
// Errors   InvalidArgument: `place` is a folder, a symbolic link that leads nowhere, or has too
//          long a name; or its folder is not there, is no folder, may not be written to, or takes
//          no files (/proc).
Result<Done> check_output_file(std::string_view option, const std::string& place);

// The same of a folder, which is made where it is not there.
Result<Done> check_output_folder(std::string_view option, const std::string& place);

}  // namespace unmask
