// The functions by which SQLite asks a table; no exception leaves them.
#include "sql/virtual_table.h"

#include <memory>
#include <new>
#include <utility>

#include <sqlite3.h>

#include "sql/cursor.h"
#include "sql/plan.h"

namespace ridge::sql {
namespace {

struct OfferedTable {
  Tables& tables;
  std::size_t index;
};

struct VirtualTable : sqlite3_vtab {
  VirtualTable(const Tables& of, const Relation& relation) : sqlite3_vtab{}, tables(of), asked(relation) {}
  const Tables& tables;
  AskedRelation asked;
};

struct VirtualCursor : sqlite3_vtab_cursor {
  explicit VirtualCursor(VirtualTable& table) : sqlite3_vtab_cursor{}, cursor(table.asked) {}
  Cursor cursor;
};

VirtualTable& table_of(sqlite3_vtab* table) { return *static_cast<VirtualTable*>(table); }
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return static_cast<VirtualCursor*>(cursor)->cursor; }

// What may run out of memory, or be asked to stop.
template <class Work>
int guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const Stopped&) {
    return SQLITE_INTERRUPT;
  }
}

std::string declaration(const Relation& relation) {
  std::string text = "CREATE TABLE t(";
  for (const RelationColumn& column : relation.columns()) {
    if (text.back() != '(') text += ", ";
    text += '"';
    for (const char c : column.name) text.append(c == '"' ? 2 : 1, c);
    text += column.type == Type::text ? "\" TEXT" : column.type == Type::number ? "\" REAL" : "\" INTEGER";
  }
  return text + ")";
}

int connect(sqlite3* connection, void* offered, int, const char* const*, sqlite3_vtab** made, char** error) {
  return guarded([&] {
    auto& table = *static_cast<OfferedTable*>(offered);
    const auto relation = table.tables.relation(table.index);
    if (!relation) {
      *error = sqlite3_mprintf("%s", relation.error().message.c_str());
      return SQLITE_ERROR;
    }
    const std::string columns = declaration(**relation);
    table.tables.set_declaring(true);
    const int code = sqlite3_declare_vtab(connection, columns.c_str());
    table.tables.set_declaring(false);
    if (code != SQLITE_OK) {
      *error = sqlite3_mprintf("%s", sqlite3_errmsg(connection));
      return code;
    }
    *made = new VirtualTable(table.tables, **relation);
    return SQLITE_OK;
  });
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  return guarded([&] {
    const Plan plan = choose_plan(table_of(table).asked.relation(), info);
    info->idxStr = sqlite3_mprintf("%s", plan.text().c_str());
    info->needToFreeIdxStr = 1;
    return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  });
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  return guarded([&] {
    *made = new VirtualCursor(table_of(table));
    return SQLITE_OK;
  });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<VirtualCursor*>(cursor);
  return SQLITE_OK;
}

Constant constant_of(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return sqlite3_value_int64(value);
    case SQLITE_FLOAT: return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return text == nullptr ? Constant() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    }
    default: return {};
  }
}

int filter(sqlite3_vtab_cursor* base, int, const char* text, int, sqlite3_value** values) {
  return guarded([&] {
    if (table_of(base->pVtab).tables.is_late()) return SQLITE_INTERRUPT;
    Cursor& cursor = cursor_of(base);
    const Relation& relation = table_of(base->pVtab).asked.relation();
    const Plan plan = Plan::read(text);
    std::vector<Condition> conditions;
    for (std::size_t i = 0; i < plan.asked.size(); ++i) {
      const Asked& asked = plan.asked[i];
      auto condition = Condition::make(relation.columns()[asked.column], asked.column, asked.op, constant_of(values[i]));
      if (condition) conditions.push_back(std::move(*condition));
    }
    cursor.start(plan, std::move(conditions));
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  return guarded([&] {
    cursor_of(cursor).next();
    return SQLITE_OK;
  });
}

int at_end(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).at_end(); }

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
  *row = cursor_of(cursor).row();
  return SQLITE_OK;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int index) {
  return guarded([&] {
    const CellValue cell = cursor_of(cursor).value(static_cast<std::size_t>(index));
    if (!cell.known) return SQLITE_OK;  // null is what stands there
    switch (cell.type) {
      case Type::text:  // it belongs to the relation, which outlives the query
        sqlite3_result_text64(out, cell.text.data() == nullptr ? "" : cell.text.data(), cell.text.size(), SQLITE_STATIC,
                              SQLITE_UTF8);
        break;
      case Type::number: sqlite3_result_double(out, cell.number); break;
      default: sqlite3_result_int64(out, cell.integer); break;
    }
    return SQLITE_OK;
  });
}

const sqlite3_module& module() {
  static const sqlite3_module kModule = [] {
    sqlite3_module made{};
    made.xConnect = connect;  // no xCreate: such a table is there without being made
    made.xBestIndex = best_index;
    made.xDisconnect = disconnect;
    made.xOpen = open_cursor;
    made.xClose = close_cursor;
    made.xFilter = filter;
    made.xNext = next;
    made.xEof = at_end;
    made.xColumn = column;
    made.xRowid = row_id;
    return made;
  }();
  return kModule;
}

}  // namespace

bool offer_tables(sqlite3* connection, Tables& tables) {
  const auto forget = [](void* offered) { delete static_cast<OfferedTable*>(offered); };
  for (std::size_t i = 0; i < tables.count(); ++i) {
    auto offered = std::make_unique<OfferedTable>(tables, i);
    if (sqlite3_create_module_v2(connection, tables.name(i).c_str(), &module(), offered.release(), forget) != SQLITE_OK)
      return false;
  }
  return true;
}

}  // namespace ridge::sql
