"""A page of the atlas as its elements and its text, without a browser."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append(" ")

    def handle_endtag(self, tag):
        self.texts.append(" ")

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def page(folder, name: str) -> Page:
    return Page((folder / name).read_text(encoding="utf-8"))
