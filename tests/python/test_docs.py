"""Runs the Python blocks of README.md and docs/*.md, as docs/design.md describes."""

import re

import pytest
from checkout import root

comment = re.compile(r"<!-- test: (skip|file) ?(.*?) ?-->")


def blocks_of(page):
    """(line, mark, detail, language, code) of each block."""
    mark, detail, lines = None, "", page.read_text().splitlines()
    number = 0
    while number < len(lines):
        if match := comment.fullmatch(lines[number]):
            mark, detail = match.groups()
        elif lines[number].startswith("```"):
            end = lines.index("```", number + 1)
            yield number + 2, mark, detail, lines[number][3:].strip(), "\n".join(lines[number + 1 : end]) + "\n"
            mark, detail, number = None, "", end
        number += 1


def python_blocks(page):
    return [block for block in blocks_of(page) if block[3] == "python" and block[1] is None]


pages = [page for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))] if python_blocks(page)]


@pytest.mark.parametrize("page", pages, ids=lambda page: page.name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, mark, detail, language, code in blocks_of(page):
        if mark == "file":
            path = tmp_path / detail
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        elif mark is None and language == "python":
            # Messages show the page's own line numbers.
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)


def test_readme_has_python():
    assert python_blocks(root / "README.md")
