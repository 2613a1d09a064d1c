// Perfetto's tables, against what its trace processor says of the same trace (v55.3; tests/browser asks it about real ones).
#include "asked.h"
#include "made_sql_trace.h"

namespace ridge::sql {
namespace {

TEST(SqlPerfetto, SlicesNestAndOverlapsAreKept) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(made.rows("select name, ts, dur, depth, overlaps from slice order by ts, dur desc, id"),
            "span|5000|500000|0|false\n"
            "a|10000|100000|0|false\n"
            "parent|10000|80000|0|false\n"
            "b|10000|50000|1|false\n"
            "child|10000|50000|1|false\n"
            "pair|10123|9877|0|false\n"
            "overlap|20000|200000|0|true\n"
            "open|30000|-1|0|false\n"
            "zero|35000|0|2|false\n"
            "of the thread|40000|0|2|false\n"
            "of the process|41000|0|0|false\n"
            "of nobody|42000|0|0|false\n"
            "touch|60000|30000|1|false\n");
  EXPECT_EQ(made.rows("select c.name, p.name from slice c join slice p on c.parent_id = p.id order by c.id"),
            "b|a\nzero|b\nof the thread|b\nchild|parent\ntouch|parent\n");
  EXPECT_EQ(made.rows("select count(*) from slice where category is null"), "2\n");
}

TEST(SqlPerfetto, ThreadsAndProcessesAreJoinedByTracks) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(
      made.rows("select slice.name, process.name, process.pid, thread.name, tid from slice"
                " join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)"
                " where slice.name in ('a', 'span', 'pair', 'of nobody', 'of the process') order by 1"),
      "a|python|1|main|1\npair|python|1|NULL|2\nspan|Spans|NULL|PyTorch|NULL\n");
  EXPECT_EQ(made.rows("select slice.name, track.type, upid is null from slice join track on slice.track_id = track.id"
                      " left join process_track p on p.id = track.id where track.type <> 'thread_execution' order by ts"),
            "of the process|chrome_process_instant|0\nof nobody|legacy_chrome_global_instants|1\n");
}

TEST(SqlPerfetto, ArgumentsAreFlattened) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(made.rows("select flat_key, key, int_value, string_value, real_value, value_type, display_value from args"
                      " join slice using (arg_set_id) where name = 'a' order by args.id"),
            "args.n|args.n|1|NULL|NULL|int|1\n"
            "args.f|args.f|NULL|NULL|1.5|real|1.5\n"
            "args.t|args.t|NULL|x|NULL|string|x\n"
            "args.b|args.b|1|NULL|NULL|bool|true\n"
            "args.o.k|args.o.k[0]|1|NULL|NULL|int|1\n"
            "args.o.k|args.o.k[1]|NULL|2|NULL|string|2\n"
            "args.o.k.q|args.o.k[2].q|NULL|NULL|3.25|real|3.25\n"
            "args.i64|args.i64|9007199254740993|NULL|NULL|int|9007199254740993\n"
            "args.exp|args.exp|NULL|NULL|1000|real|1000.0\n");
  EXPECT_EQ(made.rows("select extract_arg(arg_set_id, 'args.n'), extract_arg(arg_set_id, 'args.o.k[1]'),"
                      " extract_arg(arg_set_id, 'n'), extract_arg(arg_set_id, 'args.o.k'), extract_arg(arg_set_id, 'args.z')"
                      " from slice where name = 'a'"),
            "1|2|NULL|NULL|NULL\n");
  EXPECT_EQ(made.rows("select count(*) from args a join slice s on s.arg_set_id = a.arg_set_id"), "11\n");
  EXPECT_EQ(made.rows("select extract_arg(-1, 'args.n'), extract_arg(1000000, 'args.n'), extract_arg(null, null)"),
            "NULL|NULL|NULL\n");
}

TEST(SqlPerfetto, ArrowsAndCounters) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(
      made.rows("select s.name, e.name, flow.name from flow join slice s on s.id = slice_out join slice e on e.id = slice_in"
                " order by flow.id"),
      "b|pair|ac2g\nb|open|nb\n");
  EXPECT_EQ(made.rows("select t.name, c.ts, c.value, p.pid from counter c join counter_track t on c.track_id = t.id"
                      " join process p using (upid) order by ts, t.name"),
            "mem alloc|10000|5|1\nmem res|10000|7.5|1\nmem alloc|20000|6|1\n");
}

}  // namespace
}  // namespace ridge::sql
