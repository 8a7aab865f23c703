// Runs independent pieces of work on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace unmask {

// 0 means one per processor the process may use. At least 1.
int resolve_threads(int requested);

// Calls work(0) ... work(count - 1), each once, on up to `threads` threads (the caller is one of
// them). Order across threads is unspecified: write results to slots of your own. The first
// exception stops handing out work and is rethrown here.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace unmask
