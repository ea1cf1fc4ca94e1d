"""The picture of the rooms of src, from the table that test/abi/layers.py enforces."""
import ast


def read_table(path):
    """{room: rooms that it may include}."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    values = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id in ("PURE", "PURE_IO", "MAY_SEE", "PURE_ROOMS"):
            code = compile(ast.Expression(node.value), path, "eval")
            values[node.targets[0].id] = eval(code, {"__builtins__": {}, **values}) # constants, lists
    seen = {room: {target.split("/")[0] for target in targets} & set(values["MAY_SEE"])
            for room, targets in values["MAY_SEE"].items()}
    return seen, set(values["PURE_ROOMS"])


def reachable(seen, room, without):
    """The rooms below a room, without its direct arrow to one of them."""
    found, waiting = set(), [below for below in seen[room] if below != without]
    while waiting:
        below = waiting.pop()
        if below not in found:
            found.add(below)
            waiting += seen[below]
    return found


def dot(path):
    """The graph in the language of graphviz: an arrow only where no longer path says the same."""
    seen, pure = read_table(path)
    seen = {room: below - {room} for room, below in seen.items()}
    lines = [f'"{room}" [fillcolor="{"#d5e8d4" if room in pure else "#dae8fc"}"]' for room in sorted(seen)]
    lines += [f'"{room}" -> "{below}"' for room in sorted(seen) for below in sorted(seen[room])
              if below not in reachable(seen, room, below)]
    return 'digraph rooms { rankdir=TB; bgcolor="transparent"; node [shape=box, style="filled,rounded", ' \
        'fontname="sans-serif", fontsize=12]; edge [color="#777777", arrowsize=0.7]\n' + "\n".join(lines) + "\n}\n"
