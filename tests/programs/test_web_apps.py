"""Pages of one's own, which react over a WebSocket: Streamlit, Gradio and a desktop."""

from e2e.running import Running
from playwright.sync_api import expect
from program_journeys import SESSION, STARTS_MS, Opened

STREAMLIT = """
import streamlit
count = streamlit.slider("Count", 0, 10, 3)
if streamlit.button("Square"):
    streamlit.write(f"square is {count ** 2}")
"""
GRADIO = """
import gradio
name, greeting = gradio.Textbox(label="Name"), gradio.Textbox(label="Greeting")
gradio.Interface(lambda name: f"Hello, {name.upper()}", name, greeting).launch()
"""


def test_streamlit_reacts_to_a_button(carrel: Running, opened: Opened) -> None:
    carrel.shell(SESSION, f"cat > app.py <<'END'\n{STREAMLIT}END\n")
    page = opened("streamlit")
    page.get_by_role("button", name="Square").click(timeout=STARTS_MS)
    expect(page.get_by_text("square is 9")).to_be_visible(timeout=STARTS_MS)


def test_gradio_calls_its_function(carrel: Running, opened: Opened) -> None:
    carrel.shell(SESSION, f"cat > greet.py <<'END'\n{GRADIO}END\n")
    page = opened("gradio", file="/home/work/greet.py")
    page.get_by_label("Name").fill("ada", timeout=STARTS_MS)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_label("Greeting")).to_have_value("Hello, ADA", timeout=STARTS_MS)


def test_a_desktop_shows_what_its_program_draws(opened: Opened) -> None:
    page = opened("desktop", program="xeyes -geometry 400x300+50+50", geometry="800x600")
    page.locator("html.noVNC_connected #noVNC_container canvas").wait_for(timeout=STARTS_MS)
    for x, y in ((60, 60), (700, 500)):
        page.mouse.move(x, y)
        # The eyes follow the pointer: what is drawn arrives, and so does the pointer.
        page.wait_for_function(
            """() => {
                const shown = document.querySelector("#noVNC_container canvas");
                const pixels = shown.getContext("2d").getImageData(0, 0, shown.width, shown.height).data;
                const picture = new Uint32Array(pixels.buffer);
                const change = picture.some((pixel, at) => pixel !== (window.before?.[at] ?? picture[0]));
                window.before = change ? picture : window.before;
                return change;
            }"""
        )
