// A command line as text that a shell reads back as the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// 'it'\''s' where quoting is needed, $'\x1b' where the word holds control characters.
std::string shell_quoted(std::string_view word);

// "unmask audit a.json 'b c.json'". --threads is left out: it never changes a result, and reports
// of the same run must be the same bytes at any number of threads.
std::string quoted_command(const std::vector<std::string>& arguments);

}  // namespace unmask
