"""Sphinx reads this for the documentation site; docs/site/make_site.py starts it."""
import os

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
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
highlight_language = "none"
smartquotes = False
