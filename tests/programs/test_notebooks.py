"""Programs in which code is written and runs: Notebook, marimo and RStudio."""

import re

from e2e.running import Running
from playwright.sync_api import expect
from program_journeys import SESSION, STARTS_MS, Opened


def test_a_cell_of_the_classic_notebook_runs(carrel: Running, opened: Opened) -> None:
    tree = opened("notebook")
    expect(tree).to_have_url(re.compile(r"^http://notebook-[a-z0-9]+\.localhost:\d+/tree"))
    tree.get_by_text("New", exact=True).click(timeout=STARTS_MS)
    with tree.context.expect_page() as made:
        tree.get_by_role("menuitem", name=re.compile("^Python 3")).click()
    notebook = made.value
    notebook.locator(".jp-Notebook .jp-Cell .cm-content").first.click(timeout=STARTS_MS)
    expect(
        notebook.locator(".jp-NotebookKernelStatus, .jp-Notebook-ExecutionIndicator").first
    ).to_be_visible()
    notebook.keyboard.type("print(6 * 7, 'is the answer')")
    notebook.keyboard.press("Shift+Enter")
    expect(notebook.locator(".jp-OutputArea-output").first).to_have_text(
        re.compile("42 is the answer"), timeout=STARTS_MS
    )


MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    x = 6
    return (x,)

@app.cell
def _(x):
    print(x * 7, "is the answer")
    return
"""


def test_cells_of_marimo_run(carrel: Running, opened: Opened) -> None:
    carrel.shell(SESSION, f"cat > cells.py <<'END'\n{MARIMO}END\n")
    notebook = opened("marimo", file="/home/work/cells.py")
    notebook.locator(".cm-content").first.wait_for(timeout=STARTS_MS)
    notebook.keyboard.press("Control+Shift+R")
    expect(notebook.get_by_text("42 is the answer")).to_be_visible(timeout=STARTS_MS)


def test_rstudio_signs_in_and_evaluates(opened: Opened) -> None:
    rstudio = opened("rstudio")
    rstudio.get_by_label("Console").fill("40+2")
    rstudio.keyboard.press("Enter")
    expect(rstudio.locator("#result")).to_have_text("[1] 42")
