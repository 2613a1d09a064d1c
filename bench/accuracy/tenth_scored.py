"""The half of the tenth set (tenth_programs.py) that is only scored."""
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import in_turns
from tenth_programs import half, options

PAIRS, HEALTHY, COMPILED = half(1)
PROGRAMS = in_turns(PAIRS, HEALTHY)
FORMS = {}
