// Site: everything that can be asked for, as a table of paths: the analyses of the catalog, the timeline's doors, the files of
// the page. A target goes in, an Answer comes out; HTTP itself is not known here, and `ridge report` asks the same Site.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <ridge/engine.h>

#include "answer.h"
#include "answer_cache.h"
#include "query.h"
#include "shelf.h"

namespace ridge::server {

inline constexpr std::string_view kApi = "/api/v1/";

// What was made elsewhere and is shown beside the analyses; null: nothing.
struct ShownBeside {
  std::shared_ptr<const Report> bench = nullptr;     // what `ridge bench` measured of the kernels
  std::shared_ptr<const Report> job_diff = nullptr;  // what changed since another recording of the job,
  std::string before = {};                           // which is called this
};

class Site {
 public:
  // `shelf`: an engine, which must outlive it, or a job. `defaults` are arguments of the command line that hold for every
  // analysis which knows them. `tells_paths`: where the traces lie on this machine; else answers have their names alone.
  Site(Shelf shelf, Arguments defaults, bool tells_paths = true, ShownBeside beside = {});

  // Texts of more than `longest_text` bytes are shortened, see append_json_string(); 0: none.
  Answer get(const Target& target, std::size_t longest_text = 0) const;

  // Whether get() would run an analysis. Those take the memory that answers are made of: who asks for many lets few run at
  // once.
  bool takes_long(const Target& target) const;

  // Makes what the first page shows, so that it is there when asked for.
  void prepare() const;

  const Shelf& shelf() const { return shelf_; }
  const Arguments& defaults() const { return defaults_; }
  bool tells_paths() const { return tells_paths_; }
  const ShownBeside& beside() const { return beside_; }

 private:
  Answer analysis(std::string_view name, const Target& target, std::size_t longest_text) const;
  Result<Answer> run_analysis(const AnalysisInfo& info, const Target& target, std::size_t longest_text) const;

  const Shelf shelf_;
  const Arguments defaults_;
  const bool tells_paths_;
  const ShownBeside beside_;
  mutable AnswerCache cache_;
};

// The status and body that an error of the engine gives.
Answer refusal(const Error& error);

}  // namespace ridge::server
