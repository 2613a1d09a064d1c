# A program that type checkers must refuse, line by line: each `wrong` is an error.
import ridge

t = ridge.open("trace.json.gz")
t.kernels(bye="op")  # wrong
t.kernels(gpu="zero")  # wrong
t.kernles()  # wrong
t.tables.opps  # wrong
t.between(seconds=(1, 2))  # wrong
t.on(0)  # wrong
ridge.open(5)  # wrong
ridge.export(t, "out", format="csv")  # wrong
