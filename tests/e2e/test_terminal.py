"""The terminal in the page."""

import base64
import hashlib
import random
import re
from contextlib import suppress

import pytest
from playwright.sync_api import Page, expect

from e2e.desk import STARTS_MS, Desk, Shell


@pytest.fixture
def shell(desk: Desk, running_session: str) -> Shell:
    return desk.terminal(running_session)


def test_prompt_is_of_an_unprivileged_user_at_home(shell: Shell) -> None:
    shell.expect("work@")
    shell.enter("id -un; pwd")
    shell.expect("/home/work")


def test_colours_are_shown(shell: Shell, page: Page) -> None:
    shell.enter(r"printf '\e[31mr''ed\e[0m \e[38;2;0;90;200mb''lue\e[0m\n'")
    shell.expect("red blue")
    colour = "(node) => getComputedStyle(node).color.match(/\\d+/g).map(Number)"
    red, green, blue = page.locator(".xterm-rows span", has_text=re.compile("^red$")).evaluate(colour)
    assert red > green
    assert red > blue
    red, green, blue = page.locator(".xterm-rows span", has_text=re.compile("^blue$")).evaluate(colour)
    assert blue > red
    assert blue > green


def test_characters_take_the_columns_they_should(shell: Shell) -> None:
    widths = {"한글": 4, "漢字かな": 8, "ｶﾅ": 2, "🚀": 2, "👩‍💻": 2, "e\u0301": 1}
    ask = r"IFS='[;' read -rsdR -p $'\e[6n' _ _ col"
    shell.enter(f'at() {{ printf \'%s\' "$1"; {ask}; echo; echo "$2:$((col - 1)):"; }}; clear')
    found = {
        text: int(shell.answer(f"at '{text}' took{number}", rf"took{number}:(\d+):")[1])
        for number, text in enumerate(widths)
    }
    assert found == widths


_FULLEST_LINE = """async picture => {
  const image = new Image()
  image.src = "data:image/png;base64," + picture
  await image.decode()
  const canvas = new OffscreenCanvas(image.width, image.height)
  const context = canvas.getContext("2d")
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, image.width, image.height)
  const lines = Array.from({ length: image.height }, () => 0)
  for (let at = 0; at < data.length; at += 4)
    if ([0, 1, 2].some((channel) => Math.abs(data[at + channel] - data[channel]) > 60))
      lines[Math.floor(at / 4 / image.width)] += 1
  return Math.max(...lines)
}"""
"""The most pixels of one line of a picture that are not of its background."""


def test_underscores_are_seen_in_every_size(shell: Shell, page: Page) -> None:
    assert page.evaluate("document.fonts.load('14px JetBrains Mono').then((faces) => faces.length)")
    # The cursor is hidden, and the row below is coloured: it must not cover the underscores.
    shell.enter(r"clear; printf '\e[?25l\n________\n\e[41m        \e[0m\nall''here'")
    shell.expect("allhere")
    row = page.locator(".xterm-rows > div").nth(1)
    expect(row).to_contain_text("________")
    for _ in range(7):
        width = row.locator("span").first.evaluate("(span) => span.getBoundingClientRect().width")
        picture = base64.b64encode(row.screenshot()).decode()
        # Between two of them there may be a gap.
        assert page.evaluate(_FULLEST_LINE, picture) >= 0.6 * width
        page.get_by_role("button", name="Decrease font size").click()
    shell.enter(r"printf '\e[?25h'")


def test_wide_characters_can_be_typed(shell: Shell) -> None:
    shell.enter("echo '안녕 こんにちは 🚀' | wc -c")
    shell.expect("28")


def test_shell_follows_the_window(shell: Shell, page: Page) -> None:
    before = shell.answer("echo size:$(stty size):", r"size:(\d+) (\d+):")
    page.set_viewport_size({"width": 900, "height": 500})
    shell.enter("clear")
    shown = page.locator(".xterm-rows > div")
    expect(shown).not_to_have_count(int(before[1]))
    after = shell.answer("echo small:$(stty size):", r"small:(\d+) (\d+):")
    assert int(after[1]) == shown.count()
    assert int(after[2]) < int(before[2])
    # A line as long as the shell believes the window is wide fills one row.
    shell.enter("clear; printf '%*s' $(tput cols) '' | tr ' ' x; echo")
    expect(page.locator(".xterm-rows > div", has_text=re.compile("^x+$"))).to_have_count(1)
    expect(page.locator(".xterm-rows")).to_contain_text("x" * int(after[2]))


