// The schema's tables (trace/schema) as relations.
#pragma once

#include <memory>

#include "sql/relation.h"
#include "trace/schema/schema.h"

namespace ridge::sql {

// A column of the schema as SQL has it.
RelationColumn described(const schema::Column& column);

std::unique_ptr<Relation> relation_of(const schema::Table& table, const Trace& trace);

}  // namespace ridge::sql
