// A small trace with one of everything that the tables tell of: nesting, overlaps, instants, pairs, counters, arrows, texts in
// place of numbers, arguments of every type.
#pragma once

#include <string_view>

namespace ridge::sql {

inline constexpr std::string_view kMadeTrace = R"({"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10,"dur":100,"args":{"n":1,"f":1.5,"t":"x","b":true,"z":null,"e":[],"o":{"k":[1,"2",{"q":3.25}]},"i64":9007199254740993,"exp":1e3}},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":10,"dur":50},
{"ph":"X","cat":"cpu_op","name":"overlap","pid":1,"tid":1,"ts":20,"dur":200},
{"ph":"X","cat":"cpu_op","name":"no duration","pid":1,"tid":1,"ts":30},
{"ph":"X","cat":"cpu_op","name":"zero","pid":1,"tid":1,"ts":35,"dur":0},
{"ph":"i","cat":"c","name":"of the thread","pid":1,"tid":1,"ts":40,"s":"t","args":{"Bytes":5}},
{"ph":"i","name":"of the process","pid":1,"tid":1,"ts":41,"s":"p"},
{"ph":"i","name":"of nobody","pid":1,"tid":1,"ts":42,"s":"g"},
{"ph":"B","cat":"x","name":"pair","pid":1,"tid":2,"ts":10.1234567,"args":{"p":1}},
{"ph":"E","pid":1,"tid":2,"ts":20},
{"ph":"B","cat":"x","name":"open","pid":1,"tid":2,"ts":30},
{"ph":"C","name":"mem","pid":1,"tid":1,"ts":10,"args":{"alloc":5,"res":7.5}},
{"ph":"C","name":"mem","pid":1,"tid":1,"ts":20,"args":{"alloc":6}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":3,"pid":1,"tid":1,"ts":10},
{"ph":"f","cat":"ac2g","name":"ac2g","id":3,"pid":1,"tid":2,"ts":12,"bp":"e"},
{"ph":"s","cat":"nb","name":"nb","id":4,"pid":1,"tid":1,"ts":15},
{"ph":"f","cat":"nb","name":"nb","id":4,"pid":1,"tid":2,"ts":25},
{"ph":"X","cat":"cpu_op","name":"child","pid":1,"tid":3,"ts":10,"dur":50},
{"ph":"X","cat":"cpu_op","name":"parent","pid":1,"tid":3,"ts":10,"dur":80},
{"ph":"X","cat":"cpu_op","name":"touch","pid":1,"tid":3,"ts":60,"dur":30},
{"ph":"X","cat":"Trace","name":"span","pid":"Spans","tid":"PyTorch","ts":5,"dur":500}
]})";

}  // namespace ridge::sql
