"""How Sphinx makes the site from the pages that `build.py` puts together."""

from pygments.lexers.special import TextLexer

project = "Grokking Atlas"
html_title = project
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True

# the headings of a page are its link targets, named as on GitHub
myst_heading_anchors = 4

highlight_language = "text"  # of blocks that name none
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
# one of the sans-serif and of the monospaced fonts that a machine has: none is fetched
FONTS = {
    "font-stack": "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif",
    "font-stack--monospace": "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Consolas, monospace",
}
html_theme_options = {
    "light_css_variables": {
        **FONTS,
        "color-brand-primary": "#0b5a8a",
        "color-brand-content": "#0b5a8a",
    },
    "dark_css_variables": {"color-brand-primary": "#7cc4f0", "color-brand-content": "#7cc4f0"},
}

copybutton_prompt_text = "$ "


def setup(app):
    """Show a graph of Mermaid as the text that it is: no script is fetched to draw it."""
    app.add_lexer("mermaid", TextLexer)
