"""Boards of experiments: TensorBoard, MLflow and NNI."""

from e2e.desk import Desk
from e2e.running import Running
from playwright.sync_api import Locator, expect
from program_journeys import FOLDER, SESSION, STARTS_MS, STARTS_S, Opened

SCALARS = """
import sys
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter(sys.argv[1])
for step in range(8):
    value = Summary.Value(tag=sys.argv[2], simple_value=1 / (step + 1))
    writer.add_event(Event(step=step, wall_time=1.8e9 + step, summary=Summary(value=[value])))
writer.close()
"""


def _started_with(apps: Locator, item: str, folder: str) -> None:
    """Choose an item of TensorBoard's menu, type the log folder in its dialog, and start."""
    page = apps.page
    apps.get_by_role("button", name="More about TensorBoard", exact=True).click()
    page.get_by_role("menuitem", name=item).click()
    dialog = page.get_by_role("dialog").filter(has=page.get_by_label("Log folder"))
    dialog.get_by_label("Log folder").fill(folder)
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(dialog).to_be_hidden(timeout=STARTS_MS)


def _shows_curve(apps: Locator, board: str, tag: str) -> None:
    """The board draws a curve of this tag, and of no other."""
    region = apps.get_by_role("region", name=board, exact=True)
    expect(region).to_contain_text("started", timeout=STARTS_MS)
    with apps.page.context.expect_page() as opened:
        region.get_by_role("button", name="Open in a new tab").click()
    shown = opened.value
    card = shown.locator("scalar-card")
    expect(card).to_have_count(1, timeout=STARTS_MS)
    expect(card).to_contain_text(tag)
    expect(card.locator("line-chart svg path, line-chart canvas").first).to_be_visible()
    shown.close()


def test_two_tensorboards_draw_the_scalars_of_their_own_folders(carrel: Running, desk: Desk) -> None:
    for folder, tag in (("first", "loss"), ("second", "accuracy")):
        done = carrel.carrel(
            "session", "exec", SESSION, "--", "python3", "-c", SCALARS, f"runs/{folder}", tag
        )
        assert done.returncode == 0, done.stderr
    desk.go("/sessions")
    apps = desk.detail(SESSION, "Apps")
    _started_with(apps, "Start with options", "/home/work/runs/first")
    _started_with(apps, "Start another one", "/home/work/runs/second")
    _shows_curve(apps, "TensorBoard", "loss")
    _shows_curve(apps, "TensorBoard 2", "accuracy")


RUN = """
import sys, mlflow
mlflow.set_tracking_uri("http://localhost:5000")
mlflow.set_experiment("digits")
with mlflow.start_run(run_name="first-run"):
    mlflow.log_metric("loss", 0.25)
"""


def test_mlflow_lists_a_run_and_keeps_it_in_the_folder(carrel: Running, opened: Opened) -> None:
    board = opened("mlflow", store=f"/home/work/{FOLDER}")
    done = carrel.carrel("session", "exec", SESSION, "--", "python3", "-c", RUN, timeout=STARTS_S)
    assert done.returncode == 0, done.stderr
    board.goto(board.url.partition("#")[0].rstrip("/") + "/#/experiments/1/runs")
    expect(board.get_by_text("first-run").first).to_be_visible(timeout=STARTS_MS)
    assert "mlflow.db" in carrel.shell(SESSION, f"ls {FOLDER}")


TRIAL = "import nni\np = nni.get_next_parameter()\nnni.report_final_result(1 - (p['x'] - 0.5) ** 2)\n"
EXPERIMENT = """
experimentName: parabola
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
trialCommand: /opt/nni/bin/python trial.py
trialCodeDirectory: /home/work/parabola
trialConcurrency: 1
maxTrialNumber: 2
tuner: {name: Random}
trainingService: {platform: local}
"""


def test_nni_shows_the_trials_of_an_experiment(carrel: Running, opened: Opened) -> None:
    carrel.shell(SESSION, f"mkdir -p parabola; cat > parabola/trial.py <<'END'\n{TRIAL}END\n")
    carrel.shell(SESSION, f"cat > parabola/config.yml <<'END'\n{EXPERIMENT}END\n")
    board = opened("nni", config="/home/work/parabola/config.yml")
    expect(board.get_by_text("parabola").first).to_be_visible(timeout=STARTS_MS)
