"""The whole story in a real browser: on a phone, without scripts, by keyboard alone, checked by axe."""

import re
import shutil

import pytest
from live import Live
from places import open_place

from discreet.server.accounts import credentials

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium"),
]
PASSWORD = "correct horse battery"  # noqa: S105
PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True}
METADATA = """
title = "A trial"
people = 2000
review = true

[columns.treated]
type = "answers"
levels = [0, 1]

[columns.diet]
bounds = [0, 1]
"""


@pytest.fixture(scope="module")
def chromium():
    """Start a browser."""
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def live(tmp_path_factory, sqlite_home):
    """Run a server with one worker for questions and one for trials."""
    home = tmp_path_factory.mktemp("live") / "home"
    shutil.copytree(sqlite_home, home)
    place = open_place(home)
    with Live(place) as running:
        yield running
    place.store.close()


def link(live, name):
    """Return a one-time link for an account."""
    with live.place.store.writing() as db:
        return f"{live.url}/invite/{credentials.invite(db, 'test', name)}"


def choose_password(page, address):
    """Come in by a one-time link."""
    page.goto(address)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Data sets"


def check(page):
    """No violation that axe knows of, nothing wider than the screen, no script on the page."""
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert page.locator("script").count() == 0


def test_the_whole_story_on_a_phone(live, chromium, cohort):
    """Log in, register, give a share; plan, see the cost, ask; approve; read; and nothing is left."""
    custodian = chromium.new_context(**PHONE, bypass_csp=True).new_page()
    choose_password(custodian, link(live, "custodian"))
    check(custodian)
    custodian.get_by_role("link", name="Register", exact=True).click()
    custodian.get_by_label("Name").fill("trial")
    custodian.get_by_label("File or folder on this machine").fill(str(cohort))
    custodian.get_by_label("Total epsilon").fill("1")
    custodian.get_by_label("What is public (TOML)").fill(METADATA)
    custodian.get_by_label("A second total for data that are registered already").check()
    check(custodian)
    custodian.get_by_role("button", name="Register").click()
    custodian.get_by_label("For whom").fill("analyst:ana")
    custodian.get_by_label("epsilon", exact=True).fill("1")
    custodian.get_by_role("button", name="Give the share").click()
    check(custodian)
    ana = chromium.new_context(**PHONE, bypass_csp=True).new_page()
    choose_password(ana, link(live, "ana"))
    ana.get_by_role("link", name="trial").click()
    check(ana)
    for button, kind, found in (
        ("Plan: what would be found", "A plan", "people"),
        ("Try on invented data", "A trial on invented data", "every difference below is chance"),
    ):
        ana.get_by_label("Groups, by column").select_option("treated")
        ana.get_by_label("epsilon", exact=True).fill("0.9")
        ana.get_by_role("button", name=button).click()
        assert ana.get_by_role("heading", level=1).inner_text().startswith(kind)
        ana.wait_for_function("document.body.innerText.includes('State: answered')", timeout=60_000)
        assert found in ana.get_by_role("main").inner_text()
        check(ana)
        ana.get_by_role("link", name="trial", exact=True).click()
        assert "epsilon 0 of 1 spent" in ana.get_by_role("main").inner_text()  # both cost nothing
    ana.get_by_label("Groups, by column").select_option("treated")
    ana.get_by_label("epsilon", exact=True).fill("0.9")
    ana.get_by_role("button", name="Ask: show the cost first").click()
    assert "about 1 release like this one" in ana.content()
    check(ana)
    ana.get_by_role("button", name="Ask and pay").click()
    assert "State: working" in ana.get_by_role("main").inner_text()
    ana.wait_for_function("document.body.innerText.includes('awaiting approval')", timeout=60_000)
    custodian.goto(live.url)
    custodian.get_by_role("button", name="Approve").click()
    ana.reload()
    assert "State: answered" in ana.get_by_role("main").inner_text()
    assert "about 0 more releases like this one" in ana.get_by_role("main").inner_text()
    check(ana)
    ana.get_by_role("link", name="The report").click()
    assert "trial, metadata version 1" in ana.content()
    ana.goto(f"{live.url}/datasets/trial")
    ana.get_by_label("Groups, by column").select_option("treated")
    ana.get_by_role("button", name="Ask: show the cost first").click()
    assert "The budget does not allow it" in ana.content()
    for path in ("/custody/accounts", "/audit", "/tokens", "/api", "/custody/datasets/trial"):
        custodian.goto(live.url + path)
        check(custodian)
    ana.context.close()
    custodian.context.close()


def test_passwords_open_the_door_and_are_changed(live, chromium):
    """Log out; a wrong password is refused in words, the right one opens; then a new one takes its place."""
    page = chromium.new_context(**PHONE, bypass_csp=True).new_page()
    choose_password(page, link(live, "ana"))

    def log_in(password):
        page.get_by_label("Name").fill("ana")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()

    page.get_by_role("button", name="Log out ana").click()
    check(page)
    log_in("not this one")
    assert "do not match" in page.get_by_role("alert").inner_text()
    check(page)
    log_in(PASSWORD)
    page.get_by_role("link", name="Password").click()
    check(page)
    new = "another long password"
    for old, told in (("not this one", True), (PASSWORD, False)):
        page.get_by_label("The one you have").fill(old)
        page.get_by_label("The new one", exact=True).fill(new)
        page.get_by_label("The new one again").fill(new)
        page.get_by_role("button", name="Change it").click()
        assert bool(page.get_by_role("alert").count()) == told
        check(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Data sets"
    page.get_by_role("button", name="Log out ana").click()
    log_in(new)
    assert page.get_by_role("heading", level=1).inner_text() == "Data sets"
    page.context.close()


def test_without_scripts_and_by_keyboard_alone(live, chromium):
    """Log in, ask and read with Tab, letters and Enter, in a browser that runs no script."""
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(link(live, "ana"))

    def reach(name, most=40):
        """Press Tab until something with this name has the focus."""
        for _ in range(most):
            page.keyboard.press("Tab")
            focused = page.locator(":focus")
            if focused.count() and name in (focused.get_attribute("id"), focused.inner_text().strip()):
                return
        raise AssertionError(f"{name} cannot be reached by keyboard")

    for name in ("password", "again"):
        reach(name)
        page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live.url}/")
    reach("cohort")
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/cohort")
    reach("group")
    page.keyboard.type("treated")
    reach("epsilon")
    page.keyboard.type("0.5")
    reach("Ask: show the cost first")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Ask and pay")
    reach("Ask and pay")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*")
    page.wait_for_selector("text=State: answered", timeout=60_000)  # the page looks again by itself
    assert re.search(r"among \d+ hypotheses", page.content())
    page.context.close()


def test_the_policy_stops_a_script(live, chromium):
    """Even where one could be smuggled into a page, the browser refuses to run it."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{live.url}/login")
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; "
        "document.body.append(s); }"
    )
    assert page.evaluate("window.ran") is None
    context.close()
