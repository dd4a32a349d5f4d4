"""Views of an answer: text, Markdown, HTML, JSON and plots. No logic."""
