"""Sphinx reads this for the documentation site; docs/site/make_site.py starts it."""
import os
import re

import furo


def dark_colours():
    """Those of furo. Debian's style sheet of furo has them for its switch only, not for browsers that prefer dark."""
    path = os.path.join(os.path.dirname(furo.__file__), "theme", "furo", "static", "styles", "furo.css")
    with open(path, encoding="utf-8") as file:
        block = re.search(r"body\[data-theme=\"?dark\"?\]\s*\{([^}]*)\}", file.read())
    return dict(re.findall(r"--([\w-]+):\s*([^;]+?)\s*(?:;|$)", block.group(1)))


project = "PnetCDF"
author = "the PnetCDF authors"
release = version = os.environ["PNC_VERSION"]
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"PnetCDF {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
# The background of code differs from that of the page; each colour of code contrasts with it.
html_theme_options = {"dark_css_variables": dark_colours(), "light_css_variables": {"color-code-background": "#f6f8fa"}}
pygments_style = "xcode"
pygments_dark_style = "github-dark"
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
highlight_language = "none"
smartquotes = False
