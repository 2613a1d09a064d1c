"""A table as a pandas.DataFrame, column by column, without pyarrow. The frame is a copy: whoever has it may write into it."""


def frame_of(pandas, table, schema, categories):
    columns = {column.name: _series(pandas, table.numpy_column(i), column, categories) for i, column in enumerate(schema)}
    return pandas.DataFrame(columns, copy=True)  # the table's own memory is read-only


def _series(pandas, parts, column, categories):
    import numpy

    values, mask, texts = parts
    if column.type == "text":
        return _texts(pandas, numpy, values, mask, texts, categories)
    if column.type == "boolean":
        values = values.view(numpy.bool_)
    if mask is None:
        return values
    arrays = {"integer": pandas.arrays.IntegerArray, "number": pandas.arrays.FloatingArray, "boolean": pandas.arrays.BooleanArray}
    return arrays[column.type](values, mask.view(numpy.bool_))


def _texts(pandas, numpy, codes, mask, texts, categories):
    codes = codes.astype(numpy.int64)
    if mask is not None:
        codes[mask.view(numpy.bool_)] = -1
    if categories:
        return pandas.Categorical.from_codes(codes, categories=pandas.Index(texts, dtype="object"))
    known = numpy.empty(len(texts) + 1, dtype=object)
    known[:-1] = texts
    known[-1] = None  # what -1 points to
    kind = "str" if int(pandas.__version__.split(".")[0]) >= 3 else "object"
    return pandas.array(known[codes], dtype=kind) if kind == "str" else known[codes]
