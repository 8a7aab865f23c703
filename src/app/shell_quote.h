// A command line as text that a shell reads back as the same words.
#pragma once

#include <string>
#include <vector>

#include "base/shell_quote.h"

namespace unmask {

// "unmask audit a.json 'b c.json'". --threads is left out: it never changes a result, and reports
// of the same run must be the same bytes at any number of threads.
std::string quoted_command(const std::vector<std::string>& arguments);

}  // namespace unmask
