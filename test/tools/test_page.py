"""The page of ncoffsets --html in headless Chromium: search, zoom, the map and the table."""
# needs: python
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import pypi
import tap
import tool

BROWSER = shutil.which("chromium")
WHAT = "pages in a browser"


def make_page():
    """Small variables, one that is half of the file, and records."""
    variables = [(f"small_{i:03}", "float", [1], [], []) for i in range(600)]
    variables += [("tas & <b>", "float", [0, 2], [], []), ("orography", "double", [2], [], []),
                  ("pr", "short", [0, 2], [], [])]
    writer = cdf.Writer(5, [("time", None), ("n", 10), ("cell", 5000)], [], variables, 4)
    writer.write("page.nc")
    result = tool.run("ncoffsets", "--html=page.html", "-O", "page.nc")
    if not tap.ok(result.returncode == 0, "the page is written", result):
        tap.finish()
    begins, recsize, size = writer.layout()
    return {name: begin for (name, *_), begin in zip(variables, begins)}, recsize, size


def names(page):
    return page.locator("#rows tr td:first-child").all_inner_texts()


def view(page):
    """First and last byte of the map."""
    words = page.inner_text("#range").replace(",", "").split()
    return int(words[1]), int(words[3])


def pixel(page, share, y=60):
    """The colour of the map at a share of its width."""
    return page.evaluate("""([share, y]) => { const map = document.getElementById("map"), ratio = map.width /
        map.clientWidth; return [...map.getContext("2d").getImageData(Math.round(share * map.width), y * ratio, 1, 1)
        .data].slice(0, 3); }""", [share, y])


def test_table(page):
    tap.ok(page.title() == "page.nc" and "603 variables" in page.inner_text("#facts") and
           "4 records" in page.inner_text("#facts"), "title and facts", page.inner_text("#facts"))
    tap.ok(len(names(page)) == 500 and "103 more" in page.inner_text("#more"), "500 rows, and how many more there are")
    page.fill("#search", "SHORT cell")
    tap.ok(names(page) == ["pr"] and "1 of 603" in page.inner_text("#more"), "search by type and dimension",
           names(page))
    page.fill("#search", "<b>")
    tap.ok(names(page) == ["tas & <b>"], "a name is text", names(page))
    page.fill("#search", "small_01")
    page.click("th[data-key=name]")
    page.click("th[data-key=name]")
    tap.ok(names(page) == [f"small_01{i}" for i in range(9, -1, -1)], "sorted by name, descending", names(page))
    page.fill("#search", "nothing")
    tap.ok(not names(page) and "0 of 603" in page.inner_text("#more"), "nothing found")
    page.fill("#search", "")


def test_zoom(page, begins, recsize, size):
    tap.ok(view(page) == (0, size), "at first the map has the whole file", view(page))
    page.click("#in")
    page.click("#in")
    first, last = view(page)
    tap.ok(abs((last - first) - size / 4) <= 2 and abs((first + last) - size) <= 2, "zoom in", (first, last))
    page.click("#whole")
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 60)
    page.mouse.wheel(0, -100)
    page.wait_for_function("document.getElementById('range').textContent.indexOf('bytes 0 ') < 0")
    first, last = view(page)
    tap.ok(abs(first + (last - first) * 0.75 - size * 0.75) < size / 200, "the wheel keeps the byte below the pointer",
           (first, last))
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.mouse.up()
    tap.ok(view(page)[0] > first and abs(view(page)[1] - view(page)[0] - (last - first)) <= 2, "dragging moves",
           view(page))
    page.click("#whole")
    page.fill("#search", "orography")
    page.click("#rows tr")
    first, last = view(page)
    tap.ok(first < begins["orography"] and last > begins["orography"] + 40000 and last - first < 100000,
           "a click on a row shows the variable", (first, last))
    under = page.inner_text("#under").replace(",", "")
    tap.ok(f"bytes {begins['orography']} to {begins['orography'] + 40000}" in under, "and its bytes", under)
    page.fill("#search", "")


def test_map(page, begins, recsize, size):
    page.click("#whole")
    share = (begins["tas & <b>"] + 2 * recsize + 10000) / size
    box = page.locator("#map").bounding_box()
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 60)
    tap.ok(page.inner_text("#under").startswith("float tas & <b>("), "a click on the third record of a variable",
           page.inner_text("#under"))
    page.click("#whole")
    middle = (begins["orography"] + 20000) / size
    colour = pixel(page, middle)
    tap.ok(colour == pixel(page, middle + 5000 / size) and colour != pixel(page, share) != [255, 255, 255] and
           pixel(page, middle, 132) == [255, 255, 255], "variables have colours", (colour, pixel(page, share)))
    page.fill("#search", "pr")
    faint = pixel(page, middle)
    tap.ok(all(a > b or a == 255 for a, b in zip(faint, colour)), "what is not found is faint", (colour, faint))


def inside():
    from playwright.sync_api import Error, sync_playwright
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    begins, recsize, size = make_page()
    with sync_playwright() as start:
        try:
            browser = start.chromium.launch(executable_path=BROWSER, timeout=120000,
                                            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        except Error as error:
            tap.skip(WHAT, "chromium does not start: " + str(error).splitlines()[0])
            tap.finish()
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.set_default_timeout(60000)
        errors, requests = [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.extend([message.text] * (message.type == "error")))
        page.on("request", lambda request: requests.append(request.url))
        page.goto("file://" + os.path.abspath("page.html"))
        test_table(page)
        test_zoom(page, begins, recsize, size)
        test_map(page, begins, recsize, size)
        tap.ok(not errors and len(requests) == 1, "no errors, and no other file is loaded", (errors, requests))
        browser.close()
    tap.finish()


if sys.argv[1:] == ["--inside"]:
    inside()
environment = pypi.Environment("python-browser", WHAT)
if BROWSER is None:
    environment.give_up("no chromium (Debian: apt install chromium)")
environment.need("playwright")
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