def test_paste_of_a_megabyte_arrives_whole(shell: Shell, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    random.seed(7)
    line = "".join(random.choices("abcdefghijklmnopqrstuvwxyz가나다", k=80))
    text = "".join(f"{number:06} {line}\n" for number in range(10_400))
    assert len(text.encode()) > 1_000_000
    shell.enter("stty -echo; echo rea''dy; cat > pasted; stty echo; echo do''ne")
    shell.expect("ready")
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    # A fast machine shows it for less time than lies between two looks.
    page.evaluate("""() => new MutationObserver(() => {
        window.saidPasting ||= document.body.textContent.includes("Pasting:")
    }).observe(document.body, { subtree: true, childList: true, characterData: true })""")
    page.keyboard.press("Control+Shift+V")
    page.wait_for_function("window.saidPasting")
    # Ctrl+D queues behind the paste.
    page.keyboard.press("Control+D")
    shell.expect("done", timeout=60_000)
    shell.enter("clear; sha256sum pasted")
    shell.expect(hashlib.sha256(text.encode()).hexdigest())


def test_shell_outlives_a_network_break(shell: Shell, desk: Desk, running_session: str) -> None:
    shell.enter("precious=kept; rm -f half; clear")
    shell.enter(
        "for i in {100..299}; do printf '%s ' $i; [ $i = 200 ] && touch half; sleep .02; done; echo e''nd"
    )
    shell.expect("120 ")
    desk.page.context.set_offline(True)
    expect(desk.page.get_by_text("Connection lost.")).to_be_visible()
    # The shell goes on while nobody is connected.
    desk.carrel.shell(running_session, "until test -e half; do sleep .05; done")
    desk.page.context.set_offline(False)
    shell.expect("end", timeout=STARTS_MS)
    numbers = re.findall(r"\b\d{3}\b", shell.text().split("echo e''nd")[-1].split("end")[0])
    assert numbers == [str(number) for number in range(100, 300)]
    shell.enter("echo still:$precious")
    shell.expect("still:kept")


def test_exit_ends_with_a_notice_and_a_way_back(shell: Shell, page: Page) -> None:
    shell.enter("exit 3")
    expect(page.get_by_role("status").filter(has_text="code 3")).to_be_visible()
    page.get_by_role("button", name="Open a new shell").click()
    shell.expect_open()


def test_end_of_the_session_is_told_in_its_terminal(desk: Desk, own_session: str) -> None:
    desk.terminal(own_session)
    desk.carrel.carrel("session", "rm", "--yes", own_session, "--force")
    expect(desk.page.get_by_text("The session has ended.")).to_be_visible(timeout=STARTS_MS)


def test_keyboard_can_leave_the_terminal(shell: Shell, page: Page) -> None:
    page.keyboard.press("Control+Shift+X")
    expect(page.locator("[data-terminal-bar] :focus")).to_have_count(1)


def test_several_shells_in_tabs_and_side_by_side(desk: Desk, own_session: str) -> None:
    page, shell = desk.page, desk.terminal(own_session)
    bar = page.locator("[data-terminal-bar]")
    shell.enter("mark=first; clear")
    bar.get_by_role("button", name="New shell", exact=True).click()
    tabs = page.get_by_role("tablist", name="Shells").get_by_role("tab")
    expect(tabs).to_have_text(["Shell 1", "Shell 2"])
    second = page.get_by_role("tabpanel", name="Shell 2")
    expect(second.locator(".xterm-rows")).to_contain_text("$", timeout=STARTS_MS)
    page.keyboard.type("mark=second; echo pid=$$.")
    page.keyboard.press("Enter")
    expect(second.locator(".xterm-rows")).to_contain_text(re.compile(r"pid=\d+\."))
    pid = re.search(r"pid=(\d+)\.", second.inner_text())
    assert pid
    bar.get_by_role("button", name="Side by side").click()
    first = page.get_by_role("tabpanel", name="Shell 1")
    expect(first).to_be_visible()
    expect(second).to_be_visible()
    page.keyboard.press("Control+Shift+ArrowLeft")
    page.keyboard.type("echo $mark''here")
    page.keyboard.press("Enter")
    expect(first.locator(".xterm-rows")).to_contain_text("firsthere")
    # A reload finds both, with what they printed.
    page.reload()
    expect(first.locator(".xterm-rows")).to_contain_text("firsthere", timeout=STARTS_MS)
    expect(second.locator(".xterm-rows")).to_contain_text("pid=", timeout=STARTS_MS)
    tabs.nth(1).click()
    bar.get_by_role("button", name="Close shell 2").click()
    expect(page.get_by_role("tablist", name="Shells")).to_have_count(0)
    expect(first).to_be_visible()
    desk.carrel.shell(own_session, f"while kill -0 {pid[1]}; do sleep .05; done 2>/dev/null")


def test_tools_fit_a_phone(shell: Shell, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    bar = page.locator("[data-terminal-bar]")
    bar.get_by_role("button", name="New shell", exact=True).click()
    expect(page.get_by_role("tab", name="Shell 2")).to_be_in_viewport(ratio=1)
    for tool in ("Close shell 2", "Search the output", "Increase font size", "Full screen"):
        expect(bar.get_by_role("button", name=tool)).to_be_in_viewport(ratio=1)


def test_output_is_searched_and_the_screen_filled(shell: Shell, page: Page) -> None:
    shell.enter("clear; for i in $(seq 300); do echo line$i.; done; echo do''ne")
    shell.expect("done")
    page.keyboard.press("Control+Shift+F")
    field = page.get_by_role("textbox", name="Search the output")
    expect(field).to_be_focused()
    field.fill("line7.")
    expect(page.get_by_role("search")).to_contain_text("1 of 1")
    for _ in range(20):
        with suppress(AssertionError):
            shell.expect("line7.", timeout=1_500)
            break
        # A busy browser may lose the first scroll; the same match again scrolls again.
        field.press("Enter")
    shell.expect("line7.")
    field.fill("nosuchline")
    expect(page.get_by_role("search")).to_contain_text("No matches")
    field.press("Escape")
    expect(field).to_have_count(0)
    shell.enter("echo again''typed")
    shell.expect("againtyped")
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.get_by_role("button", name="Leave full screen").click()
    page.wait_for_function("() => document.fullscreenElement === null")
