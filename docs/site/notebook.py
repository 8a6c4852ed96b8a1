"""The notebook of the documentation: run its cells, and show it as a page.

``python docs/site/notebook.py`` runs `docs/notebook.ipynb` in the checkout and keeps what its cells
show in it; the site shows that, and a test compares it with what the cells show now.
"""

import ast
import base64
import io
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "notebook.ipynb"
PAGE = "notebook.md"


def load() -> dict[str, Any]:
    """The notebook as JSON."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def run(content: dict[str, Any]) -> None:
    """Run the code cells in turn, and put what each shows into it as its output."""
    names: dict[str, Any] = {}
    for count, cell in enumerate(filter(_is_code, content["cells"]), 1):
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), FILE.name, "exec"), names)
        shown = (
            eval(compile(ast.Expression(last.value), FILE.name, "eval"), names) if last else None
        )
        data = {} if shown is None else _shown(shown)
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        cell |= {"execution_count": count, "outputs": [{**result, "data": data}] if data else []}


def as_page(content: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    """The notebook as Markdown, and its pictures by name."""
    parts, pictures = [], {}
    for number, cell in enumerate(content["cells"]):
        text = "".join(cell["source"])
        parts.append(f"```python\n{text}\n```" if _is_code(cell) else text)
        for output in cell.get("outputs", []):
            if png := output["data"].get("image/png"):
                name = f"notebook-{number}.png"
                pictures[name] = base64.b64decode(png)
                parts.append(f"![what the cell above shows]({name})")
            else:
                parts.append("```text\n{}\n```".format("".join(output["data"]["text/plain"])))
    return "\n\n".join(parts) + "\n", pictures


def _shown(value: Any) -> dict[str, str]:
    """The forms of a value that are shown: a picture of a figure, text of all else."""
    if not hasattr(value, "savefig"):
        return {"text/plain": str(value)}
    picture = io.BytesIO()
    value.savefig(picture, format="png", dpi=80)
    return {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": "Figure"}


def _is_code(cell: dict[str, Any]) -> bool:
    return bool(cell["cell_type"] == "code")


if __name__ == "__main__":
    kept = load()
    run(kept)
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
