// profile_analysis: takes the flags of torch/_inductor/analysis/profile_analysis.py and prints its tables, with right values in
// them.
#include "program.h"

int main(int argc, char** argv) { return ridge::profile_analysis::run_program({argv + 1, argv + argc}); }
